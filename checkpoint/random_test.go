package checkpoint

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
	"github.com/cairnml/cairn/vfs"
)

// spec describes a random graph, so that it can be built twice.
type spec struct {
	kinds []string
	edges [][2]int // from, to, in order
	names []string // of the edges
	dims  []int    // of variables
	slots [][2]int // optimizer and variable
}

func drawSpec(t *rapid.T) spec {
	var s spec
	n := rapid.IntRange(1, 25).Draw(t, "objects")
	s.kinds = append(s.kinds, "node")
	for range n - 1 {
		s.kinds = append(s.kinds, rapid.SampledFrom([]string{"node", "map", "list", "var", "var", "var", "table", "opt"}).Draw(t, "kind"))
		s.dims = append(s.dims, rapid.IntRange(0, 4).Draw(t, "dim"))
	}
	s.dims = append(s.dims, 1)
	name := rapid.SampledFrom([]string{"a", "b", "a/b", ".", "..", "x.y", ".ATTRIBUTES", ".S", "é", "k0", "k1", "k2", "", "VARIABLE_VALUE"})
	seen := map[string]bool{}
	for range rapid.IntRange(0, 3*n).Draw(t, "edges") {
		from, to := rapid.IntRange(0, n-1).Draw(t, "from"), rapid.IntRange(0, n-1).Draw(t, "to")
		edge := name.Draw(t, "name")
		if k := fmt.Sprint(from, " ", edge); seen[k] || s.kinds[from] == "var" || s.kinds[from] == "table" {
			continue
		} else {
			seen[k] = true
		}
		s.edges = append(s.edges, [2]int{from, to})
		s.names = append(s.names, edge)
	}
	for i, k := range s.kinds {
		for j, of := range s.kinds {
			if k == "opt" && of == "var" && rapid.Bool().Draw(t, "slot") {
				s.slots = append(s.slots, [2]int{i, j})
			}
		}
	}
	return s
}

func (s spec) objects(seed float32) []any {
	objs := make([]any, len(s.kinds))
	for i, k := range s.kinds {
		switch k {
		case "node":
			objs[i] = new(node)
		case "map":
			objs[i] = trackable.NewMap[any]()
		case "list":
			objs[i] = trackable.NewList[any]()
		case "var":
			x := make([]float32, s.dims[i])
			for j := range x {
				x[j] = seed * float32(i+j+1)
			}
			objs[i] = trackable.NewVariable(tensor.Vector(x...)).Named(fmt.Sprint("v", i))
		case "opt":
			o := &optimizer{name: "opt"}
			o.DeclareSlots("m", "v/w")
			objs[i] = o
		case "table":
			objs[i] = &table{[]int64{int64(seed) * int64(i)}, []float32{seed}}
		}
	}
	return objs
}

func (s spec) join(t *rapid.T, objs []any, from, to int) {
	for i := from; i < to; i++ {
		a, b := objs[s.edges[i][0]], objs[s.edges[i][1]]
		var err error
		switch a := a.(type) {
		case *optimizer:
			err = a.Attach(s.names[i], b)
		case *node:
			err = a.Attach(s.names[i], b)
		case *trackable.Map[any]:
			err = a.Set(s.names[i], b)
		case *trackable.List[any]:
			err = a.Append(b)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestRandomGraphs: a random graph, saved and restored into a fresh copy of
// which a random part is there already, has the same values and the same bytes.
func TestRandomGraphs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawSpec(t)
		first := s.objects(1)
		for _, p := range s.slots {
			v := first[p[1]].(*trackable.Variable)
			for _, name := range []string{"m", "v/w"} {
				if _, err := first[p[0]].(*optimizer).SlotOr(v, name, func() (*tensor.Tensor, error) { return v.Load().Clone(), nil }); err != nil {
					t.Fatal(err)
				}
			}
		}
		s.join(t, first, 0, len(s.edges))
		ck, err := New(first[0], nil)
		if err != nil {
			t.Fatal(err)
		}
		dir := vfs.MemDir()
		if err := ck.WriteTo(ctx, dir, "ckpt"); err != nil {
			t.Fatal(err)
		}

		second := s.objects(0)
		built := rapid.IntRange(0, len(s.edges)).Draw(t, "edges before the restore")
		s.join(t, second, 0, built)
		ck2, err := New(second[0], nil)
		if err != nil {
			t.Fatal(err)
		}
		r, err := ck2.ReadFS(ctx, dir, "ckpt", nil)
		if err != nil {
			t.Fatal(err)
		}
		s.join(t, second, built, len(s.edges))
		if err := r.AssertConsumed(); err != nil {
			t.Fatal(err)
		}
		again := vfs.MemDir()
		if err := ck2.WriteTo(ctx, again, "ckpt"); err != nil {
			t.Fatal(err)
		}
		for _, name := range dir.Names() {
			a, err1 := dir.ReadFile(name)
			b, err2 := again.ReadFile(name)
			if err1 != nil || err2 != nil || string(a) != string(b) {
				t.Fatalf("%s differs after a restore (%v, %v):\n%s", name, err1, err2, cmp.Diff(a, b))
			}
		}
	})
}
