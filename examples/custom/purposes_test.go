package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"

	"github.com/cairnml/cairn"
	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/savedmodel"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
	"github.com/cairnml/cairn/vfs"
)

// MyModule is the module of the RFC: A and Training are set when it is made, B is trained.
type MyModule struct {
	trackable.Base
	A        float32 `cairn:"-"`
	Training bool    `cairn:"-"`
	B        *trackable.Variable
	AB       *function.Func[struct{}, *ops.Value]   `cairn:"ab"`
	Call     *function.Func[*ops.Value, *ops.Value] `cairn:"__call__"`
}

func newMyModule(a float32, training bool) *MyModule {
	m := &MyModule{A: a, Training: training, B: trackable.NewVariable(tensor.Scalar[float32](1))}
	m.AB = function.New(func(s *ops.Scope, _ struct{}) *ops.Value { return ops.Mul(s, m.B, m.A) })
	m.Call = function.New(func(s *ops.Scope, x *ops.Value) *ops.Value {
		if m.Training {
			return ops.Add(s, x, ops.Mul(s, m.B, m.A))
		}
		return ops.Identity(s, x)
	})
	return m
}

// arguments are the metadata that the constructor needs.
type arguments struct {
	A        float32 `json:"a"`
	Training bool    `json:"training"`
}

// SavedModelSpec saves the arguments and B. The functions are not needed: the class has them.
func (m *MyModule) SavedModelSpec(*savedmodel.SaveContext) (*savedmodel.SaveSpec, error) {
	b, err := json.Marshal(arguments{m.A, m.Training})
	return &savedmodel.SaveSpec{Metadata: b, Children: []trackable.Edge{{Name: "b", Child: m.B}}}, err
}

// myModules returns the serializer of the package that has the class.
func myModules() (*savedmodel.Serializer, error) {
	classes := new(savedmodel.Classes)
	err := savedmodel.Register(classes, savedmodel.Class[*MyModule]{Package: "Example", Name: "MyModule",
		Load: func(ctx context.Context, spec *savedmodel.LoadSpec) (*MyModule, error) {
			var a arguments
			if err := json.Unmarshal(spec.Metadata, &a); err != nil {
				return nil, err
			}
			m := newMyModule(a.A, a.Training)
			var err error
			m.B, err = savedmodel.Child[*trackable.Variable](ctx, spec, "b")
			return m, err
		}})
	return &savedmodel.Serializer{Package: "Example", Classes: classes}, err
}

// written saves a module into memory.
func written(m *MyModule, save func(dir vfs.Dir) error) fs.FS {
	must(m.B.Store(tensor.Scalar[float32](5))) // as if it had been trained
	dir := vfs.MemDir()
	must(save(dir))
	fsys, err := fs.Sub(dir, "model")
	must(err)
	return fsys
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

// The same framework loads the model: it has the type MyModule again, with a, training and b.
func Example_sameFramework() {
	ctx := context.Background()
	ser, err := myModules()
	must(err)
	m := newMyModule(2, true)
	fsys := written(m, func(dir vfs.Dir) error { return ser.SaveFS(ctx, m, dir, "model", nil) })
	loaded, err := savedmodel.LoadAs[*MyModule](ctx, ser, fsys)
	must(err)
	y, err := loaded.Call.Call(ctx, ops.ValueOf(tensor.Scalar[float32](3)))
	must(err)
	fmt.Println(loaded.A, loaded.Training, loaded.B.Load(), y)
	// Output:
	// 2 true 5.0 13
}

// Another framework, which doesn't know the class, finds its functions. The value of a is
// frozen in them; b is a variable. Plain Save asks no class of a package, so it saves all
// fields.
func Example_otherFramework() {
	ctx := context.Background()
	m := newMyModule(2, true)
	_, err := m.Call.Trace(ops.Spec(tensor.Float32))
	must(err)
	_, err = m.AB.Trace(struct{}{})
	must(err)
	fsys := written(m, func(dir vfs.Dir) error { return savedmodel.SaveFS(ctx, m, dir, "model", nil) })
	loaded, err := cairn.Load(ctx, fsys, nil)
	must(err)
	b, err := loaded.Variable("b")
	must(err)
	must(b.Store(tensor.Scalar[float32](10)))
	for _, call := range []struct {
		name string
		args []any
	}{{"ab", nil}, {"__call__", []any{tensor.Scalar[float32](3)}}} {
		f, err := loaded.Function(call.name)
		must(err)
		y, err := f.Call(ctx, call.args, nil)
		must(err)
		fmt.Println(call.name, y)
	}
	// Output:
	// ab 20.0
	// __call__ 23.0
}

// A server needs a signature and the variables that it uses.
func Example_servingOnly() {
	ctx := context.Background()
	m := newMyModule(2, true)
	serve, err := m.Call.Trace(ops.Spec(tensor.Float32))
	must(err)
	fsys := written(m, func(dir vfs.Dir) error {
		root := &struct{ B *trackable.Variable }{m.B}
		return savedmodel.SaveFS(ctx, root, dir, "model", &savedmodel.SaveOptions{Signatures: map[string]*graph.Concrete{savedmodel.DefaultSignature: serve}})
	})
	loaded, err := cairn.Load(ctx, fsys, nil)
	must(err)
	sig, err := loaded.Signature(savedmodel.DefaultSignature)
	must(err)
	in := sig.Inputs()[0].Name
	out, err := sig.Call(ctx, map[string]*tensor.Tensor{in: tensor.Scalar[float32](3)})
	must(err)
	fmt.Println(out)
	// Output:
	// map[output_0:13.0]
}
