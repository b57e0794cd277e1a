package convert

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairnml/cairn/bundle"
	"github.com/cairnml/cairn/checkpoint"
	"github.com/cairnml/cairn/internal/pb"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/tensorfile"
	"github.com/cairnml/cairn/trackable"
	"github.com/cairnml/cairn/vfs"
)

const fixtures = "../cmd/cairn/testdata/tf2.21/"

var checkpoints = []string{"guide/ckpt-1", "guide/ckpt-2", "names/model.ckpt-7", "slices/s", "parts/p0", "dtypes/all", "objects/o", "saved_model/variables/variables"}

// same compares two checkpoints file by file.
func same(t *testing.T, a, b string) {
	t.Helper()
	files, err := filepath.Glob(a + ".*")
	if err != nil || len(files) < 2 {
		t.Fatal(files, err)
	}
	for _, f := range files {
		x, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		y, err := os.ReadFile(b + strings.TrimPrefix(f, a))
		if err != nil {
			t.Error(err)
		} else if !bytes.Equal(x, y) {
			t.Errorf("%s: the bytes differ", f)
		}
	}
}

func TestCheckpointsComeBackFromSafetensorsByteForByte(t *testing.T) {
	ctx := context.Background()
	for _, p := range checkpoints {
		t.Run(p, func(t *testing.T) {
			dir := t.TempDir()
			if p == "parts/p0" { // a part lacks slices, so it has no whole tensor to convert
				if _, err := Convert(ctx, fixtures+p, filepath.Join(dir, "x.safetensors"), nil); err == nil {
					t.Error("a tensor of which a slice is missing was converted")
				}
				return
			}
			file, back := filepath.Join(dir, "x.safetensors"), filepath.Join(dir, "back", "c")
			if _, err := Convert(ctx, fixtures+p, file, nil); err != nil {
				t.Fatal(err)
			}
			res, err := Convert(ctx, file, back, nil)
			if err != nil || len(res.Notes) > 0 {
				t.Fatal(res, err)
			}
			same(t, fixtures+p, back)
		})
	}
}

func TestUnchangedCopiesAreByteForByte(t *testing.T) {
	for _, p := range checkpoints {
		dst := filepath.Join(t.TempDir(), "c")
		if _, err := Convert(context.Background(), fixtures+p, dst, nil); err != nil {
			t.Errorf("%s: %v", p, err)
			continue
		}
		same(t, fixtures+p, dst)
	}
}

func TestAlignedShardedAndBigEndianCheckpointsComeBack(t *testing.T) {
	ctx := context.Background()
	for _, o := range []*bundle.WriterOptions{{Alignment: 64}, {BigEndian: true}, {Alignment: 8, BigEndian: true}} {
		dir := t.TempDir()
		w, err := bundle.NewWriter(vfs.OSDir(dir), "c", o)
		if err != nil {
			t.Fatal(err)
		}
		for i := range 6 {
			if i == 3 {
				if err := w.NextShard(); err != nil {
					t.Fatal(err)
				}
			}
			if err := w.Add(ctx, fmt.Sprint("t", (i*5)%7), tensor.Vector(float64(i), 2, 3)); err != nil {
				t.Fatal(err)
			}
			if err := w.Add(ctx, fmt.Sprint("s", (i*5)%7), tensor.Scalar(strings.Repeat("x", i))); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Finish(ctx); err != nil {
			t.Fatal(err)
		}
		src, file, back := filepath.Join(dir, "c"), filepath.Join(dir, "x.safetensors"), filepath.Join(dir, "back")
		if _, err := Convert(ctx, src, file, nil); err != nil {
			t.Fatal(err)
		}
		if _, err := Convert(ctx, file, back, nil); err != nil {
			t.Fatal(err)
		}
		same(t, src, back)
	}
}

func TestTensorsChangedBetweenAreToldOf(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	a, b, back := filepath.Join(dir, "a.safetensors"), filepath.Join(dir, "b.safetensors"), filepath.Join(dir, "c")
	if _, err := Convert(ctx, fixtures+"guide/ckpt-1", a, nil); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(a)
	if err != nil {
		t.Fatal(err)
	}
	raw[len(raw)-1] ^= 0x40
	if err := os.WriteFile(b, raw, 0o666); err != nil {
		t.Fatal(err)
	}
	res, err := Convert(ctx, b, back, nil)
	if err != nil || len(res.Notes) != 1 || !strings.Contains(res.Notes[0], "differ") {
		t.Errorf("%+v, %v", res, err)
	}
}

func TestACancelledRewriteLeavesNothing(t *testing.T) {
	for _, dst := range []string{"x.npz", "x.safetensors", "c"} {
		dir := t.TempDir()
		ctx, cancel := context.WithCancel(context.Background())
		_, err := Convert(ctx, fixtures+"guide/ckpt-1", filepath.Join(dir, dst), &Options{Progress: func(done, total int64) {
			if done > total/20 {
				cancel()
			}
		}})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", dst, err)
		}
		if list, err := os.ReadDir(dir); err != nil || len(list) > 0 {
			t.Errorf("%s: left %v, %v", dst, list, err)
		}
		cancel()
	}
}

func TestForceLeavesNoStaleShards(t *testing.T) {
	ctx := context.Background()
	dst := filepath.Join(t.TempDir(), "c")
	var seen int64
	if _, err := Merge(ctx, []string{fixtures + "parts/p0", fixtures + "parts/p1"}, dst, &MergeOptions{Options: Options{Progress: func(done, _ int64) { seen = done }}}); err != nil {
		t.Fatal(err)
	}
	if seen == 0 {
		t.Error("a merge shows no progress")
	}
	if _, err := Convert(ctx, fixtures+"guide/ckpt-1", dst, nil); err == nil {
		t.Error("a checkpoint was replaced unasked")
	}
	if _, err := Convert(ctx, fixtures+"guide/ckpt-1", dst, &Options{Force: true}); err != nil {
		t.Fatal(err)
	}
	files, _ := filepath.Glob(dst + ".*")
	if len(files) != 2 {
		t.Errorf("%v", files)
	}
	same(t, fixtures+"guide/ckpt-1", dst)
}

type layer struct {
	Kernel *trackable.Variable
	Bias   *trackable.Variable
}

type before struct {
	Net  *struct{ L1 *layer }
	Step *trackable.Scalar[int64]
}

type after struct {
	Net  *struct{ Dense *layer }
	Step *trackable.Scalar[int64]
}

func TestRenamedCheckpointsRestoreByTheirObjects(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	b := &before{Net: &struct{ L1 *layer }{&layer{trackable.NewVariable(tensor.Vector[float32](1, 2)), trackable.NewVariable(tensor.Vector[float32](3))}}, Step: trackable.NewScalar[int64](7)}
	ck, err := checkpoint.New(b, nil)
	if err != nil {
		t.Fatal(err)
	}
	src, dst := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	if err := ck.Write(ctx, src); err != nil {
		t.Fatal(err)
	}
	if _, _, err := Edit(ctx, src, dst, Edits{Rename: []Rename{{regexp.MustCompile("^net/l1/"), "net/dense/"}}}, nil); err != nil {
		t.Fatal(err)
	}
	a := &after{Net: &struct{ Dense *layer }{&layer{trackable.NewVariable(tensor.Vector[float32](0, 0)), trackable.NewVariable(tensor.Vector[float32](0))}}, Step: trackable.NewScalar[int64](0)}
	ck, err = checkpoint.New(a, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ck.Restore(ctx, dst, nil); err != nil {
		t.Fatal(err)
	}
	if got := a.Net.Dense.Kernel.Load(); !got.Equal(tensor.Vector[float32](1, 2)) {
		t.Errorf("kernel is %v", got)
	}
	if a.Step.Get() != 7 {
		t.Errorf("step is %d", a.Step.Get())
	}
}

func TestPartialRenamesKeepTheObjectsPaths(t *testing.T) {
	ctx := context.Background()
	dst := filepath.Join(t.TempDir(), "c")
	changes, res, err := Edit(ctx, fixtures+"guide/ckpt-1", dst, Edits{Rename: []Rename{{regexp.MustCompile("l1/kernel"), "other/kernel"}}}, nil)
	if err != nil || len(changes) != 3 || len(res.Notes) != 1 {
		t.Fatal(changes, res, err)
	}
	s, err := tensorfile.Open(ctx, dst, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	g, err := s.Graph(ctx)
	if err != nil {
		t.Fatal(err)
	}
	var keys []string
	for _, n := range g.Nodes {
		for _, c := range n.Children {
			if c.LocalName == "other" {
				t.Error("the edge moved, though the bias below it did not")
			}
		}
		for _, a := range n.Attributes {
			if !s.Has(a.CheckpointKey) {
				t.Errorf("the graph's key %q is not in the checkpoint", a.CheckpointKey)
			}
			if strings.Contains(a.CheckpointKey, "other") {
				keys = append(keys, a.CheckpointKey)
			}
		}
	}
	if d := cmp.Diff(3, len(keys)); d != "" {
		t.Error(keys)
	}
}

func TestObjectsOfRegisteredSaversGoByTheirNewNames(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	w, err := bundle.NewWriter(vfs.OSDir(dir), "c", &bundle.WriterOptions{NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	g := &pb.TrackableObjectGraph{Nodes: []*pb.TrackableObject{
		{Children: []*pb.ObjectReference{{NodeId: 1, LocalName: "stack"}}},
		{RegisteredSaver: &pb.RegisteredSaver{Name: "Custom.stacks", ObjectName: "stack"}},
	}}
	if err := errors.Join(
		w.Add(ctx, "stack/value", tensor.Vector[float32](1)), w.Add(ctx, "stack/rows", tensor.Vector[float32](2)),
		w.Add(ctx, tensorfile.GraphKey, tensor.Scalar(string(g.Marshal()))), w.Finish(ctx)); err != nil {
		t.Fatal(err)
	}
	for pattern, want := range map[string]string{"^stack/": "pile", "^stack/value": "stack"} {
		dst := filepath.Join(t.TempDir(), "d")
		if _, _, err := Edit(ctx, filepath.Join(dir, "c"), dst, Edits{Rename: []Rename{{regexp.MustCompile(pattern), "pile/"}}}, nil); err != nil {
			t.Fatal(err)
		}
		s, err := tensorfile.Open(ctx, dst, nil)
		if err != nil {
			t.Fatal(err)
		}
		got, err := s.Graph(ctx)
		s.Close()
		if err != nil {
			t.Fatal(err)
		}
		if o, edge := got.Nodes[1].RegisteredSaver.ObjectName, got.Nodes[0].Children[0].LocalName; o != want || edge != want {
			t.Errorf("%s: the object is called %q, its edge %q; want %q", pattern, o, edge, want)
		}
	}
}

func TestLongRewritesKeepOneTensorInMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("writes 400 MiB")
	}
	ctx := context.Background()
	dir := t.TempDir()
	w, err := bundle.NewWriter(vfs.OSDir(dir), "c", &bundle.WriterOptions{NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	x, err := tensor.Zeros(tensor.BFloat16, 2, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 32 {
		if err := w.Add(ctx, fmt.Sprintf("t%02d", i), x); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Finish(ctx); err != nil {
		t.Fatal(err)
	}
	x = nil
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	base, most := m.HeapAlloc, uint64(0)
	o := &Options{Progress: func(int64, int64) {
		runtime.ReadMemStats(&m)
		most = max(most, m.HeapAlloc)
	}}
	src := filepath.Join(dir, "c")
	for _, dst := range []string{"x.npz", "x.safetensors", "d"} {
		if _, err := Convert(ctx, src, filepath.Join(dir, dst), o); err != nil {
			t.Fatal(err)
		}
	}
	if most > base && most-base > 64<<20 {
		t.Errorf("%d MiB in use at most for tensors of 4 MiB", (most-base)>>20)
	}
}

// TestAlignmentOfGigabytesIsRefused: a small file must not make a large one of
// zeros without being asked.
func TestAlignmentOfGigabytesIsRefused(t *testing.T) {
	dir := t.TempDir()
	convert := func(alignment string, o *Options) error {
		text := `{"__metadata__":{"cairn.checkpoint":"{\"version\":1,\"alignment\":` + alignment + `}"},"a":{"dtype":"I8","shape":[2],"data_offsets":[0,2]}}`
		path := filepath.Join(dir, alignment+".safetensors")
		if err := os.WriteFile(path, append([]byte{byte(len(text)), byte(len(text) >> 8), 0, 0, 0, 0, 0, 0}, text+"\x01\x02"...), 0o666); err != nil {
			t.Fatal(err)
		}
		_, err := Convert(t.Context(), path, filepath.Join(dir, alignment), o)
		return err
	}
	if err := convert("8589934592", nil); err == nil || !strings.Contains(err.Error(), "alignment of 8589934592") {
		t.Errorf("8 GiB: %v", err)
	}
	if err := convert("131072", nil); err == nil {
		t.Error("128 KiB pass by default")
	}
	if err := convert("131072", &Options{MaxAlignment: 1 << 20, Force: true, Lossy: true}); err != nil {
		t.Errorf("128 KiB, allowed: %v", err)
	}
}
