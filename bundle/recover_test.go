package bundle

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"github.com/cairnml/cairn/internal/testkit/faultfs"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/vfs"
)

// replace writes a bundle of two tensors, each in a separate data file if there
// are two.
func replace(dir vfs.Dir, shards int, value float32) error {
	ctx := context.Background()
	w, err := NewWriter(dir, "run/ckpt", nil)
	if err != nil {
		return err
	}
	defer w.Abort()
	for i, name := range []string{"a", "b"} {
		if i > 0 && shards > 1 {
			err = w.NextShard()
		}
		if err == nil {
			err = w.Add(ctx, name, tensor.Vector(value, value+float32(i)))
		}
		if err != nil {
			return err
		}
	}
	return w.Finish(ctx)
}

// contentsOf returns the values of a sound bundle.
func contentsOf(dir vfs.Dir) (string, error) {
	ctx := context.Background()
	if err := soundness(ctx, dir, "run/ckpt"); err != nil {
		return "", err
	}
	r, err := Open(ctx, dir, "run/ckpt", nil)
	if err != nil {
		return "", err
	}
	text := ""
	for _, name := range r.Names() {
		x, err := r.Read(ctx, name)
		if err != nil {
			return "", err
		}
		text += fmt.Sprint(name, tensor.Values[float32](x))
	}
	return text, r.Close()
}

// replacements are writes over another bundle: how the disk is before, and the write.
var replacements = map[string]struct {
	before, write func(dir vfs.Dir) error
}{
	"one data file":         {func(dir vfs.Dir) error { return replace(dir, 1, 1) }, func(dir vfs.Dir) error { return replace(dir, 1, 5) }},
	"two data files":        {func(dir vfs.Dir) error { return replace(dir, 2, 1) }, func(dir vfs.Dir) error { return replace(dir, 2, 5) }},
	"a merge":               {beforeMerge, func(dir vfs.Dir) error { return mergeOver(dir, true) }},
	"a merge that consumes": {beforeMerge, func(dir vfs.Dir) error { return mergeOver(dir, false) }},
}

func beforeMerge(dir vfs.Dir) error {
	ctx := context.Background()
	for _, name := range []string{"c", "d"} {
		w, err := NewWriter(dir, "run/"+name, nil)
		if err != nil {
			return err
		}
		defer w.Abort()
		if err := errors.Join(w.Add(ctx, name, tensor.Vector[float32](7, 8)), w.Finish(ctx)); err != nil {
			return err
		}
	}
	return replace(dir, 2, 1)
}

func mergeOver(dir vfs.Dir, keep bool) error {
	return Merge(context.Background(), dir, "run/ckpt", []string{"run/c", "run/d"}, &MergeOptions{KeepSources: keep})
}

// TestACrashAmidAReplacementIsFinished stops a write over another bundle at each
// operation, lets the disk lose data that it may lose, and expects the complete old
// or new bundle, as it is or after Recover. If it is the old one, the sources of the
// merge are complete, too.
func TestACrashAmidAReplacementIsFinished(t *testing.T) {
	ctx := context.Background()
	for name, c := range replacements {
		base := faultfs.New()
		if err := c.before(base); err != nil {
			t.Fatal(err)
		}
		old, err := contentsOf(base)
		if err != nil {
			t.Fatal(err)
		}
		whole := base.AfterCrash(faultfs.LoseNone, 0)
		whole.Hook(func(faultfs.Op) error { return nil })
		if err := c.write(whole); err != nil {
			t.Fatal(err)
		}
		ops := whole.Ops()
		checkNameOrder(t, ops)
		whole.Hook(nil)
		now, err := contentsOf(whole)
		if err != nil {
			t.Fatal(err)
		}
		finished := 0
		for _, op := range ops {
			for _, loss := range []faultfs.Loss{faultfs.LoseAll, faultfs.LoseBytes, faultfs.LoseNames, faultfs.LoseNone, faultfs.LoseSome} {
				for seed := range uint64(6) {
					if seed > 0 && loss != faultfs.LoseSome {
						break
					}
					disk := base.AfterCrash(faultfs.LoseNone, 0)
					disk.FailFrom(op.N, faultfs.ErrFault)
					if err := c.write(disk); err == nil && op.Kind != faultfs.Remove {
						t.Fatalf("%v fails without an error", op)
					}
					disk = disk.AfterCrash(loss, seed)
					got, broken := contentsOf(disk)
					if can, err := Recoverable(ctx, disk, "run/ckpt"); broken != nil && !can || err != nil {
						t.Errorf("%s, %v, loss %v: the bundle is %v, and Recoverable says %v, %v", name, op, loss, broken, can, err)
					}
					recovered, err := Recover(ctx, disk, "run/ckpt")
					if err != nil || recovered != (broken != nil) {
						t.Errorf("%s, %v, loss %v: recovered %v, %v; the bundle was %v; the disk holds %q", name, op, loss, recovered, err, broken, disk.Names())
						continue
					}
					if recovered {
						finished++
						disk = disk.AfterCrash(faultfs.LoseAll, 0) // it is durable
						if got, err = contentsOf(disk); got != now {
							t.Errorf("%s, %v, loss %v: recovered to %q, %v", name, op, loss, got, err)
						}
					}
					if got != old && got != now {
						t.Errorf("%s, %v, loss %v: %q", name, op, loss, got)
					}
					if got != old || !strings.HasPrefix(name, "a merge") {
						continue
					}
					for _, source := range []string{"run/c", "run/d"} {
						if err := soundness(ctx, disk, source); err != nil {
							t.Errorf("%s, %v, loss %v: the old bundle is there and of the sources %s is lost: %v", name, op, loss, source, err)
						}
					}
				}
			}
		}
		if finished == 0 {
			t.Errorf("%s: no crash left anything to finish", name)
		}
	}
}

// TestRecoverLeavesTheRestAlone checks that a damaged bundle is unchanged,
// whatever temporary files are in its directory, and so is a missing one.
func TestRecoverLeavesTheRestAlone(t *testing.T) {
	ctx := context.Background()
	dir := faultfs.New()
	if err := replace(dir, 1, 1); err != nil {
		t.Fatal(err)
	}
	index := dir.Bytes("run/ckpt.index")
	dir.Damage("run/ckpt.data-00000-of-00001", 0, 1)
	dir.Put("run/ckpt.index.tempstate17", index) // of the damaged data
	dir.Put("run/ckpt.index.tempstate18", index[:20])
	dir.Put("run/ckpt.index.tempstate", index)
	dir.Put("run/ckpt.indexes.tempstate19", index)
	dir.Put("run/ckpt.index.tempstate00000000000000000020/x", nil) // a directory
	before := fmt.Sprint(dir.Names())
	var corrupt *CorruptError
	if ok, err := Recover(ctx, dir, "run/ckpt"); ok || !errors.As(err, &corrupt) {
		t.Errorf("damaged: %v, %v", ok, err)
	}
	if after := fmt.Sprint(dir.Names()); after != before {
		t.Errorf("the disk holds %s, before %s", after, before)
	}
	if can, err := Recoverable(ctx, dir, "run/ckpt"); can || err != nil {
		t.Errorf("Recoverable: %v, %v", can, err)
	}
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	if can, err := Recoverable(cancelled, dir, "run/ckpt"); can || !errors.Is(err, context.Canceled) {
		t.Errorf("Recoverable, cancelled: %v, %v", can, err)
	}
	if ok, err := Recover(ctx, dir, "run/other"); ok || err == nil {
		t.Errorf("nothing there: %v, %v", ok, err)
	}
	if ok, err := Recover(ctx, dir, "../x"); ok || err == nil {
		t.Errorf("outside: %v, %v", ok, err)
	}
	if ok, err := Recoverable(ctx, dir, "../x"); ok || err == nil {
		t.Errorf("outside: %v, %v", ok, err)
	}
	stopped, cancel := context.WithCancel(ctx)
	cancel()
	if ok, err := Recover(stopped, dir, "run/ckpt"); ok || !errors.Is(err, context.Canceled) || strings.Contains(err.Error(), "beside") {
		t.Errorf("cancelled: %v, %v", ok, err)
	}
}

// TestAFailedReplacementIsTakenBackForGood checks that a replacement undone after
// an error stays undone if the machine crashes right after it.
func TestAFailedReplacementIsTakenBackForGood(t *testing.T) {
	base := faultfs.New()
	if err := replace(base, 2, 1); err != nil {
		t.Fatal(err)
	}
	old, err := contentsOf(base)
	if err != nil {
		t.Fatal(err)
	}
	whole := base.AfterCrash(faultfs.LoseNone, 0)
	whole.Hook(func(faultfs.Op) error { return nil })
	if err := replace(whole, 2, 5); err != nil {
		t.Fatal(err)
	}
	ops := whole.Ops()
	whole.Hook(nil)
	for _, op := range ops {
		disk := base.AfterCrash(faultfs.LoseNone, 0)
		disk.FailAt(op.N, faultfs.ErrFault)
		if err := replace(disk, 2, 5); err == nil {
			continue // the file moved aside couldn't be removed
		}
		disk.Hook(nil)
		disk = disk.AfterCrash(faultfs.LoseAll, 0)
		if got, err := contentsOf(disk); got != old {
			t.Errorf("%v: after the crash %q, %v; the disk holds %q", op, got, err, disk.Names())
		}
	}
}

// TestAMergeOverAnotherBundleLeavesNoTemporaries checks that the replaced
// bundle is removed.
func TestAMergeOverAnotherBundleLeavesNoTemporaries(t *testing.T) {
	ctx := context.Background()
	dir := faultfs.New()
	if err := replace(dir, 1, 1); err != nil {
		t.Fatal(err)
	}
	w, err := NewWriter(dir, "run/part", nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.Add(ctx, "c", tensor.Scalar[float32](7)), w.Finish(ctx)); err != nil {
		t.Fatal(err)
	}
	if err := Merge(ctx, dir, "run/ckpt", []string{"run/part"}, nil); err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(dir.Names()); got != "[run/ckpt.data-00000-of-00001 run/ckpt.index]" {
		t.Errorf("the disk holds %s", got)
	}
	if got, err := contentsOf(dir); got != "c[7]" {
		t.Errorf("%q, %v", got, err)
	}
}

// TestAMergeReportsWhatFailsAtItsEnd: sources that stay, a name that may not last,
// and a context that has ended.
func TestAMergeReportsWhatFailsAtItsEnd(t *testing.T) {
	for what, fails := range map[string]func(op faultfs.Op, named bool) bool{
		"an index stays": func(op faultfs.Op, _ bool) bool { return op.Kind == faultfs.Remove && op.Name == "run/c.index" },
		"data stay": func(op faultfs.Op, _ bool) bool {
			return op.Kind == faultfs.Remove && op.Name == "run/c.data-00000-of-00001"
		},
		"no durable index": func(op faultfs.Op, named bool) bool { return op.Kind == faultfs.SyncDir && named },
	} {
		disk := faultfs.New()
		if err := beforeMerge(disk); err != nil {
			t.Fatal(err)
		}
		named := false
		disk.Hook(func(op faultfs.Op) error {
			if fails(op, named) {
				return faultfs.ErrFault
			}
			named = named || op.Kind == faultfs.Rename && op.To == "run/ckpt.index"
			return nil
		})
		if err := mergeOver(disk, false); !errors.Is(err, faultfs.ErrFault) {
			t.Errorf("%s: %v", what, err)
		}
	}
	disk := faultfs.New()
	if err := beforeMerge(disk); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	disk.Hook(func(op faultfs.Op) error {
		if op.Kind == faultfs.Create {
			cancel()
		}
		return nil
	})
	if err := Merge(ctx, disk, "run/ckpt", []string{"run/c", "run/d"}, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// TestRecoverTakesNoFileOfAnotherName checks an index that a user has moved aside,
// next to a damaged one. It is complete, but no interrupted write has left it.
func TestRecoverTakesNoFileOfAnotherName(t *testing.T) {
	ctx := context.Background()
	for _, name := range []string{"run/ckpt.index.bak", "run/ckpt.index~", "run/ckpt.index.tempstate", "run/ckpt.index2", "run/ckpt.index.index" + newToken()} {
		dir := faultfs.New()
		if err := replace(dir, 1, 1); err != nil {
			t.Fatal(err)
		}
		dir.Put(name, dir.Bytes("run/ckpt.index"))
		dir.Damage("run/ckpt.index", 0, 20)
		before := fmt.Sprint(dir.Names())
		if can, err := Recoverable(ctx, dir, "run/ckpt"); can || err != nil {
			t.Errorf("%s: Recoverable: %v, %v", name, can, err)
		}
		if ok, err := Recover(ctx, dir, "run/ckpt"); ok || err == nil || fmt.Sprint(dir.Names()) != before {
			t.Errorf("%s: %v, %v; the disk holds %q", name, ok, err, dir.Names())
		}
	}
}

// TestACrashAmidARecoveryIsFinished stops Recover at each operation, lets the disk
// lose data that it may lose, and expects that another Recover finishes it.
func TestACrashAmidARecoveryIsFinished(t *testing.T) {
	ctx := context.Background()
	whole := faultfs.New()
	if err := replace(whole, 2, 5); err != nil {
		t.Fatal(err)
	}
	now, err := contentsOf(whole)
	if err != nil {
		t.Fatal(err)
	}
	base := faultfs.New() // an old index, and the new files without their names
	if err := replace(base, 2, 1); err != nil {
		t.Fatal(err)
	}
	const token = ".tempstate00000000000000000017"
	for i := range 2 {
		base.Put(tempData("run/ckpt", i, token), whole.Bytes(DataName("run/ckpt", i, 2)))
	}
	base.Put("run/ckpt.index"+token, whole.Bytes("run/ckpt.index"))
	base.Damage("run/ckpt.data-00000-of-00002", 0, 1)
	disk := base.AfterCrash(faultfs.LoseNone, 0)
	disk.Hook(nil)
	if ok, err := Recover(ctx, disk, "run/ckpt"); !ok || err != nil {
		t.Fatal(ok, err)
	}
	checkNameOrder(t, disk.Ops())
	for _, op := range disk.Ops() {
		for _, loss := range faultfs.Losses {
			for seed := range uint64(6) {
				disk := base.AfterCrash(faultfs.LoseNone, 0)
				disk.FailFrom(op.N, faultfs.ErrFault)
				if _, err := Recover(ctx, disk, "run/ckpt"); err == nil && op.Kind != faultfs.Remove {
					t.Errorf("%v fails without an error", op)
				}
				disk = disk.AfterCrash(loss, seed)
				if _, err := Recover(ctx, disk, "run/ckpt"); err != nil {
					t.Errorf("%v, loss %v: %v; the disk holds %q", op, loss, err, disk.Names())
				} else if got, err := contentsOf(disk.AfterCrash(faultfs.LoseAll, 0)); got != now {
					t.Errorf("%v, loss %v: recovered to %q, %v", op, loss, got, err)
				}
			}
		}
	}
}

// checkNameOrder makes sure that data files have durable names before an index
// gets its own: not every file system makes names durable in the order in which
// they are given, as the tests' disk does.
func checkNameOrder(t *testing.T, ops []faultfs.Op) {
	t.Helper()
	given, indexes := "", 0
	for _, op := range ops {
		switch {
		case op.Kind == faultfs.SyncDir:
			given = ""
		case op.Kind == faultfs.Rename && strings.HasSuffix(op.To, ".index"):
			if indexes++; given != "" {
				t.Errorf("%v comes before the name %s is durable", op, given)
			}
		case op.Kind == faultfs.Rename && strings.Contains(op.To, ".data-") && !IsTemporary(op.To):
			given = op.To
		}
	}
	if indexes == 0 {
		t.Error("no index got its name")
	}
}

// TestRecoverTakesTheWriteThatBeganToGiveNames: besides the write that was cut off
// amid its names there may be one that was stopped before its first, and a damaged
// one, whichever is listed first.
func TestRecoverTakesTheWriteThatBeganToGiveNames(t *testing.T) {
	tokens := []string{tempMark + strings.Repeat("1", 20), tempMark + strings.Repeat("2", 20), tempMark + strings.Repeat("3", 20)}
	bytesOf := func(shards int, value float32) *faultfs.FS {
		d := faultfs.New()
		if err := replace(d, shards, value); err != nil {
			t.Fatal(err)
		}
		return d
	}
	const data = "run/ckpt.data-00000-of-00001"
	stopped, cutOff, damaged := bytesOf(1, 3), bytesOf(1, 5), bytesOf(2, 7)
	for _, order := range [][3]int{{0, 1, 2}, {1, 0, 2}, {2, 1, 0}, {1, 2, 0}} {
		disk := bytesOf(1, 1)
		disk.Put("run/ckpt.index"+tokens[order[0]], stopped.Bytes("run/ckpt.index"))
		disk.Put(tempData("run/ckpt", 0, tokens[order[0]]), stopped.Bytes(data))
		disk.Put("run/ckpt.index"+tokens[order[1]], cutOff.Bytes("run/ckpt.index"))
		disk.Put(data, cutOff.Bytes(data))
		disk.Put("run/ckpt.index"+tokens[order[2]], damaged.Bytes("run/ckpt.index"))
		for i := range 2 {
			name := DataName("run/ckpt", i, 2)
			disk.Put(name, damaged.Bytes(name))
			disk.Damage(name, 0, 1)
		}
		if ok, err := Recover(t.Context(), disk, "run/ckpt"); !ok || err != nil {
			t.Fatalf("%v: %v, %v", order, ok, err)
		}
		if got, err := contentsOf(disk); got != "a[5 5]b[5 6]" {
			t.Errorf("%v: recovered to %q, %v", order, got, err)
		}
		left := 0
		for _, name := range disk.Names() {
			if IsTemporary(name) {
				left++
			}
		}
		if left != 3 { // of the two others: the files replaced are gone
			t.Errorf("%v: the disk holds %q", order, disk.Names())
		}
	}
}

func TestRecoverInAFolderThatIsNotThere(t *testing.T) {
	dir := vfs.MemDir()
	if done, err := Recover(t.Context(), dir, "nothing/ckpt"); done || !errors.Is(err, fs.ErrNotExist) || strings.Contains(err.Error(), "beside") {
		t.Errorf("Recover: %v, %v", done, err)
	}
	if can, err := Recoverable(t.Context(), dir, "nothing/ckpt"); can || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Recoverable: %v, %v", can, err)
	}
}
