package inspect

import (
	"context"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairnml/cairn/internal/pb"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/tensorfile"
)

// NaN is equal to itself only, and infinitely far from all else; a tolerance includes
// its bounds.
func TestDiffOfValues(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	num := func(v float64) *float64 { return &v }
	for _, c := range []struct {
		name           string
		a, b           *tensor.Tensor
		o              DiffOptions
		differ         int
		first          int
		maxAbs, maxRel *float64
	}{
		{"not numbers", tensor.Vector(nan, nan, 1, inf, inf, -inf), tensor.Vector(nan, 1, nan, inf, 1, inf), DiffOptions{}, 4, 1, nil, nil},
		{"infinite bounds", tensor.Vector(1.0, 2), tensor.Vector(inf, 2), DiffOptions{RTol: 0.5}, 1, 0, nil, nil},
		{"the farthest", tensor.Vector(1.0, 1, 1, 0), tensor.Vector(2.0, 4, 3, 0), DiffOptions{}, 3, 0, num(3), num(0.75)},
		{"beside zero", tensor.Vector(1.0, 2), tensor.Vector(0.0, 2), DiffOptions{}, 1, 0, num(1), nil},
		{"within", tensor.Vector(1.0, 3), tensor.Vector(2.0, 2), DiffOptions{ATol: 1}, 0, 0, nil, nil},
		{"without", tensor.Vector(1.0, 3), tensor.Vector(2.0, 1.5), DiffOptions{ATol: 1}, 1, 1, num(1.5), num(1)},
		{"in proportion", tensor.Vector(100.0, 1), tensor.Vector(50.0, 4), DiffOptions{RTol: 1}, 0, 0, nil, nil},
		{"complex", tensor.Vector[complex128](1+2i, 3+4i), tensor.Vector[complex128](1+2i, 4+6i), DiffOptions{}, 1, 1, num(2), num(1.0 / 3)},
		{"integers within", tensor.Vector[int64](1, 5), tensor.Vector[int64](2, 9), DiffOptions{ATol: 2}, 1, 1, num(4), num(4.0 / 9)},
		{"integers in proportion", tensor.Vector[int64](1, 5), tensor.Vector[int64](2, 6), DiffOptions{RTol: 0.25}, 1, 0, num(1), num(0.5)},
		{"negative integers", tensor.Vector[int64](5, -7), tensor.Vector[int64](-1, -7), DiffOptions{}, 1, 0, num(6), nil},
		{"types of the same bytes", tensor.Vector[int32](0x3f800000), tensor.Vector[float32](1), DiffOptions{ATol: 0.5}, 1, 0, num(0x3f800000 - 1), num(0x3f800000 - 1)},
		{"types", tensor.Vector[int64](1, 2), tensor.Vector[int32](1, 3), DiffOptions{ATol: 0.5}, 1, 1, num(1), num(1.0 / 3)},
	} {
		got, err := Diff(context.Background(), write(t, map[string]*tensor.Tensor{"x": c.a}), write(t, map[string]*tensor.Tensor{"x": c.b}), &c.o)
		if err != nil {
			t.Fatal(err)
		}
		var want []Difference
		if c.differ > 0 {
			want = []Difference{{Kind: Values, Name: "x", Differ: c.differ, Count: c.a.Len(), First: []int{c.first}, MaxAbs: c.maxAbs, MaxRel: c.maxRel}}
		}
		for i := range got {
			got[i].A, got[i].B = "", ""
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, d)
		}
	}
}

func TestLongValuesOfADifferenceAreCut(t *testing.T) {
	long := strings.Repeat("x", 57) // and b''
	a := write(t, map[string]*tensor.Tensor{"x": tensor.Vector(long), "y": tensor.Vector(long + "x")})
	b := write(t, map[string]*tensor.Tensor{"x": tensor.Vector("other"), "y": tensor.Vector("other")})
	got, err := Diff(context.Background(), a, b, nil)
	if err != nil || len(got) != 2 {
		t.Fatalf("%+v, %v", got, err)
	}
	if want := "b'" + long + "'"; got[0].A != want || got[1].A != "b'"+long[:55]+"..." {
		t.Errorf("%q and %q", got[0].A, got[1].A)
	}
}

// Object graphs are compared when that is asked for; that one has none is a difference of
// the tensors.
func TestDiffOfGraphs(t *testing.T) {
	ctx := context.Background()
	edges := func(names ...string) *pb.TrackableObjectGraph {
		g := &pb.TrackableObjectGraph{Nodes: []*pb.TrackableObject{{}}}
		for i, name := range names {
			g.Nodes[0].Children = append(g.Nodes[0].Children, &pb.ObjectReference{NodeId: int32(i + 1), LocalName: name})
			g.Nodes = append(g.Nodes, &pb.TrackableObject{})
		}
		return g
	}
	a, b := graphStore(t, edges("a", "x", "z")), graphStore(t, edges("a", "b", "c"))
	none := write(t, map[string]*tensor.Tensor{"w": tensor.Scalar(true)})
	for _, graph := range []bool{false, true} {
		got, err := Diff(ctx, a, b, &DiffOptions{Graph: graph})
		if err != nil {
			t.Fatal(err)
		}
		names := ""
		for _, d := range got {
			names += d.Name + " "
		}
		if want := map[bool]string{false: "", true: "b c x z "}[graph]; names != want {
			t.Errorf("with graphs %v: %q differ, want %q", graph, names, want)
		}
		for _, pair := range [][2]*tensorfile.File{{a, none}, {none, a}} {
			if got, err := Diff(ctx, pair[0], pair[1], &DiffOptions{Graph: graph}); err != nil || len(got) != 2 || got[0].Name != tensorfile.GraphKey {
				t.Errorf("a graph and none: %+v, %v", got, err)
			}
		}
	}
	broken := edges("a")
	broken.Nodes[0].Children[0].NodeId = 9
	bad := graphStore(t, broken)
	for _, pair := range [][2]*tensorfile.File{{a, bad}, {bad, a}} {
		if _, err := Diff(ctx, pair[0], pair[1], &DiffOptions{Graph: true}); err == nil || !strings.Contains(err.Error(), "broken") {
			t.Errorf("a broken graph: %v", err)
		}
	}
}
