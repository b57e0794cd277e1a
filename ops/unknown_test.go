package ops_test

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
)

// knowledge is how much of its arguments' shapes a trace is told.
var knowledge = map[string]func(x *tensor.Tensor) *ops.Value{
	"shapes known": func(x *tensor.Tensor) *ops.Value { return ops.Spec(x.DType(), x.Shape()...) },
	"sizes unknown": func(x *tensor.Tensor) *ops.Value {
		dims := make([]int, len(x.Shape()))
		for i := range dims {
			dims[i] = -1
		}
		return ops.Spec(x.DType(), dims...)
	},
	"ranks unknown": func(x *tensor.Tensor) *ops.Value { return ops.SpecOf(graph.Fact{DType: x.DType()}) },
}

// TestFunctionsTracedEqualEagerOnes runs every call of a function traced with
// all of the shapes known, with no size known and with no rank known.
func TestFunctionsTracedEqualEagerOnes(t *testing.T) {
	fixture := readFunctions(t)
	for name, f := range functionCalls() {
		for told, spec := range knowledge {
			t.Run(name+"/"+told, func(t *testing.T) {
				in := fixture.inputs(t)
				// Variables need their first values while the function is traced.
				constant := inputs{}
				for _, n := range []string{"v", "s1", "s2", "s3"} {
					constant[n] = in[n]
					delete(in, n)
				}
				traced := sameTraced(t, in, spec, func(s *ops.Scope, in inputs) []*ops.Value {
					for n, v := range constant {
						in[n] = v
					}
					return f(s, in)
				})
				for _, n := range traced.Function.Graph.Nodes() {
					if n.Def != nil && n.Def.Deprecation != nil {
						t.Errorf("TensorFlow refuses the op %s in new graphs: %s", n.Op, n.Def.Deprecation.Reason)
					}
				}
			})
		}
	}
}

// sameTraced fails the test unless f returns the same bits eagerly and as a
// trace whose arguments are known only as far as spec.
func sameTraced(t *testing.T, in inputs, spec func(*tensor.Tensor) *ops.Value, f func(s *ops.Scope, in inputs) []*ops.Value) *graph.Concrete {
	t.Helper()
	copied := func(s *ops.Scope, in inputs) []*ops.Value {
		own := inputs{}
		for k, v := range in {
			own[k] = v
		}
		return f(s, own)
	}
	want, err := function.New(copied, &function.Options{Mode: function.Eagerly}).Call(context.Background(), in)
	if err != nil {
		t.Fatal(err)
	}
	specs := inputs{}
	for k, v := range in {
		x, err := v.Tensor()
		if err != nil {
			t.Fatal(err)
		}
		specs[k] = spec(x)
	}
	traced := function.New(copied)
	c, err := traced.Trace(specs)
	if err != nil {
		t.Fatal(err)
	}
	got, err := traced.Call(context.Background(), in)
	if err != nil {
		t.Fatalf("%v\n%v", err, c)
	}
	if len(got) != len(want) {
		t.Fatalf("%d results, eager %d", len(got), len(want))
	}
	for i := range want {
		a, err := got[i].Tensor()
		if err != nil {
			t.Fatal(err)
		}
		b, err := want[i].Tensor()
		if err != nil {
			t.Fatal(err)
		}
		same := a.DType() == b.DType() && a.Shape().Equal(b.Shape())
		if a.DType().Fixed() {
			same = same && bytes.Equal(a.Bytes(), b.Bytes())
		} else {
			same = same && a.Equal(b)
		}
		if !same {
			t.Errorf("result %d is %v, eagerly %v\n%v", i, a, b, c)
		}
	}
	return c
}

func TestRandomNumbersLikeAValue(t *testing.T) {
	x := inputs{"x": ops.ValueOf(tensor.Must(tensor.Zeros(tensor.Float64, 3, 5)))}
	for told, spec := range knowledge {
		c := sameTraced(t, x, spec, func(s *ops.Scope, in inputs) []*ops.Value {
			r := ops.NewRandom(7)
			return []*ops.Value{ops.RandomUniformLike(s, r, in["x"]), ops.RandomNormalLike(s, r, in["x"]), ops.ReadVariable(s, r.State)}
		})
		if text := c.String(); strings.Contains(text, "Prod") == (told == "shapes known") {
			t.Errorf("%s: the trace is\n%v", told, c)
		}
	}
	s := eager()
	a, b := ops.NewRandom(7), ops.NewRandom(7)
	for range 2 {
		like, plain := ops.RandomNormalLike(s, a, x["x"]), ops.RandomNormal(s, b, tensor.Float64, 3, 5)
		if same, err := ops.Item[bool](ops.All(s, ops.Equal(s, like, plain))); err != nil || !same {
			t.Errorf("%v isn't %v: %v", like, plain, err)
		}
	}
}

func TestDropoutSortAndShuffleOfUnknownShapes(t *testing.T) {
	x := inputs{"x": ops.ValueOf(tensor.Must(tensor.New([]float32{3, 1, 2, 9, 7, 8}, 2, 3)))}
	for told, spec := range knowledge {
		t.Run(told, func(t *testing.T) {
			sameTraced(t, x, spec, func(s *ops.Scope, in inputs) []*ops.Value {
				r := ops.NewRandom(3)
				return []*ops.Value{ops.Dropout(s, r, in["x"], 0.4), ops.Shuffle(s, r, in["x"]), ops.Sort(s, in["x"]), ops.ReadVariable(s, r.State)}
			})
		})
	}
}

func TestManyZerosOfATraceAreNoConstant(t *testing.T) {
	c := sameTraced(t, inputs{}, nil, func(s *ops.Scope, _ inputs) []*ops.Value {
		return []*ops.Value{ops.Zeros(s, tensor.Float32, 100, 100), ops.Zeros(s, tensor.Float32, 3)}
	})
	if text := c.String(); len(c.Captures) != 0 || !strings.Contains(text, "Fill") {
		t.Errorf("the trace is\n%v", c)
	}
}
