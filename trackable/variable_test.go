package trackable

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/cairnml/cairn/tensor"
)

func vec(x ...float32) *Variable { return NewVariable(tensor.Vector(x...)) }

func first(t testing.TB, x *tensor.Tensor) float32 {
	t.Helper()
	return tensor.Values[float32](x)[0]
}

func TestVariable(t *testing.T) {
	v := vec(1, 2)
	if v.DType() != tensor.Float32 || !v.Shape().Equal(tensor.Shape{2}) || !v.Trainable() || v.Name() != "Variable" {
		t.Errorf("%v %v %v %q", v.DType(), v.Shape(), v.Trainable(), v.Name())
	}
	if v.Named("a/b").Name() != "a/b" || v.SetTrainable(false).Trainable() {
		t.Error("Named or SetTrainable")
	}
	for _, bad := range []*tensor.Tensor{tensor.Vector[float32](1), tensor.Vector[float64](1, 2), nil} {
		if err := v.Store(bad); err == nil {
			t.Errorf("Store(%v) is accepted", bad)
		}
	}
	var se *ShapeError
	if err := v.Store(tensor.Vector[float32](1)); !errors.As(err, &se) || !se.GotShape.Equal(tensor.Shape{1}) {
		t.Errorf("error %v, want a ShapeError", err)
	}
	v.SetShape(tensor.Shape{-1})
	if err := v.Store(tensor.Vector[float32](7)); err != nil {
		t.Error(err)
	}
	if err := v.Store(tensor.Scalar[float32](7)); err == nil {
		t.Error("another rank is accepted")
	}
	none := NewVariable(nil)
	if none.Load() != nil || none.DType() != tensor.Invalid || none.Shape() != nil {
		t.Error("a variable without a value has one")
	}
	if err := none.Update(func(*tensor.Tensor) error { return nil }); err == nil {
		t.Error("a variable without a value is updated")
	}
	if x, release := none.Borrow(); x != nil {
		t.Error(x)
	} else {
		release()
	}
}

// TestCopyOnWrite checks that a loaded value never changes, and that storage
// without other references is updated in place.
func TestCopyOnWrite(t *testing.T) {
	v := vec(1)
	var place *float32
	set := func(x float32) (moved bool) {
		err := v.Update(func(buf *tensor.Tensor) error {
			p := &tensor.Values[float32](buf)[0]
			moved, place = p != place, p
			*p = x
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return moved
	}
	set(2)
	if set(3) {
		t.Error("an update of what nobody holds moved")
	}
	held := v.Load()
	if !set(4) || first(t, held) != 3 {
		t.Errorf("what Load gave is %v, want 3", first(t, held))
	}
	if set(5) {
		t.Error("the copy was copied")
	}
	x, release := v.Borrow()
	y, release2 := v.Borrow()
	release2()
	if !set(6) || first(t, x) != 5 || first(t, y) != 5 {
		t.Error("a borrowed value changed")
	}
	release()
	x, release = v.Borrow()
	release()
	release() // twice does nothing
	if set(7) || first(t, x) != 7 {
		t.Error("an update after release moved")
	}
	shared := tensor.Vector[float32](8)
	if err := v.StoreShared(shared); err != nil {
		t.Fatal(err)
	}
	if !set(9) || first(t, shared) != 8 {
		t.Error("a shared tensor was written")
	}
	// Overwriting doesn't copy, and doesn't change values that others hold.
	held = v.Load()
	err := restoreAll([]*Variable{v}, func(int) tensor.Shape { return tensor.Shape{1} }, func(bufs []*tensor.Tensor) error {
		tensor.Values[float32](bufs[0])[0] = 10
		return nil
	}, nil)
	if err != nil || first(t, held) != 9 || first(t, v.Load()) != 10 {
		t.Errorf("%v %v %v", err, first(t, held), first(t, v.Load()))
	}
	if err := restoreAll([]*Variable{v}, func(int) tensor.Shape { return tensor.Shape{2} }, nil, nil); err == nil {
		t.Error("another shape is overwritten")
	}
	if err := UpdateAll([]*Variable{v, v}, nil); err == nil {
		t.Error("a variable is updated twice at once")
	}
	if err := UpdateAll([]*Variable{nil}, nil); err == nil {
		t.Error("a nil variable is updated")
	}
}

// TestUpdateAllInAnyOrder: goroutines that name the variables in different
// orders don't block each other, and no update is lost.
func TestUpdateAllInAnyOrder(t *testing.T) {
	a, b := vec(0), vec(0)
	var wg sync.WaitGroup
	for i := range 8 {
		vars := []*Variable{a, b}
		if i%2 == 1 {
			vars = []*Variable{b, a}
		}
		wg.Go(func() {
			for range 500 {
				_ = UpdateAll(vars, func(bufs []*tensor.Tensor) error {
					for _, buf := range bufs {
						tensor.Values[float32](buf)[0]++
					}
					return nil
				})
				a.Load()
				_, release := b.Borrow()
				release()
			}
		})
	}
	wg.Wait()
	if first(t, a.Load()) != 4000 || first(t, b.Load()) != 4000 {
		t.Errorf("%v %v, want 4000", first(t, a.Load()), first(t, b.Load()))
	}
}

func TestScalar(t *testing.T) {
	s := NewScalar[int64](5)
	before := s.Load()
	if s.Add(2) != 7 || s.Get() != 7 {
		t.Error(s.Get())
	}
	if x, _ := tensor.Item[int64](before); x != 5 {
		t.Errorf("what Load gave became %d", x)
	}
	s.Set(-1)
	if s.Change(func(x int64) int64 { return x * 3 }) != -3 {
		t.Error(s.Get())
	}
	if NewScalar("a").Add("b") != "ab" || !NewScalar(false).Add(true) || NewScalar[float32](0.5).Add(0.25) != 0.75 ||
		NewScalar[complex64](1).Add(2i) != 1+2i || NewScalar[uint8](255).Add(2) != 1 {
		t.Error("Add")
	}
	var zero Scalar[int32]
	if zero.Get() != 0 || zero.Add(3) != 3 {
		t.Error("the zero Scalar")
	}
	defer func() {
		if recover() == nil {
			t.Error("adding halves doesn't panic")
		}
	}()
	NewScalar[tensor.F16](0).Add(1)
}

func TestScalarConcurrent(t *testing.T) {
	s := NewScalar[int32](0)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 1000 {
				s.Add(1)
				s.Load()
			}
		})
	}
	wg.Wait()
	if s.Get() != 8000 {
		t.Error(s.Get())
	}
}

// TestVariablesPrintWhatTheyAre: a variable's name, type and shape, and nothing of how
// it is kept.
func TestVariablesPrintWhatTheyAre(t *testing.T) {
	value, err := tensor.New([]float32{1, 2, 3, 4, 5, 6}, 2, 3)
	if err != nil {
		t.Fatal(err)
	}
	named := NewVariable(value).Named("dense/kernel")
	for _, c := range []struct {
		v    fmt.Stringer
		want string
	}{
		{new(Variable), "Variable: without a value"},
		{named, "Variable dense/kernel: float32[2,3]"},
		{NewScalar[int64](7), "Variable: int64[]"},
	} {
		if got := fmt.Sprint(c.v); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// TestVariableOfAnotherOnesValueHasItsOwn checks that changing a copy of a variable, such
// as the initial value of an average, changes neither the variable nor a value loaded from
// it.
func TestVariableOfAnotherOnesValueHasItsOwn(t *testing.T) {
	add := func(v *Variable, x float32) {
		t.Helper()
		if err := v.Update(func(buf *tensor.Tensor) error {
			for i := range tensor.Values[float32](buf) {
				tensor.Values[float32](buf)[i] += x
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	for name, copied := range map[string]func(held *tensor.Tensor) *Variable{
		"made": NewVariable,
		"stored": func(held *tensor.Tensor) *Variable {
			v := NewVariable(tensor.Vector[float32](0, 0))
			if err := v.Store(held); err != nil {
				t.Fatal(err)
			}
			return v
		},
		"reshaped": func(held *tensor.Tensor) *Variable {
			again, err := held.Reshape(2)
			if err != nil {
				t.Fatal(err)
			}
			return NewVariable(again)
		},
		"restored": func(held *tensor.Tensor) *Variable {
			v := NewVariable(held)
			if err := restoreAll([]*Variable{v}, func(int) tensor.Shape { return tensor.Shape{2} }, func(bufs []*tensor.Tensor) error {
				copy(tensor.Values[float32](bufs[0]), []float32{1, 2})
				return nil
			}, nil); err != nil {
				t.Fatal(err)
			}
			return v
		},
	} {
		v := NewVariable(tensor.Vector[float32](1, 2))
		held := v.Load()
		w := copied(held)
		add(w, 10)
		add(v, 100)
		for what, c := range map[string]struct{ got, want *tensor.Tensor }{
			"the other one": {w.Load(), tensor.Vector[float32](11, 12)},
			"the variable":  {v.Load(), tensor.Vector[float32](101, 102)},
			"what was held": {held, tensor.Vector[float32](1, 2)},
		} {
			if !c.got.Equal(c.want) {
				t.Errorf("%s: %s is %v, want %v", name, what, tensor.Values[float32](c.got), tensor.Values[float32](c.want))
			}
		}
	}
}
