package inspect

import (
	"bytes"
	"context"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairnml/cairn/bundle"
	"github.com/cairnml/cairn/inspect/render"
	"github.com/cairnml/cairn/internal/pb"
	"github.com/cairnml/cairn/internal/testkit/detector"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/tensorfile"
	"github.com/cairnml/cairn/vfs"
)

func TestStatsAreNumpys(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		name string
		t    *tensor.Tensor
		want Stats
	}{
		{"floats", tensor.Vector(1.0, 2, 3, 4), Stats{Count: 4, Min: 1, Max: 4, Mean: 2.5, Std: math.Sqrt(1.25)}},
		{"not finite", tensor.Vector(nan, inf, -inf, 0, 2), Stats{Count: 5, Min: 0, Max: 2, Mean: 1, Std: 1, Zeros: 1, NaN: 1, PosInf: 1, NegInf: 1}},
		{"bfloat16", tensor.Vector(tensor.ToBF16(-1), tensor.ToBF16(1)), Stats{Count: 2, Min: -1, Max: 1, Std: 1}},
		{"integers", tensor.Vector[uint8](0, 255), Stats{Count: 2, Max: 255, Mean: 127.5, Std: 127.5, Zeros: 1}},
		{"booleans", tensor.Vector(true, false), Stats{Count: 2, Max: 1, Mean: 0.5, Std: 0.5, Zeros: 1}},
		{"complex", tensor.Vector[complex64](3 + 4i), Stats{Count: 1, Min: 5, Max: 5, Mean: 5}},
		{"strings", tensor.Vector("", "abcd"), Stats{Count: 2, Max: 4, Mean: 2, Std: 2, Zeros: 1}},
		{"far from zero", tensor.Vector(1e9, 1e9+2), Stats{Count: 2, Min: 1e9, Max: 1e9 + 2, Mean: 1e9 + 1, Std: 1}},
	} {
		got := StatOf("", c.t)
		got.DType, got.Shape = 0, nil
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, d)
		}
	}
	for _, x := range []*tensor.Tensor{tensor.Vector[float32](), tensor.Vector(nan)} {
		if s := StatOf("", x); !math.IsNaN(s.Min) || !math.IsNaN(s.Std) {
			t.Errorf("nothing finite gives %+v", s)
		}
	}
}

func TestHistogramsCountEveryFiniteElement(t *testing.T) {
	for _, v := range [][]float64{{1, 2, 3}, {5, 5}, {0}, {-1e300, 1e300}, {math.MaxFloat64, -math.MaxFloat64}, {math.NaN()}, {1e-320, 2e-320}, {1e300, math.Nextafter(1e300, 2e300)}} {
		h := Hist("", tensor.Must(tensor.New(v, len(v))), 10)
		n := 0
		for _, c := range h.Counts {
			n += c
		}
		if want := len(v) - h.Stats.NaN; n != want {
			t.Errorf("%v: %d in bins, want %d", v, n, want)
		}
		if h.BinWidth < 0 || math.IsNaN(h.BinWidth) {
			t.Errorf("%v: bins of width %v", v, h.BinWidth)
		}
	}
}

// write makes a checkpoint of the tensors and opens it.
func write(t *testing.T, tensors map[string]*tensor.Tensor) *tensorfile.File {
	t.Helper()
	dir := t.TempDir()
	w, err := bundle.NewWriter(vfs.OSDir(dir), "c", &bundle.WriterOptions{NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	for n, x := range tensors {
		if err := w.Add(context.Background(), n, x); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Finish(context.Background()); err != nil {
		t.Fatal(err)
	}
	s, err := tensorfile.Open(context.Background(), filepath.Join(dir, "c"), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func TestDiffSaysWhereAndByHowMuch(t *testing.T) {
	nan := float32(math.NaN())
	a := write(t, map[string]*tensor.Tensor{
		"same": tensor.Vector(nan, 1), "near": tensor.Must(tensor.New([]float32{1, 2, 3, 4}, 2, 2)), "big": tensor.Vector[int64](1 << 60),
		"z": tensor.Vector[complex64](1+1i, 2), "s": tensor.Vector("a", "b"), "shape": tensor.Vector[float32](1), "type": tensor.Vector[float32](1), "gone": tensor.Scalar(true),
		"zero": tensor.Vector[float32](0),
	})
	b := write(t, map[string]*tensor.Tensor{
		"same": tensor.Vector(nan, 1), "near": tensor.Must(tensor.New([]float32{1, 2, 3.5, 4}, 2, 2)), "big": tensor.Vector[int64](1<<60 + 1),
		"z": tensor.Vector[complex64](1-1i, 2), "s": tensor.Vector("a", "c"), "shape": tensor.Scalar[float32](1), "type": tensor.Vector[int32](1), "new": tensor.Scalar(true),
		"zero": tensor.Vector(float32(math.Copysign(0, -1))),
	})
	got, err := Diff(context.Background(), a, b, nil)
	if err != nil {
		t.Fatal(err)
	}
	num := func(v float64) *float64 { return &v }
	want := []Difference{
		{Kind: Values, Name: "big", A: "1152921504606846976", B: "1152921504606846977", Differ: 1, Count: 1, MaxAbs: num(1), First: []int{0}},
		{Kind: OnlyInA, Name: "gone", A: "bool"},
		{Kind: Values, Name: "near", A: "3.0", B: "3.5", Differ: 1, Count: 4, MaxAbs: num(0.5), MaxRel: num(0.5 / 3.5), First: []int{1, 0}},
		{Kind: OnlyInB, Name: "new", B: "bool"},
		{Kind: Values, Name: "s", A: "b'b'", B: "b'c'", Differ: 1, Count: 2, First: []int{1}},
		{Kind: Shapes, Name: "shape", A: "float32 [1]", B: "float32"},
		{Kind: DTypes, Name: "type", A: "float32 [1]", B: "int32 [1]"},
		{Kind: Values, Name: "z", A: "(1+1j)", B: "(1-1j)", Differ: 1, Count: 2, MaxAbs: num(2), MaxRel: num(2), First: []int{0}},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	got, err = Diff(context.Background(), a, b, &DiffOptions{RTol: 0.2, ATol: 3})
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range got {
		if d.Kind == Values && d.Name != "s" {
			t.Errorf("%s differs within the tolerance: %+v", d.Name, d)
		}
	}
}

// graphStore returns a checkpoint that holds nothing but an object graph.
func graphStore(t *testing.T, g *pb.TrackableObjectGraph) *tensorfile.File {
	t.Helper()
	return write(t, map[string]*tensor.Tensor{tensorfile.GraphKey: tensor.Scalar(string(g.Marshal()))})
}

func TestHostileGraphsAreDrawnOrRefused(t *testing.T) {
	ctx := context.Background()
	chain := &pb.TrackableObjectGraph{}
	for i := range 10_000 {
		chain.Nodes = append(chain.Nodes, &pb.TrackableObject{Children: []*pb.ObjectReference{{NodeId: int32(i + 1), LocalName: "next"}, {NodeId: 0, LocalName: "\x00<&>\xff\""}}})
	}
	chain.Nodes = append(chain.Nodes, &pb.TrackableObject{})
	self := &pb.TrackableObjectGraph{Nodes: []*pb.TrackableObject{{Children: []*pb.ObjectReference{{NodeId: 0, LocalName: "me"}},
		SlotVariables: []*pb.SlotVariableReference{{OriginalVariableNodeId: 0, SlotVariableNodeId: 0, SlotName: "m"}}}, {}}}
	for name, g := range map[string]*pb.TrackableObjectGraph{"chain": chain, "self": self} {
		g, err := Graph(ctx, graphStore(t, g))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for _, draw := range []func(b *bytes.Buffer) error{
			func(b *bytes.Buffer) error { return g.SVG(b) },
			func(b *bytes.Buffer) error { return g.DOT(b) },
			func(b *bytes.Buffer) error { return g.Text(b, &render.TextOptions{}) },
		} {
			var b bytes.Buffer
			if err := draw(&b); err != nil || b.Len() > 64<<20 {
				t.Errorf("%s: %d bytes, %v", name, b.Len(), err)
			}
			if strings.ContainsRune(b.String(), 0) && name != "chain" {
				t.Errorf("%s: a NUL in the drawing", name)
			}
		}
	}
	for name, g := range map[string]*pb.TrackableObjectGraph{
		"child":    {Nodes: []*pb.TrackableObject{{Children: []*pb.ObjectReference{{NodeId: 7, LocalName: "x"}}}}},
		"negative": {Nodes: []*pb.TrackableObject{{Children: []*pb.ObjectReference{{NodeId: -1, LocalName: "x"}}}}},
		"slot":     {Nodes: []*pb.TrackableObject{{SlotVariables: []*pb.SlotVariableReference{{SlotVariableNodeId: 9}}}}},
	} {
		s := graphStore(t, g)
		if _, err := Graph(ctx, s); err == nil || !strings.Contains(err.Error(), "of 1") {
			t.Errorf("%s: %v", name, err)
		}
		_, faults, err := Verify(ctx, s.Prefix, nil)
		if err != nil || len(faults) != 1 || faults[0].Tensor != tensorfile.GraphKey {
			t.Errorf("%s: %v, %v", name, faults, err)
		}
	}
	broken := write(t, map[string]*tensor.Tensor{tensorfile.GraphKey: tensor.Scalar("\xff\xff\xff")})
	if _, faults, err := Verify(ctx, broken.Prefix, nil); err != nil || len(faults) != 1 {
		t.Errorf("a graph that can't be decoded: %v, %v", faults, err)
	}
}

func TestVerifyListsEveryFault(t *testing.T) {
	s := write(t, map[string]*tensor.Tensor{"a": tensor.Vector[float32](1, 2), "b": tensor.Vector[float32](3, 4), "c": tensor.Vector[float32](5, 6)})
	data := s.Prefix + ".data-00000-of-00001"
	raw, err := os.ReadFile(data)
	if err != nil {
		t.Fatal(err)
	}
	raw[0] ^= 1
	raw[len(raw)-1] ^= 1
	if err := os.WriteFile(data, raw, 0o666); err != nil {
		t.Fatal(err)
	}
	_, faults, err := Verify(context.Background(), s.Prefix, nil)
	if err != nil || len(faults) != 2 {
		t.Fatalf("%v, %v", faults, err)
	}
	for _, f := range faults {
		if f.Offset < 0 || f.File != data || f.Tensor == "" {
			t.Errorf("%+v", f)
		}
	}
	if err := os.Remove(data); err != nil {
		t.Fatal(err)
	}
	if _, faults, err = Verify(context.Background(), s.Prefix, nil); err == nil && len(faults) == 0 {
		t.Error("a missing data file is no fault")
	}
}

func TestSizesArePrintedForPeople(t *testing.T) {
	for n, want := range map[int64]string{0: "0 B", 1023: "1023 B", 1024: "1.00 KiB", 10 << 10: "10.0 KiB", 1 << 20: "1.00 MiB", 1023 << 10: "1023 KiB", 5 << 40: "5.00 TiB", 1 << 60: "1048576 TiB"} {
		if got := Size(n); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
}

// TestDeepGraphsAreComparedInProportion: the paths of a deep graph, spelled out,
// would take hundreds of times its bytes.
func TestDeepGraphsAreComparedInProportion(t *testing.T) {
	chain := func(n int, last string) *pb.TrackableObjectGraph {
		g := &pb.TrackableObjectGraph{}
		for i := range n {
			g.Nodes = append(g.Nodes, &pb.TrackableObject{Children: []*pb.ObjectReference{{NodeId: int32(i + 1), LocalName: "n"}}})
		}
		g.Nodes = append(g.Nodes, &pb.TrackableObject{Children: []*pb.ObjectReference{{NodeId: 0, LocalName: last}}})
		return g
	}
	const n = 100_000
	a, same, other := graphStore(t, chain(n, "x")), graphStore(t, chain(n, "x")), graphStore(t, chain(n/2, "y"))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	d, err := Diff(context.Background(), a, same, &DiffOptions{Graph: true})
	runtime.ReadMemStats(&after)
	if err != nil || len(d) != 0 {
		t.Errorf("%d differences of equal graphs, %v", len(d), err)
	}
	if used := after.TotalAlloc - before.TotalAlloc; used > 3000*n {
		t.Errorf("%d bytes are allocated for graphs of %d nodes", used, n)
	}
	d, err = Diff(context.Background(), a, other, &DiffOptions{Graph: true})
	if err != nil || len(d) != maxObjects+1 || !strings.Contains(d[maxObjects].A, "more objects or edges differ") {
		t.Errorf("%d differences, %v", len(d), err)
	}
}

// TestSumOfSparseTensorIsReadInPieces: a tensor in a hole of a file is summed up
// without being held.
func TestSumOfSparseTensorIsReadInPieces(t *testing.T) {
	s := write(t, map[string]*tensor.Tensor{"w": tensor.Must(tensor.Zeros(tensor.Int8, 48<<20))})
	var c tensorfile.Scratch
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	sum, err := StatEntry(context.Background(), s, s.Entries().At(0), &c)
	runtime.ReadMemStats(&after)
	if err != nil || sum.Zeros != 48<<20 || sum.Count != 48<<20 {
		t.Errorf("%+v, %v", sum, err)
	}
	if used := after.TotalAlloc - before.TotalAlloc; used > 16<<20 && !detector.Racing {
		t.Errorf("%d bytes are allocated to sum up a tensor of %d", used, 48<<20)
	}
}
