package trackable

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairnml/cairn/tensor"
)

type Layer struct {
	Base
	Kernel, Bias *Variable
}

func (*Layer) ScopeName() string { return "" }

func (l *Layer) build(t testing.TB) {
	t.Helper()
	for _, err := range []error{l.AddVariable(&l.Kernel, "kernel", VariableSpec{}), l.AddVariable(&l.Bias, "bias", VariableSpec{Name: "b/b"})} {
		if err != nil {
			t.Fatal(err)
		}
	}
}

type Network struct {
	Base
	L1, L2 *Layer
	Free   *Variable
	Holder *struct{ L3 *Layer }
}

func (*Network) ScopeName() string { return "net" }

type silentScope struct {
	Base
	L *Layer
}

func (*silentScope) ScopeName() string { return "/" }

type opt struct {
	Base
	Slots
}

func (*opt) ScopeName() string { return "Adam" }

func TestFullNames(t *testing.T) {
	n := &Network{L1: new(Layer), L2: new(Layer), Free: vec(1), Holder: &struct{ L3 *Layer }{new(Layer)}}
	for _, l := range []*Layer{n.L1, n.L2, n.Holder.L3} {
		l.build(t)
	}
	s := &silentScope{L: new(Layer)}
	s.L.build(t)
	o := new(opt)
	o.DeclareSlots("m")
	if _, err := o.SlotOr(n.L1.Kernel, "m", nil); err != nil {
		t.Fatal(err)
	}
	if err := o.AddVariable(nil, "iter", VariableSpec{}); err != nil {
		t.Fatal(err)
	}
	root := &struct {
		Net   *Network
		S     *silentScope
		O     *opt
		Named *Variable
	}{n, s, o, vec(1).Named("given/name")}
	g, err := Walk(root, nil)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for i := range g.Nodes {
		if g.Nodes[i].FullName != "" {
			got[g.Nodes[i].Path] = g.Nodes[i].FullName
		}
	}
	// Numbers go depth first: net's third layer before s's.
	want := map[string]string{
		"net/l1/kernel": "net/layer/kernel", "net/l1/bias": "net/layer/b/b",
		"net/l2/kernel": "net/layer_1/kernel", "net/l2/bias": "net/layer_1/b/b",
		"net/holder/l3/kernel": "net/layer_2/kernel", "net/holder/l3/bias": "net/layer_2/b/b",
		"net/free": "Variable", "s/l/kernel": "layer_3/kernel", "s/l/bias": "layer_3/b/b",
		"o/iter": "Adam/iter", "named": "given/name",
		"net/l1/kernel/.OPTIMIZER_SLOT/o/m": "Adam/net/layer/kernel/m",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("full names (-want +got):\n%s", d)
	}
}

func TestWalk(t *testing.T) {
	shared := vec(1)
	a := &struct {
		B, A *leaf
		Self any
	}{B: &leaf{shared}, A: &leaf{shared}}
	a.Self = &[]any{a, shared}
	describe := func(g *Graph) (out []string) {
		for id, n := range g.Nodes {
			var edges []string
			for _, e := range n.Edges {
				edges = append(edges, fmt.Sprint(e.Name, "→", e.ID))
			}
			out = append(out, fmt.Sprintf("%d %q %s: %s", id, n.Path, g.Human(id), strings.Join(edges, " ")))
		}
		return out
	}
	g, err := Walk(a, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{`0 "" (root): b→1 a→2 self→3`, `1 "b" b: v→4`, `2 "a" a: v→4`, `3 "self" self: 0→0 1→4`, `4 "b/v" b.v: `}
	if d := cmp.Diff(want, describe(g)); d != "" {
		t.Errorf("graph (-want +got):\n%s", d)
	}
	if id, ok := g.ID(shared); !ok || id != 4 {
		t.Error(id, ok)
	}
	if _, ok := g.ID(vec(1)); ok {
		t.Error("an object that isn't there is found")
	}
	if _, ok := g.ID(nil); ok {
		t.Error("nil is found")
	}
	g, err = Walk(a, &WalkOptions{SortRoot: true, Extra: []Edge{{"a", a.A}, {"x/y", vec(2)}}})
	if err != nil {
		t.Fatal(err)
	}
	want = []string{`0 "" (root): a→1 b→2 self→3 x/y→4`, `1 "a" a: v→5`, `2 "b" b: v→5`, `3 "self" self: 0→0 1→5`, `4 "x.Sy" x/y: `, `5 "a/v" a.v: `}
	if d := cmp.Diff(want, describe(g)); d != "" {
		t.Errorf("graph (-want +got):\n%s", d)
	}
	vars, err := Variables(a)
	if err != nil || len(vars) != 1 || vars[0] != shared {
		t.Error(vars, err)
	}
	for _, bad := range []any{nil, 3, "x", leaf{}, (*leaf)(nil), &struct{ x *Variable }{}} {
		if _, err := Walk(bad, nil); err == nil {
			t.Errorf("Walk(%T) is accepted", bad)
		}
	}
	if _, err := Walk(a, &WalkOptions{Extra: []Edge{{"a", vec(1)}}}); err == nil {
		t.Error("an extra edge that clashes is accepted")
	}
	// An edge without a name is still a step of the path.
	m := NewMap[any]()
	if err := m.Set("", &leaf{shared}); err != nil {
		t.Fatal(err)
	}
	if g, err = Walk(m, nil); err != nil || g.Nodes[1].Path != "" || g.Nodes[2].Path != "/v" {
		t.Errorf("%v, %+v", err, g.Nodes)
	}
	// The error contains the path.
	_, err = Walk(&struct {
		Deep *struct{ Map map[int]*Variable }
	}{&struct{ Map map[int]*Variable }{map[int]*Variable{1: shared}}}, nil)
	if err == nil || !strings.Contains(err.Error(), "deep.map") {
		t.Errorf("error %v", err)
	}
}

func TestSlots(t *testing.T) {
	o, a, b := new(opt), vec(1, 2), vec(3)
	o.DeclareSlots("m", "v", "m")
	if d := cmp.Diff([]string{"m", "v"}, o.SlotNames()); d != "" {
		t.Error(d)
	}
	if _, err := o.SlotOr(a, "x", nil); err == nil {
		t.Error("an undeclared slot is made")
	}
	for _, name := range []string{"v", "m"} {
		for _, v := range []*Variable{b, a} {
			s, err := o.SlotOr(v, name, nil)
			if err != nil || !s.Shape().Equal(v.Shape()) || s.Trainable() {
				t.Error(err, s)
			}
			again, _ := o.SlotOr(v, name, func() (*tensor.Tensor, error) { panic("made twice") })
			if again != s || o.Slot(v, name) != s {
				t.Error("a slot is made twice")
			}
		}
	}
	g, err := Walk(&struct {
		O    *opt
		A, B *Variable
	}{o, a, b}, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := []SlotRef{{"m", 2, 4}, {"m", 3, 5}, {"v", 2, 6}, {"v", 3, 7}}
	if d := cmp.Diff(want, g.Nodes[1].Slots); d != "" {
		t.Errorf("slots (-want +got):\n%s", d)
	}
	if n := g.Nodes[4]; !n.IsSlot || g.Human(4) != "a/.OPTIMIZER_SLOT/o/m" {
		t.Errorf("%+v", n)
	}
	g, err = Walk(&struct {
		O *opt
		A *Variable
	}{o, a}, &WalkOptions{NoSlots: true})
	if err != nil || len(g.Nodes) != 3 {
		t.Error(len(g.Nodes), err)
	}
}
