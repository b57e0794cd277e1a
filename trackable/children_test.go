package trackable

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cairnml/cairn/internal/restoring"
	"github.com/cairnml/cairn/tensor"
)

func edgeNames(t testing.TB, obj any) []string {
	t.Helper()
	edges, err := Children(obj)
	if err != nil {
		t.Fatal(err)
	}
	names := []string{}
	for _, e := range edges {
		names = append(names, e.Name)
	}
	return names
}

type leaf struct{ V *Variable }

type deepConfig struct {
	Next  *deepConfig
	Names []string
	When  time.Time
}

type kitchen struct {
	Base
	A       *Variable
	B       Variable // by value
	C       *Scalar[int32]
	Leaf    *leaf
	ByValue leaf
	Slice   []*leaf
	Values  []leaf
	Array   [2]*Variable
	Map     map[string]*leaf
	Nested  [][]*Variable
	Any     any
	Iface   Parent
	Renamed *Variable `cairn:"new name"`
	Left    *Variable `cairn:"-"`
	NilPtr  *Variable
	NilList []*Variable
	// Nothing of these is tracked.
	Config  *deepConfig
	Floats  []float32
	Text    string
	Func    func(*Variable)
	Ctx     context.Context
	Atomic  atomic.Pointer[Variable]
	private int
}

func TestChildrenOfStructs(t *testing.T) {
	v := vec(1)
	k := &kitchen{
		A: v, C: NewScalar[int32](1), Leaf: &leaf{v}, Slice: []*leaf{{}}, Values: make([]leaf, 2),
		Array: [2]*Variable{1: v}, Map: map[string]*leaf{"z": {}, "a": {}}, Nested: [][]*Variable{{v}, nil, {}},
		Any: &leaf{v}, Iface: NewList[any](v), Renamed: v, Left: v, Config: new(deepConfig), Ctx: context.Background(), private: 1,
	}
	if err := k.Attach("dynamic", vec(2)); err != nil {
		t.Fatal(err)
	}
	want := []string{"a", "b", "c", "leaf", "by_value", "slice", "values", "array", "map", "nested", "any", "iface", "new name", "dynamic"}
	if d := cmp.Diff(want, edgeNames(t, k)); d != "" {
		t.Errorf("edges (-want +got):\n%s", d)
	}
	for _, c := range []struct {
		obj  any
		want []string
	}{
		{&k.Slice, []string{"0"}},
		{&k.Values, []string{"0", "1"}},
		{&k.Array, []string{"1"}},
		{&k.Map, []string{"a", "z"}},
		{&k.Nested, []string{"0", "2"}},
		{v, []string{}},
		{k.C, []string{}},
	} {
		if d := cmp.Diff(c.want, edgeNames(t, c.obj)); d != "" {
			t.Errorf("edges of %T (-want +got):\n%s", c.obj, d)
		}
	}
	if d := cmp.Diff([]string{"v"}, edgeNames(t, &leaf{v})); d != "" {
		t.Error(d)
	}
}

// Embedded structs: their fields are the outer one's, in their place.
type inner struct {
	Base
	In *Variable
}

type outer struct {
	Before *Variable
	inner
	After *Variable
}

type listing struct {
	Base
	hidden []*Variable `cairn:"-"`
}

func (l *listing) TrackableChildren() []Edge {
	edges := []Edge{{"nothing", (*Variable)(nil)}}
	for i, v := range l.hidden {
		edges = append(edges, Edge{"layer-" + string(rune('0'+i)), v})
	}
	return edges
}

type Listing = listing

type grown struct {
	Listing
	Extra *Variable
}

type overridden struct {
	Listing
	Extra *Variable
}

func (o *overridden) TrackableChildren() []Edge { return []Edge{{"only", o.Extra}} }

type part struct {
	Variable
	Also *Variable
}

func TestEmbedding(t *testing.T) {
	v := vec(1)
	for _, c := range []struct {
		obj  any
		want []string
	}{
		{&outer{Before: v, inner: inner{In: v}, After: v}, []string{"before", "in", "after"}},
		{&grown{Listing: Listing{hidden: []*Variable{v, v}}, Extra: v}, []string{"layer-0", "layer-1", "extra"}},
		{&overridden{Listing: Listing{hidden: []*Variable{v}}, Extra: v}, []string{"only"}},
		{&part{Also: v}, []string{"also"}},
	} {
		if d := cmp.Diff(c.want, edgeNames(t, c.obj)); d != "" {
			t.Errorf("edges of %T (-want +got):\n%s", c.obj, d)
		}
	}
	p := new(part)
	p.Init(tensor.Scalar[float32](1))
	if Identity(p) != Identity(&p.Variable) {
		t.Error("a struct that embeds a variable and the variable are two")
	}
}

type optimizerLike struct {
	Base
	Slots
	V *Variable
}

type silent struct{ V *Variable }

func (*silent) NotTracked() {}

// TestChildrenErrors checks that errors name the object that can't be tracked.
func TestChildrenErrors(t *testing.T) {
	v := vec(1)
	for _, c := range []struct {
		name string
		obj  any
		want []string
	}{
		{"an unexported variable", &struct{ hidden *Variable }{v}, []string{"hidden", "isn't exported"}},
		{"an unexported nil layer", &struct{ l1 *leaf }{}, []string{"l1", "isn't exported"}},
		{"an unexported list", &struct{ vars []*Variable }{}, []string{"vars", "isn't exported"}},
		{"an unexported interface", &struct{ x any }{v}, []string{"x", "isn't exported"}},
		{"two fields of one name", &struct {
			A *Variable
			B *Variable `cairn:"a"`
		}{v, v}, []string{"A", "B", `"a"`}},
		{"integer keys", &map[int]*Variable{1: v}, []string{"no strings"}},
		{"structs in a map", &map[string]leaf{"a": {}}, []string{`"a"`, "pointers"}},
		{"a struct in an interface", &struct{ X any }{leaf{}}, []string{"X", "pointer"}},
		{"a useless tag", &struct {
			N int `cairn:"n"`
		}{}, []string{"N", "int"}},
		{"an embedded pointer", &struct{ *inner }{}, []string{"inner", "embed"}},
		{"no pointer", leaf{}, []string{"pointer"}},
		{"nil", nil, []string{"pointer"}},
		{"a nil pointer", (*leaf)(nil), []string{"pointer"}},
	} {
		_, err := Children(c.obj)
		if err == nil {
			t.Errorf("%s: accepted", c.name)
			continue
		}
		for _, w := range c.want {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("%s: %v doesn't say %q", c.name, err, w)
			}
		}
	}
	// Fine although they look like it.
	for _, obj := range []any{
		&struct{ hidden any }{}, &struct{ hidden any }{"text"}, &struct{ ctx context.Context }{context.Background()},
		&struct{ S *silent }{&silent{v}}, &optimizerLike{V: v}, &map[int]*Variable{}, &struct {
			h *Variable `cairn:"-"`
		}{v},
	} {
		if _, err := Children(obj); err != nil {
			t.Errorf("%T: %v", obj, err)
		}
	}
	if names := edgeNames(t, &struct{ S *silent }{&silent{v}}); len(names) > 0 {
		t.Errorf("an untracked object is tracked: %q", names)
	}
	k := new(kitchen)
	if err := k.Attach("a", vec(1)); err != nil {
		t.Fatal(err)
	}
	k.A = vec(2)
	var de *DuplicateEdgeError
	if _, err := Children(k); !errors.As(err, &de) || de.Edge != "a" {
		t.Errorf("error %v, want a DuplicateEdgeError", err)
	}
	for _, bad := range []any{nil, 3, (*Variable)(nil), new(int), leaf{}} {
		if err := k.Attach("x", bad); err == nil {
			t.Errorf("Attach of %T is accepted", bad)
		}
		if err := NewList[any]().Append(bad); err == nil {
			t.Errorf("Append of %T is accepted", bad)
		}
		if err := NewMap[any]().Set("x", bad); err == nil {
			t.Errorf("Set to %T is accepted", bad)
		}
	}
}

func TestAcceptsChild(t *testing.T) {
	type plain struct {
		P *Variable
		L []*Variable
	}
	for _, c := range []struct {
		obj  any
		edge string
		want restoring.Acceptance
	}{
		{&plain{}, "p", restoring.AcceptYes}, {&plain{P: vec(1)}, "p", restoring.AcceptNo}, {&plain{}, "q", restoring.AcceptNo},
		{&[]*Variable{nil}, "1", restoring.AcceptYes}, {&[]*Variable{nil}, "0", restoring.AcceptNo}, {&[]*Variable{}, "01", restoring.AcceptNo}, {&[]*Variable{}, "x", restoring.AcceptNo},
		{&[2]*Variable{}, "1", restoring.AcceptYes}, {&[2]*Variable{}, "2", restoring.AcceptNo},
		{&map[string]*Variable{}, "k", restoring.AcceptYes},
		{NewList[any](), "0", restoring.AcceptYes}, {NewList[any](vec(1)), "0", restoring.AcceptNo}, {NewList[any](), "key", restoring.AcceptNo},
		{NewMap[any](), "k", restoring.AcceptYes},
		{new(inner), "in", restoring.AcceptYes}, {new(inner), "x", restoring.AcceptMaybe},
		{vec(1), "x", restoring.AcceptNo}, {new(part), "also", restoring.AcceptYes}, {new(part), "x", restoring.AcceptNo},
	} {
		if got := acceptsChild(c.obj, c.edge); got != c.want {
			t.Errorf("AcceptsChild(%T, %q) = %v, want %v", c.obj, c.edge, got, c.want)
		}
	}
}

func TestContainers(t *testing.T) {
	a, b := vec(1), vec(2)
	l := NewList(a)
	if err := l.Append(b); err != nil || l.Len() != 2 || l.At(1) != b {
		t.Error(err, l.Len())
	}
	n := 0
	for i, v := range l.All() {
		if v != l.At(i) {
			t.Error(i)
		}
		n++
	}
	m := NewMap[*Variable]()
	for _, k := range []string{"z", "a"} {
		if err := m.Set(k, a); err != nil {
			t.Fatal(err)
		}
	}
	if err := m.Set("z", b); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"z", "a"}, m.Keys()); d != "" || m.Len() != 2 || n != 2 {
		t.Error(d, m.Len(), n)
	}
	if v, ok := m.Get("z"); !ok || v != b {
		t.Error("Get")
	}
	for k, v := range m.All() {
		if x, _ := m.Get(k); x != v {
			t.Error(k)
		}
		break
	}
}

func TestAddVariable(t *testing.T) {
	b := new(inner)
	shape := tensor.Shape{2}
	for name, c := range map[string]struct {
		spec VariableSpec
		want string
	}{
		"an unknown size":     {VariableSpec{Shape: tensor.Shape{-1}}, "unknown"},
		"a wrong first value": {VariableSpec{Shape: shape, Init: func() (*tensor.Tensor, error) { return tensor.Scalar[float32](1), nil }}, "initializer"},
		"no first value":      {VariableSpec{Init: func() (*tensor.Tensor, error) { return nil, nil }}, "no tensor"},
		"a failing one":       {VariableSpec{Init: func() (*tensor.Tensor, error) { return nil, errors.New("bad luck") }}, "bad luck"},
	} {
		if err := b.AddVariable(&b.In, "in", c.spec); err == nil || !strings.Contains(err.Error(), c.want) || b.In != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := b.AddVariable(&b.In, "in", VariableSpec{Shape: shape, NotTrainable: true, Name: "/abs/name"}); err != nil {
		t.Fatal(err)
	}
	if b.In.Trainable() || b.In.Name() != "abs/name" || first(t, b.In.Load()) != 0 {
		t.Errorf("%v %q", b.In.Trainable(), b.In.Name())
	}
	if d := cmp.Diff([]string{"in"}, edgeNames(t, b)); d != "" { // the field and the edge are one
		t.Error(d)
	}
	var d *Variable
	if err := b.AddVariable(&d, "d", VariableSpec{DType: tensor.Int64, Shape: tensor.Shape{2, 3}}); err != nil || d.DType() != tensor.Int64 || !d.Shape().Equal(tensor.Shape{2, 3}) {
		t.Errorf("%v, %v%v", err, d.DType(), d.Shape())
	}
	if err := new(inner).AddVariable(nil, "in", VariableSpec{}); err != nil { // the same name on another object
		t.Error(err)
	}
	var de *DuplicateEdgeError
	if err := b.AddVariable(nil, "in", VariableSpec{}); !errors.As(err, &de) {
		t.Errorf("error %v, want a DuplicateEdgeError", err)
	}
}
