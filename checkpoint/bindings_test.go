package checkpoint

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/cairnml/cairn/trackable"
)

// TestBindingsAreWhatWasBound checks that bindings behave as a map does: with rows, with
// single nodes before and after them, and with so many of these that each node has an
// entry.
func TestBindingsAreWhatWasBound(t *testing.T) {
	const nodes = 4 * allAtOnce
	rng := rand.New(rand.NewPCG(1, 2))
	for _, single := range []int{0, 10, nodes / fewShare, nodes / 2} {
		for _, step := range []int{1, 3} {
			b, want := bindingsFor(nodes), map[int32]any{}
			set := func(n int, from int32) {
				for range n {
					node := from + rng.Int32N(nodes/2)
					if _, in := want[node]; in {
						continue // callers of bind look first
					}
					obj := new(int)
					b.set(node, obj)
					want[node] = obj
				}
			}
			set(single/2, 0)
			var row []int32
			var vars []*trackable.Variable
			for node := int32(nodes / 2); int(node) < nodes*3/4; node += int32(step) {
				row, vars = append(row, node), append(vars, trackable.NewVariable(nil))
			}
			if !b.addRow(row, vars) {
				t.Fatalf("%d single ones: the row isn't taken", single)
			}
			for i, node := range row {
				want[node] = vars[i]
			}
			if b.addRow(row[3:5], vars[3:5]) {
				t.Error("a node is bound twice, by two rows")
			}
			set(single/2, 0)
			set(single/2, nodes/2)
			for node := range want {
				if _, ok := slices.BinarySearch(row, node); !ok {
					if b.addRow([]int32{node}, vars[:1]) {
						t.Errorf("node %d is bound twice", node)
					}
					break
				}
			}
			if b.len() != len(want) {
				t.Errorf("%d single ones, every %d.: %d are bound, want %d", single, step, b.len(), len(want))
			}
			if got := maps.Collect(b.each()); !maps.Equal(got, want) {
				t.Errorf("%d single ones, every %d.: each yields others", single, step)
			}
			for node := range int32(nodes) {
				if got, ok := b.get(node); got != want[node] || ok != (got != nil) {
					t.Fatalf("%d single ones, every %d.: node %d is %v, want %v", single, step, node, got, want[node])
				}
			}
		}
	}
}
