package checkpoint

import (
	"context"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
	"github.com/cairnml/cairn/vfs"
)

// variable makes a float32 variable: a scalar of one value, a vector of more.
func variable(x ...float32) *trackable.Variable {
	if len(x) == 1 {
		return trackable.NewVariable(tensor.Scalar(x[0]))
	}
	return trackable.NewVariable(tensor.Vector(x...))
}

func matrix(x ...float32) *trackable.Variable {
	return trackable.NewVariable(tensor.Must(tensor.New(x, 1, len(x))))
}

func floats(t testing.TB, v *trackable.Variable) []float32 {
	t.Helper()
	got, err := tensor.ValuesOf[float32](v.Load())
	if err != nil {
		t.Fatal(err)
	}
	return slices.Clone(got)
}

// dense, net and adam have the edges of tf_keras's Dense, Model and legacy Adam.
type dense struct {
	trackable.Base
	Kernel, Bias *trackable.Variable
}

func (d *dense) ScopeName() string { return "" }

type net struct {
	trackable.Base
	L1 *Dense
}

func (n *net) ScopeName() string { return "net" }

// Dense carries the name that automatic scopes are made of.
type Dense struct{ dense }

type optimizer struct {
	trackable.Base
	trackable.Slots
	name string
}

func (o *optimizer) ScopeName() string { return o.name }

func (o *optimizer) hyper(t testing.TB, edge string, value *tensor.Tensor) {
	t.Helper()
	err := o.AddVariable(nil, edge, trackable.VariableSpec{DType: value.DType(), NotTrainable: true,
		Init: func() (*tensor.Tensor, error) { return value, nil }})
	if err != nil {
		t.Fatal(err)
	}
}

func (o *optimizer) slot(t testing.TB, v *trackable.Variable, name string, value *tensor.Tensor) {
	t.Helper()
	_, err := o.SlotOr(v, name, func() (*tensor.Tensor, error) { return value, nil })
	if err != nil {
		t.Fatal(err)
	}
}

func fill(x float32, dims ...int) *tensor.Tensor {
	z := tensor.Must(tensor.Zeros(tensor.Float32, dims...))
	for i := range tensor.Values[float32](z) {
		tensor.Values[float32](z)[i] = x
	}
	return z
}

func newAdam(t testing.TB) *optimizer {
	o := &optimizer{name: "Adam"}
	o.DeclareSlots("m", "v")
	o.hyper(t, "iter", tensor.Scalar[int64](1))
	o.hyper(t, "beta_1", tensor.Scalar[float32](0.9))
	o.hyper(t, "beta_2", tensor.Scalar[float32](0.999))
	o.hyper(t, "decay", tensor.Scalar[float32](0))
	o.hyper(t, "learning_rate", tensor.Scalar[float32](0.1))
	return o
}

type training struct {
	Step      *trackable.Scalar[int32]
	Optimizer *optimizer
	Net       *net
}

func newTraining(t testing.TB) *training {
	tr := &training{trackable.NewScalar[int32](10), newAdam(t), &net{L1: new(Dense)}}
	l := tr.Net.L1
	for _, v := range []struct {
		dst    **trackable.Variable
		edge   string
		values *trackable.Variable
	}{{&l.Kernel, "kernel", matrix(1, 2, 3, 4, 5)}, {&l.Bias, "bias", variable(6, 7, 8, 9, 10)}} {
		err := l.AddVariable(v.dst, v.edge, trackable.VariableSpec{Shape: v.values.Shape(),
			Init: func() (*tensor.Tensor, error) { return v.values.Load(), nil }})
		if err != nil {
			t.Fatal(err)
		}
	}
	for i, slot := range []string{"m", "v"} {
		tr.Optimizer.slot(t, l.Kernel, slot, fill(20+float32(i), 1, 5))
		tr.Optimizer.slot(t, l.Bias, slot, fill(30+float32(i), 5))
	}
	return tr
}

type containers struct {
	Listed    []any
	Mapped    *trackable.Map[any]
	EmptyList []*trackable.Variable
	EmptyMap  map[string]*trackable.Variable
}

func setAll(t testing.TB, m *trackable.Map[any], pairs ...any) *trackable.Map[any] {
	t.Helper()
	for i := 0; i < len(pairs); i += 2 {
		if err := m.Set(pairs[i].(string), pairs[i+1]); err != nil {
			t.Fatal(err)
		}
	}
	return m
}

func newContainers(t testing.TB) *containers {
	one := variable(1)
	dict := func(pairs ...any) *trackable.Map[any] { return setAll(t, trackable.NewMap[any](), pairs...) }
	return &containers{
		Listed:    []any{one, []*trackable.Variable{variable(2), variable(3)}, dict("b", variable(4), "a", variable(5))},
		Mapped:    dict("one", one, "list", trackable.NewList(variable(6)), "deep", dict("x", dict("y", variable(7)))),
		EmptyList: []*trackable.Variable{}, EmptyMap: map[string]*trackable.Variable{},
	}
}

type module struct {
	trackable.Base
	V, Other, Back, Me, W any
}

type rootModule struct {
	trackable.Base
	Z, B  *trackable.Variable
	Child *module
}

// table writes two tensors; hashTable writes two under one attribute.
type table struct {
	keys   []int64
	values []float32
}

func (x *table) SerializeToTensors() ([]trackable.Attribute, error) {
	return []trackable.Attribute{
		{Name: "keys", Tensor: tensor.Vector(x.keys...)},
		{Name: "some/values", Tensor: tensor.Vector(x.values...)},
	}, nil
}

func (x *table) RestoreFromTensors(m map[string]*tensor.Tensor) error {
	x.keys, x.values = tensor.Values[int64](m["keys"]), tensor.Values[float32](m["some/values"])
	return nil
}

type hashTable struct{ table }

func (x *hashTable) SerializeToTensors() ([]trackable.Attribute, error) {
	return []trackable.Attribute{{Name: "table", Parts: []trackable.AttributePart{
		{Suffix: "-keys", Tensor: tensor.Vector(x.keys...)}, {Suffix: "-values", Tensor: tensor.Vector(x.values...)}}}}, nil
}

func (x *hashTable) RestoreFromTensors(m map[string]*tensor.Tensor) error {
	x.keys, x.values = tensor.Values[int64](m["table-keys"]), tensor.Values[float32](m["table-values"])
	return nil
}

type tables struct {
	Table *table
	Inner *struct{ T *table }
	Hash  *hashTable
}

func newTables() *tables {
	return &tables{
		Table: &table{[]int64{1, 2, 3}, []float32{0.5, 1.5, 2.5}},
		Inner: &struct{ T *table }{&table{[]int64{7}, []float32{8}}},
		Hash:  &hashTable{table{[]int64{4}, []float32{40}}},
	}
}

type part struct{ trackable.Variable }

func newPart(x ...float32) *part {
	p := new(part)
	p.Init(tensor.Vector(x...))
	return p
}

type stack struct {
	trackable.Base
	Parts []*part
}

type stacks struct {
	Stack, Other *stack
	Plain        *trackable.Variable
}

func newStacks() *stacks {
	return &stacks{
		Stack: &stack{Parts: []*part{newPart(1, 2), newPart(3, 4), newPart(5, 6)}},
		Other: &stack{Parts: []*part{newPart(7, 8)}},
		Plain: variable(9),
	}
}

// stacked is the document's saver: the parts of a stack are one tensor.
var stackedSaver = Saver{
	Name: "stacks",
	Matches: func(o trackable.Trackable) bool {
		switch o.(type) {
		case *stack, *part:
			return true
		}
		return false
	},
	Save: func(ctx context.Context, call *SaveCall) ([]string, error) {
		w, err := call.NewWriter(nil)
		if err != nil {
			return nil, err
		}
		for prefix, st := range Only[*stack](call.Objects) {
			var all []float32
			for _, p := range st.Parts {
				all = append(all, tensor.Values[float32](p.Load())...)
			}
			t, err := tensor.New(all, len(st.Parts), len(all)/len(st.Parts))
			if err != nil {
				return nil, err
			}
			if err := w.Add(ctx, prefix+"/value", t); err != nil {
				return nil, err
			}
		}
		return []string{call.Prefix}, w.Finish(ctx)
	},
	Restore: func(ctx context.Context, call *RestoreCall) error {
		for prefix, st := range Only[*stack](call.Objects) {
			t, err := call.Reader.Read(ctx, prefix+"/value")
			if err != nil {
				return err
			}
			all, n := tensor.Values[float32](t), t.Len()/len(st.Parts)
			for i, p := range st.Parts {
				if err := p.Store(tensor.Vector(all[i*n : (i+1)*n]...)); err != nil {
					return err
				}
			}
		}
		return nil
	},
}

func stackSavers(t testing.TB) *Savers {
	t.Helper()
	s := new(Savers)
	if err := s.Register("Custom", stackedSaver); err != nil {
		t.Fatal(err)
	}
	return s
}

// goldens builds, in Go, the objects of testdata/tf2.21/gen_objects.py.
var goldens = []struct {
	name  string
	make  func(t testing.TB) (root any, o *Options)
	write bool // by Write, without a save_counter
}{
	{name: "guide", make: func(t testing.TB) (any, *Options) { return newTraining(t), nil }},
	{name: "containers", make: func(t testing.TB) (any, *Options) { return newContainers(t), nil }},
	{name: "shared", make: func(t testing.TB) (any, *Options) {
		a, b := new(module), new(module)
		a.V, a.Other = variable(1), b
		b.V, b.Back, b.Me, b.W = a.V, a, b, variable(2)
		return &struct {
			First, Second *module
			Loop          []*module
		}{a, b, []*module{a, b, a}}, nil
	}},
	{name: "escaping", make: func(t testing.TB) (any, *Options) {
		m := trackable.NewMap[any]()
		for i, n := range []string{"a/b", ".", "..", "a.b", "/", "d/.ATTRIBUTES/f", ".S", ".ATTRIBUTES", "d/.S", ".OPTIMIZER_SLOT", "", "é", "VARIABLE_VALUE", "0"} {
			setAll(t, m, n, variable(float32(i)))
		}
		return &struct{ M *trackable.Map[any] }{m}, nil
	}},
	{name: "rooted", make: func(t testing.TB) (any, *Options) {
		r := &rootModule{Z: variable(1), B: variable(2), Child: &module{V: variable(3)}}
		return r, &Options{Extra: map[string]any{"extra": variable(4), "apart": variable(5).Named("some/name"), "x": r.Child}}
	}},
	{name: "variable_root", write: true, make: func(t testing.TB) (any, *Options) { return variable(1), nil }},
	{name: "serializer", write: true, make: func(t testing.TB) (any, *Options) { return newTables(), nil }},
	{name: "stacked", make: func(t testing.TB) (any, *Options) { return newStacks(), &Options{Savers: stackSavers(t)} }},
	{name: "late_slots", make: func(t testing.TB) (any, *Options) {
		o := &optimizer{name: "SGD"}
		o.DeclareSlots("momentum")
		o.hyper(t, "iter", tensor.Scalar[int64](1))
		o.hyper(t, "decay", tensor.Scalar[float32](0))
		o.hyper(t, "learning_rate", tensor.Scalar[float32](0.5))
		o.hyper(t, "momentum", tensor.Scalar[float32](0.25))
		a, b := variable(1, 2).Named("a"), variable(3, 4).Named("b")
		o.slot(t, a, "momentum", tensor.Vector[float32](5, 6))
		o.slot(t, b, "momentum", tensor.Vector[float32](7, 8))
		return &struct {
			Opt *optimizer
			Var *trackable.Variable
		}{o, b}, nil
	}},
}

const goldenDir = "testdata/tf2.21"

// readAll reads the files of a checkpoint, by name.
func readFiles(t testing.TB, fsys fs.FS, folder string) map[string]string {
	t.Helper()
	files := map[string]string{}
	list, err := fs.ReadDir(fsys, folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range list {
		if strings.Contains(f.Name(), ".index") || strings.Contains(f.Name(), ".data-") {
			b, err := fs.ReadFile(fsys, filepath.ToSlash(filepath.Join(folder, f.Name())))
			if err != nil {
				t.Fatal(err)
			}
			files[f.Name()] = string(b)
		}
	}
	return files
}

type goldenNode struct {
	Children, Attributes, Slots [][]any
	Saver                       []string
	Has                         bool
}

// dump returns the description that gen_objects.py writes of a checkpoint, for
// readable differences.
func dump(t testing.TB, fsys fs.FS, prefix string) []goldenNode {
	t.Helper()
	v, err := OpenFS(context.Background(), fsys, prefix, nil)
	if err != nil {
		t.Fatal(err)
	}
	var nodes []goldenNode
	for _, n := range v.Nodes() {
		g := goldenNode{Children: [][]any{}, Attributes: [][]any{}, Slots: [][]any{}, Has: n.HasValues}
		for _, c := range n.Children {
			g.Children = append(g.Children, []any{c.Name, float64(c.ID)})
		}
		for _, a := range n.Attributes {
			g.Attributes = append(g.Attributes, []any{a.Name, a.Key, a.FullName})
		}
		for _, s := range n.Slots {
			g.Slots = append(g.Slots, []any{s.Name, float64(s.Variable), float64(s.ID)})
		}
		if n.Saver != "" {
			g.Saver = []string{n.Saver, n.SaverObject}
		}
		nodes = append(nodes, g)
	}
	return nodes
}

func goldenNodes(t testing.TB, name string) []goldenNode {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(goldenDir, name, "golden.json"))
	if err != nil {
		t.Fatal(err)
	}
	var g struct{ Nodes []goldenNode }
	if err := json.Unmarshal(b, &g); err != nil {
		t.Fatal(err)
	}
	return g.Nodes
}

func prefixOf(write bool) string {
	if write {
		return "ckpt"
	}
	return "ckpt-1"
}

// TestBytesEqualTensorFlows checks that the same objects produce TensorFlow's
// files.
func TestBytesEqualTensorFlows(t *testing.T) {
	ctx := context.Background()
	for _, c := range goldens {
		for _, async := range []bool{false, true} {
			name := c.name
			if async {
				name += "/snapshot"
			}
			t.Run(name, func(t *testing.T) {
				root, o := c.make(t)
				ck, err := New(root, o)
				if err != nil {
					t.Fatal(err)
				}
				dir := vfs.MemDir()
				switch {
				case async:
					if !c.write {
						ck.SaveCounter().Add(1)
					}
					sn, err := ck.snapshot(ctx)
					if err != nil {
						t.Fatal(err)
					}
					if err := sn.write(ctx, dir, prefixOf(c.write), nil); err != nil {
						t.Fatal(err)
					}
				case c.write:
					if err := ck.WriteTo(ctx, dir, "ckpt"); err != nil {
						t.Fatal(err)
					}
				default:
					p, err := ck.SaveTo(ctx, dir, "ckpt")
					if err != nil || p != "ckpt-1" {
						t.Fatalf("SaveTo = %q, %v", p, err)
					}
				}
				if d := cmp.Diff(goldenNodes(t, c.name), dump(t, dir, prefixOf(c.write))); d != "" {
					t.Errorf("object graph differs from TensorFlow's (-TensorFlow +ours):\n%s", d)
				}
				want := readFiles(t, os.DirFS(goldenDir), c.name)
				if d := cmp.Diff(want, readFiles(t, dir, ".")); d != "" {
					t.Errorf("files differ from TensorFlow's (-TensorFlow +ours):\n%s", d)
				}
			})
		}
	}
}
