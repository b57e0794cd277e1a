package checkpoint

import (
	"errors"
	"fmt"
	"testing"

	"github.com/cairnml/cairn/trackable"
)

type listedAndMapped struct {
	Listed []*trackable.Variable
	Mapped map[string]*trackable.Variable
}

type trackedLists struct {
	trackable.Base
	Listed *trackable.List[*trackable.Variable]
	Mapped *trackable.Map[*trackable.Variable]
}

// TestTwoObjectsWhereTheFileHasOne has two variables for one node of the file: the second
// gets no value, and both assertions fail, as TensorFlow's do.
func TestTwoObjectsWhereTheFileHasOne(t *testing.T) {
	one, two := variable(1), variable(2)
	src := written(t, &listedAndMapped{[]*trackable.Variable{one, two}, map[string]*trackable.Variable{"two": two}}, nil)
	check := func(t *testing.T, r *Report) {
		t.Helper()
		if err := r.AssertExistingObjectsMatched(); err == nil {
			t.Error("AssertExistingObjectsMatched holds")
		} else {
			t.Log(err)
		}
		if err := r.AssertConsumed(); err == nil {
			t.Error("AssertConsumed holds")
		}
	}
	lenient := &RestoreOptions{Partial: true, AllowMissing: true}
	t.Run("there", func(t *testing.T) {
		root := &listedAndMapped{[]*trackable.Variable{variable(0), variable(0)}, map[string]*trackable.Variable{"two": variable(0)}}
		r := restored(t, newCheckpoint(t, root, nil), src, lenient)
		if len(r.Missing) != 1 {
			t.Errorf("missing: %v", r.Missing)
		}
		check(t, r)
		if _, err := newCheckpoint(t, root, nil).RestoreFS(ctx, src, "ckpt", nil); err == nil {
			t.Error("a strict restore goes through")
		}
	})
	t.Run("the map comes later", func(t *testing.T) {
		root := &listedAndMapped{Listed: []*trackable.Variable{variable(0), variable(0)}}
		r := restored(t, newCheckpoint(t, root, nil), src, lenient)
		root.Mapped = map[string]*trackable.Variable{"two": variable(0)}
		check(t, r)
	})
	t.Run("the list comes later", func(t *testing.T) {
		root := &listedAndMapped{Mapped: map[string]*trackable.Variable{"two": variable(0)}}
		r := restored(t, newCheckpoint(t, root, nil), src, lenient)
		root.Listed = []*trackable.Variable{variable(0), variable(0)}
		check(t, r)
	})
	t.Run("both come later", func(t *testing.T) {
		root := &listedAndMapped{}
		r := restored(t, newCheckpoint(t, root, nil), src, lenient)
		root.Listed, root.Mapped = []*trackable.Variable{variable(0), variable(0)}, map[string]*trackable.Variable{"two": variable(0)}
		check(t, r)
	})
	for _, first := range []string{"list", "map"} {
		t.Run("tracked, the "+first+" first", func(t *testing.T) {
			root := &trackedLists{Listed: trackable.NewList[*trackable.Variable](), Mapped: trackable.NewMap[*trackable.Variable]()}
			r := restored(t, newCheckpoint(t, root, nil), src, lenient)
			for i := range 2 {
				if (i == 0) == (first == "list") {
					for range 2 {
						if err := root.Listed.Append(variable(0)); err != nil {
							t.Fatal(err)
						}
					}
				} else if err := root.Mapped.Set("two", variable(0)); err != nil {
					t.Fatal(err)
				}
			}
			check(t, r)
		})
	}
	for _, n := range []int{2, 3, 5000} {
		t.Run(fmt.Sprint("a root without a struct, ", n), func(t *testing.T) {
			list := func() (l []*trackable.Variable) {
				for range n {
					l = append(l, variable(1))
				}
				return l
			}
			saved := list()
			for _, name := range []string{"mapped", "first"} {
				src := written(t, map[string]any{"listed": saved, name: map[string]*trackable.Variable{"two": saved[1]}}, nil)
				root := map[string]any{"listed": list(), name: map[string]*trackable.Variable{"two": variable(0)}}
				check(t, restored(t, newCheckpoint(t, root, nil), src, lenient))
				root = map[string]any{"listed": list(), name: map[string]*trackable.Variable{}}
				r := restored(t, newCheckpoint(t, root, nil), src, lenient)
				root[name].(map[string]*trackable.Variable)["two"] = variable(0)
				check(t, r)
				root = map[string]any{"listed": list()}
				r = restored(t, newCheckpoint(t, root, nil), src, lenient)
				root[name] = map[string]*trackable.Variable{"two": variable(0)}
				check(t, r)
				tracked := &trackedLists{Listed: trackable.NewList(list()...), Mapped: trackable.NewMap[*trackable.Variable]()}
				r = restored(t, newCheckpoint(t, tracked, nil), src, lenient)
				if err := tracked.Mapped.Set("two", variable(0)); err != nil {
					t.Fatal(err)
				}
				check(t, r)
			}
		})
	}
	t.Run("made", func(t *testing.T) {
		src := written(t, &pairOfVariables{one, one}, nil)
		root := new(node)
		r := restored(t, newCheckpoint(t, root, nil), src, lenient)
		a := addScalar(t, &root.Base, "a", 0)
		b := addScalar(t, &root.Base, "b", 0)
		t.Log(floats(t, a), floats(t, b))
		check(t, r)
	})
}

type pairOfVariables struct{ A, B *trackable.Variable }

// TestAStrictRestoreRefusesTheSecondObject lets no program run on a variable for which the
// file has a value that went to another one.
func TestAStrictRestoreRefusesTheSecondObject(t *testing.T) {
	one, two := variable(1), variable(2)
	src := written(t, &listedAndMapped{[]*trackable.Variable{one, two}, map[string]*trackable.Variable{"two": two}}, nil)
	unfilled := func(t *testing.T, err error) {
		t.Helper()
		var u *UnfilledError
		if !errors.As(err, &u) {
			t.Errorf("error %v, want an UnfilledError", err)
		}
	}
	list := func() []*trackable.Variable { return []*trackable.Variable{variable(0), variable(0)} }
	t.Run("a map that comes later", func(t *testing.T) {
		root := &listedAndMapped{Listed: list()}
		ck := newCheckpoint(t, root, nil)
		restored(t, ck, src, nil)
		root.Mapped = map[string]*trackable.Variable{"two": variable(0)}
		unfilled(t, ck.Sync(ctx))
	})
	t.Run("an entry that comes later", func(t *testing.T) {
		root := &listedAndMapped{list(), map[string]*trackable.Variable{}}
		ck := newCheckpoint(t, root, nil)
		restored(t, ck, src, nil)
		root.Mapped["two"] = variable(0)
		unfilled(t, ck.Sync(ctx))
	})
	t.Run("an entry of a tracked map", func(t *testing.T) {
		root := &trackedLists{Listed: trackable.NewList(list()...), Mapped: trackable.NewMap[*trackable.Variable]()}
		restored(t, newCheckpoint(t, root, nil), src, nil)
		unfilled(t, root.Mapped.Set("two", variable(0)))
	})
	t.Run("the list comes later", func(t *testing.T) {
		root := &listedAndMapped{Mapped: map[string]*trackable.Variable{"two": variable(0)}}
		ck := newCheckpoint(t, root, nil)
		restored(t, ck, src, nil)
		root.Listed = list()
		unfilled(t, ck.Sync(ctx))
	})
	t.Run("a replaced variable keeps what it has", func(t *testing.T) {
		root := &listedAndMapped{Listed: list(), Mapped: map[string]*trackable.Variable{}}
		root.Mapped["two"] = root.Listed[1]
		ck := newCheckpoint(t, root, nil)
		restored(t, ck, src, nil)
		root.Listed[0] = variable(7)
		if err := ck.Sync(ctx); err != nil {
			t.Error(err)
		}
	})
	t.Run("a variable that is replaced after its delivery keeps what it has", func(t *testing.T) {
		root := &listedAndMapped{Mapped: map[string]*trackable.Variable{}}
		ck := newCheckpoint(t, root, nil)
		restored(t, ck, src, &RestoreOptions{Partial: true})
		for _, x := range []float32{0, 7} {
			root.Mapped["two"] = variable(x)
			if err := ck.Sync(ctx); err != nil {
				t.Error(err)
			}
		}
	})
}
