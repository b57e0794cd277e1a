package kernel_test

import (
	"bytes"
	"context"
	"slices"
	"testing"

	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/internal/testkit/opfixture"
	"github.com/cairnml/cairn/kernel"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// anyInput are the inputs of a call of an op that are no variables.
type anyInput struct{ X []*ops.Value }

// fixtureCall is a fixture as a program that can run eagerly or traced.
type fixtureCall struct {
	f    opfixture.Fixture
	vars []*trackable.Variable
	in   anyInput
}

func newFixtureCall(t *testing.T, f opfixture.Fixture) *fixtureCall {
	c := &fixtureCall{f: f}
	for i, x := range f.In {
		if i < f.Vars {
			c.vars = append(c.vars, trackable.NewVariable(x.Tensor(t)).Named("v"))
		} else {
			c.in.X = append(c.in.X, ops.ValueOf(x.Tensor(t)))
		}
	}
	return c
}

func (c *fixtureCall) run(t *testing.T, mode function.Mode) ([]*ops.Value, error) {
	fn := function.New(func(s *ops.Scope, in anyInput) []*ops.Value {
		var inputs []ops.Input
		for _, v := range c.vars {
			inputs = append(inputs, ops.Handle(s, v))
		}
		for _, x := range in.X {
			inputs = append(inputs, x)
		}
		return s.Emit(c.f.Op, c.f.EngineAttrs(t), inputs...)
	}, &function.Options{Mode: mode})
	return fn.Call(context.Background(), c.in)
}

// TestTracedCallsEqualEagerOnes runs every fixture both ways.
func TestTracedCallsEqualEagerOnes(t *testing.T) {
	fixtures := opfixture.Load(t, "testdata/tf2.21")
	set := kernel.All()
	for op, cases := range fixtures {
		if set.Lookup(op) == nil || withoutFixture[op] {
			continue
		}
		t.Run(op, func(t *testing.T) {
			for _, f := range cases {
				eager, traced := newFixtureCall(t, f), newFixtureCall(t, f)
				want, err := eager.run(t, function.Eagerly)
				if err != nil {
					t.Errorf("%v: %v", f, err)
					continue
				}
				got, err := traced.run(t, function.Traced)
				if err != nil {
					t.Errorf("%v: traced: %v", f, err)
					continue
				}
				for i := range want {
					a, errA := want[i].Tensor()
					b, errB := got[i].Tensor()
					if errA != nil || errB != nil || !sameBits(a, b) {
						t.Errorf("%v: output %d differs: eager %v %v, traced %v %v", f, i, a, errA, b, errB)
					}
				}
				for i := range eager.vars {
					if !sameBits(eager.vars[i].Load(), traced.vars[i].Load()) {
						t.Errorf("%v: variable %d differs afterwards", f, i)
					}
				}
			}
		})
	}
}

func sameBits(a, b *tensor.Tensor) bool {
	if a.DType() != b.DType() || !a.Shape().Equal(b.Shape()) {
		return false
	}
	if a.DType().Fixed() {
		return bytes.Equal(a.Bytes(), b.Bytes())
	}
	return slices.Equal(tensor.Values[string](a), tensor.Values[string](b))
}
