package checkpoint

import (
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// TestRestoresAndUpdatesDontBlockEachOther restores very many small variables with a few
// large ones between them, while they are updated in any order, outside of steps. No
// reader sees half a value.
func TestRestoresAndUpdatesDontBlockEachOther(t *testing.T) {
	var m struct{ V []*trackable.Variable }
	for i := range 2000 {
		n := 2
		if i%500 == 250 {
			n = 50_000 // is read in pieces
		}
		v := make([]int32, n)
		for k := range v {
			v[k] = int32(i)
		}
		m.V = append(m.V, trackable.NewVariable(tensor.Vector(v...)))
	}
	ck, err := New(&m, nil)
	if err != nil {
		t.Fatal(err)
	}
	prefix := filepath.Join(t.TempDir(), "ck")
	if err := ck.Write(t.Context(), prefix); err != nil {
		t.Fatal(err)
	}
	backward := slices.Clone(m.V)
	slices.Reverse(backward)
	var ended atomic.Bool
	var wg sync.WaitGroup
	for _, list := range [][]*trackable.Variable{m.V, backward} {
		wg.Go(func() {
			for !ended.Load() {
				if err := trackable.UpdateAll(list, func(bufs []*tensor.Tensor) error {
					for i, b := range bufs {
						v := tensor.Values[int32](b)
						if v[0] != v[len(v)-1] {
							return fmt.Errorf("variable %d is %d and %d", i, v[0], v[len(v)-1])
						}
						for k := range v {
							v[k]++
						}
					}
					return nil
				}); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	for range 20 {
		if _, err := ck.Read(t.Context(), prefix, nil); err != nil {
			t.Error(err)
		}
	}
	ended.Store(true)
	wg.Wait()
	if _, err := ck.Read(t.Context(), prefix, nil); err != nil {
		t.Fatal(err)
	}
	for i, v := range m.V {
		if got := tensor.Values[int32](v.Load()); got[0] != int32(i) || got[len(got)-1] != int32(i) {
			t.Fatalf("variable %d is %d and %d after all", i, got[0], got[len(got)-1])
		}
	}
}
