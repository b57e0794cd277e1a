package trackable

import (
	"errors"
	"slices"
	"sync"
	"testing"

	"github.com/cairnml/cairn/tensor"
)

func manyVariables(n int) []*Variable {
	vars := make([]*Variable, n)
	for i := range vars {
		vars[i] = NewVariable(tensor.Scalar(int32(i)))
	}
	return vars
}

// TestLocksOfManyVariablesDontBlockEachOther, in whatever order they are asked for and
// while others hold some of them.
func TestLocksOfManyVariablesDontBlockEachOther(t *testing.T) {
	vars := manyVariables(3*lockShare + 7)
	backward := slices.Clone(vars)
	slices.Reverse(backward)
	var wg sync.WaitGroup
	const rounds = 5
	for _, list := range [][]*Variable{vars, backward, vars[lockShare : 2*lockShare+100]} {
		wg.Go(func() {
			for range rounds {
				if err := restoreAll(list, func(int) tensor.Shape { return tensor.Shape{} }, func(bufs []*tensor.Tensor) error {
					for i, b := range bufs {
						if want := list[i].cell.Load().t; b != want {
							return errors.New("a buffer of another variable")
						}
						tensor.Values[int32](b)[0]++
					}
					return nil
				}, nil); err != nil {
					t.Error(err)
				}
			}
		})
		wg.Go(func() {
			for range rounds {
				if err := UpdateAll(list, func(bufs []*tensor.Tensor) error {
					for _, b := range bufs {
						tensor.Values[int32](b)[0]++
					}
					return nil
				}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	for i, v := range vars {
		changes := 4 * rounds
		if i >= lockShare && i < 2*lockShare+100 {
			changes = 6 * rounds
		}
		if got := tensor.Values[int32](v.Load())[0]; got != int32(i+changes) {
			t.Fatalf("variable %d is %d, want %d", i, got, i+changes)
		}
	}
}

// TestLocksAreGivenBack checks that all locks are released after a failure at
// any index of a long list.
func TestLocksAreGivenBack(t *testing.T) {
	vars := manyVariables(3 * lockShare)
	broken := errors.New("broken")
	shape := func(int) tensor.Shape { return tensor.Shape{} }
	fill := func([]*tensor.Tensor) error { return nil }
	with := func(at int, v *Variable) []*Variable {
		list := slices.Clone(vars)
		list[at] = v
		return list
	}
	for name, f := range map[string]func() error{
		"nothing there": func() error { return restoreAll(with(2*lockShare, nil), shape, fill, nil) },
		"twice":         func() error { return restoreAll(with(2*lockShare+1, vars[3]), shape, fill, nil) },
		"twice in an update": func() error {
			return UpdateAll(with(5, vars[3*lockShare-1]), fill)
		},
		"without a value": func() error { return restoreAll(with(lockShare, new(Variable)), shape, fill, nil) },
		"another shape": func() error {
			return restoreAll(vars, func(i int) tensor.Shape {
				if i == 2*lockShare+70 {
					return tensor.Shape{1}
				}
				return tensor.Shape{}
			}, fill, nil)
		},
		"a failure": func() error { return restoreAll(vars, shape, func([]*tensor.Tensor) error { return broken }, nil) },
		"a panic": func() (err error) {
			defer func() { recover(); err = broken }()
			return restoreAll(vars, shape, func([]*tensor.Tensor) error { panic(broken) }, nil)
		},
	} {
		if err := f(); err == nil {
			t.Errorf("%s: no error", name)
		}
		for i, v := range vars {
			if !v.mu.TryLock() {
				t.Fatalf("%s: variable %d is still locked", name, i)
			}
			v.mu.Unlock()
		}
		if slices.ContainsFunc(vars, (*Variable).isWritten) {
			t.Fatalf("%s: a variable counts as written", name)
		}
	}
}
