package bundle

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/cairnml/cairn/internal/testkit/faultfs"
	"github.com/cairnml/cairn/tensor"
)

// tidy are uses of this package that end with no file open, whatever fails.
var tidy = map[string]func(dir *faultfs.FS) error{
	"a write over three data files": func(dir *faultfs.FS) error { return replace(dir, 2, 9) },
	"a write that is aborted": func(dir *faultfs.FS) error {
		w, err := NewWriter(dir, "run/other", nil)
		if err != nil {
			return err
		}
		x := tensor.Must(tensor.Zeros(tensor.Uint8, direct-1))
		for i := range 2 * gather / direct {
			err = errors.Join(err, w.Add(context.Background(), fmt.Sprint(i), x))
		}
		return errors.Join(err, w.NextShard(), w.Abort())
	},
	"a merge":           func(dir *faultfs.FS) error { return mergeOver(dir, false) },
	"a merge of copies": func(dir *faultfs.FS) error { return mergeOver(dir, true) },
	"a merge to a new name": func(dir *faultfs.FS) error {
		return Merge(context.Background(), dir, "run/e", []string{"run/c", "run/d"}, nil)
	},
	"a merge that is refused": func(dir *faultfs.FS) error {
		if err := Merge(context.Background(), dir, "run/e", []string{"run/c", "run/c2"}, nil); err == nil {
			return errors.New("not refused")
		}
		return nil
	},
	"reading": func(dir *faultfs.FS) error {
		ctx := context.Background()
		r, err := Open(ctx, dir, "run/ckpt", nil)
		if err != nil {
			return err
		}
		_, err = r.Read(ctx, "a")
		err = errors.Join(err, r.ReadAll(ctx, []ReadRequest{{Name: "a"}, {Name: "b"}}, nil), r.Verify(ctx, nil), r.CheckFiles(ctx))
		for range r.Pieces(ctx, "b") {
			break
		}
		return errors.Join(err, r.Close())
	},
	"a copy": func(dir *faultfs.FS) error {
		ctx := context.Background()
		r, err := Open(ctx, dir, "run/ckpt", nil)
		if err != nil {
			return err
		}
		w, err := NewWriter(dir, "run/f", nil)
		if err != nil {
			return errors.Join(err, r.Close())
		}
		return errors.Join(w.CopyAll(ctx, r, nil), w.Finish(ctx), w.Abort(), r.Close())
	},
	"finishing a write": func(dir *faultfs.FS) error {
		index := dir.Bytes("run/ckpt.index")
		dir.Put("run/ckpt.index.tempstate00000000000000000017", index)
		dir.Damage("run/ckpt.index", 0, 20)
		_, err := Recover(context.Background(), dir, "run/ckpt")
		return err
	},
}

// TestNoFileStaysOpen checks that no file stays open, and that none is renamed,
// replaced or removed while it is open, which Windows refuses: also if any one
// operation fails.
func TestNoFileStaysOpen(t *testing.T) {
	base := faultfs.New()
	if err := beforeMerge(base); err != nil {
		t.Fatal(err)
	}
	for name, use := range tidy {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for n := -1; ; n++ {
				disk := base.AfterCrash(faultfs.LoseNone, 0)
				disk.FailAt(n, faultfs.ErrFault)
				err := use(disk)
				if n < 0 && err != nil {
					t.Fatal(err)
				}
				ops := disk.Ops()
				var failed string
				if n >= 0 && n < len(ops) {
					failed = ops[n].String()
				}
				if open := disk.Handles(); len(open) > 0 {
					t.Errorf("%s fails: %q stay open", failed, open)
				}
				for _, op := range disk.Busy() {
					if !strings.HasPrefix(failed, "close") {
						t.Errorf("%q fails: of an open file: %v", failed, op)
					}
				}
				if n >= len(ops) {
					break
				}
			}
		})
	}
}

// TestNoFaultOfAWriteGoesUnnoticed also has gaps between tensors, and a last data
// file without tensors.
func TestNoFaultOfAWriteGoesUnnoticed(t *testing.T) {
	ctx := context.Background()
	use := func(dir *faultfs.FS) error {
		w, err := NewWriter(dir, "c", &WriterOptions{Alignment: gather * 3 / 4})
		if err != nil {
			return err
		}
		for i := range 4 {
			err = errors.Join(err, w.Add(ctx, fmt.Sprint(i), tensor.Vector(int32(i))))
		}
		err = errors.Join(err, w.NextShard(), w.Finish(ctx))
		return errors.Join(err, w.Abort())
	}
	disk := faultfs.New()
	disk.Hook(nil)
	if err := use(disk); err != nil {
		t.Fatal(err)
	}
	for _, op := range disk.Ops() {
		if op.Kind == faultfs.Open || op.Kind == faultfs.Read {
			continue // for example whether a name is free
		}
		disk := faultfs.New()
		disk.FailAt(op.N, faultfs.ErrFault)
		if err := use(disk); !errors.Is(err, faultfs.ErrFault) {
			t.Errorf("%v fails: %v", op, err)
		}
	}
}
