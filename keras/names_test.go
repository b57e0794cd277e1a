package keras

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairnml/cairn/keras/layers"
	"github.com/cairnml/cairn/keras/optimizers"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/trackable"
)

type encoder struct {
	Model
	D *layers.Dense
}

func (e *encoder) Call(s *ops.Scope, x ops.Input) *ops.Value { return e.D.Call(s, x) }

func (e *encoder) ScopeName() string { return "encoder" }

type bigNet struct {
	Model
	A, B *layers.Dense
	Enc  *encoder
}

func (n *bigNet) ScopeName() string { return "big_net" }

func (n *bigNet) Call(s *ops.Scope, x ops.Input) *ops.Value {
	return n.Enc.Call(s, n.B.Call(s, n.A.Call(s, x)))
}

func fullNames(t *testing.T, root any, sorted bool) map[string]string {
	t.Helper()
	g, err := trackable.Walk(root, &trackable.WalkOptions{SortRoot: sorted})
	must(t, err)
	out := map[string]string{}
	for id := range g.Nodes {
		if g.Nodes[id].Variable() != nil {
			out[g.Human(id)] = g.Nodes[id].FullName
		}
	}
	return out
}

// TestPartsOfAModelAreNamedBelowIt checks a root that holds a part of a model as
// well as the model: the part's variables have TensorFlow's names.
func TestPartsOfAModelAreNamedBelowIt(t *testing.T) {
	net := &bigNet{A: dense(2), B: dense(2), Enc: &encoder{D: dense(2)}}
	net.Call(scope(t), mat(1, 2, 1, 2))
	want := map[string]string{
		"enc.d.kernel": "big_net/encoder/dense_2/kernel", "enc.d.bias": "big_net/encoder/dense_2/bias",
		"net.a.kernel": "big_net/dense/kernel", "net.a.bias": "big_net/dense/bias",
		"net.b.kernel": "big_net/dense_1/kernel", "net.b.bias": "big_net/dense_1/bias",
	}
	root := &struct {
		Enc *encoder
		Net *bigNet
	}{net.Enc, net}
	if d := cmp.Diff(want, fullNames(t, root, true)); d != "" {
		t.Errorf("full names (-TensorFlow +ours):\n%s", d)
	}
	// A variable that the root holds itself, and an optimizer before the model.
	opt := optimizers.NewAdam(0.1)
	must(t, opt.Build(Trainable(net.A)))
	names := fullNames(t, &struct {
		K   *trackable.Variable
		Adm *optimizers.Adam
		Net *bigNet
	}{net.B.Kernel, opt, net}, true)
	if names["k"] != "big_net/dense_1/kernel" || names["adm.iter"] != "Adam/iter" {
		t.Errorf("names %v", names)
	}
	// Models that hold each other are named all the same.
	type other struct {
		Model
		Back *bigNet
		D    *layers.Dense
	}
	loop := &struct{ A, B any }{&other{Back: net}, net}
	if got := fullNames(t, loop, true); len(got) != 6 {
		t.Errorf("names %v", got)
	}
}

// TestSetName: a layer's name can be set by the method and by the field.
func TestSetName(t *testing.T) {
	for _, name := range []string{"", "head"} {
		d := dense(2)
		d.SetName(name)
		d.Call(scope(t), mat(1, 2, 1, 2))
		want := "dense/kernel"
		if name != "" {
			want = name + "/kernel"
		}
		if got := fullNames(t, &struct{ D *layers.Dense }{d}, true)["d.kernel"]; got != want {
			t.Errorf("after SetName(%q) the kernel is %q, want %q", name, got, want)
		}
	}
	for _, l := range []interface {
		SetName(string)
		ScopeName() string
	}{new(layers.Flatten), new(layers.Dropout), new(layers.InputLayer), new(Model), new(Layer)} {
		if l.SetName("x"); l.ScopeName() != "x" {
			t.Errorf("%T: the name is %q", l, l.ScopeName())
		}
	}
}

// TestSequentialModelsNameNothing compares the names of the variables of sequential models
// with those that tf_keras assigns to equal models.
func TestSequentialModelsNameNothing(t *testing.T) {
	type outer struct {
		Model
		A *Sequential
		B *layers.Dense
	}
	inner := Named("inner", NewSequential(dense(2)))
	o := Named("outer", &outer{A: inner, B: Named("b", dense(1))})
	s := scope(t)
	o.B.Call(s, o.A.Call(s, mat(1, 2, 1, 2)))
	net := Named("net", NewSequential(Named("in1", NewSequential(dense(2))), dense(1)))
	net.Call(s, mat(1, 2, 1, 2))
	must(t, s.Err())
	for _, c := range []struct {
		root any
		want map[string]string
	}{
		{o, map[string]string{"a.layer-0.kernel": "dense/kernel", "a.layer-0.bias": "dense/bias", "b.kernel": "outer/b/kernel", "b.bias": "outer/b/bias"}},
		{net, map[string]string{"layer-0.layer-0.kernel": "dense/kernel", "layer-0.layer-0.bias": "dense/bias", "layer-1.kernel": "dense_1/kernel", "layer-1.bias": "dense_1/bias"}},
	} {
		got := map[string]string{}
		for path, name := range fullNames(t, c.root, false) {
			got[strings.ReplaceAll(path, "layer_with_weights-", "layer-")] = name
		}
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("full names (-tf_keras +ours):\n%s", d)
		}
	}
}
