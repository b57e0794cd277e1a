// Package outside is another author's code: a separate module, which adds an op
// with its gradient, a layer, a class with values of its type, and a saver,
// using only exported names. If it needed a change inside, the promise that
// everything is open to others would be broken. A change here that a change of
// Cairn's packages needs is a change that breaks other authors' code.
package outside

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/cairnml/cairn/checkpoint"
	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/grad"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/graph/shape"
	"github.com/cairnml/cairn/keras"
	"github.com/cairnml/cairn/keras/initializers"
	"github.com/cairnml/cairn/kernel"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// Cube emits the op: factor·x³ of a float32 tensor, element by element. The
// factor is 1 unless an attribute sets it.
func Cube(s *ops.Scope, x ops.Input, attrs ...graph.Attr) *ops.Value {
	return s.Emit1("OutsideCube", attrs, x)
}

// CubeDef is the op's definition, which a trace and a file need.
var CubeDef = &graph.OpDef{
	Name:    "OutsideCube",
	Inputs:  []graph.ArgDef{{Name: "x", TypeAttr: "T"}},
	Outputs: []graph.ArgDef{{Name: "y", TypeAttr: "T"}},
	Attrs: []graph.AttrDef{
		{Name: "T", Kind: graph.AttrType, AllowedTypes: []tensor.DType{tensor.Float32}},
		graph.AttrDef{Name: "factor", Kind: graph.AttrFloat}.WithDefault(graph.Float("factor", 1)),
	},
}

// cubeKernel reads the factor once a node.
var cubeKernel = engine.Kernel{Op: "OutsideCube", Def: CubeDef, Precision: engine.Exact, Prepare: prepareCube}

func prepareCube(n *engine.Node) (func(*engine.Call) error, error) {
	factor := float32(n.Attrs.Float("factor", 1))
	return func(c *engine.Call) error {
		if err := c.Need(1); err != nil {
			return err
		}
		x, err := tensor.ValuesOf[float32](c.In(0))
		if err != nil {
			return err
		}
		out, err := c.AllocOver(0, 0, tensor.Float32, c.In(0).Shape())
		if err != nil {
			return err
		}
		y := tensor.Values[float32](out)
		for i := range y {
			y[i] = factor * x[i] * x[i] * x[i]
		}
		return nil
	}, nil
}

// cubeShape infers the op's output, whose shape is the input's.
func cubeShape(c *shape.Inference) error {
	c.Out[0].Shape = c.In[0].Shape
	return nil
}

// cubeGradient computes the gradient of the op, 3·factor·x².
func cubeGradient(s *ops.Scope, op *grad.Op) {
	factor := op.Attrs().Float("factor", 1)
	op.Give(0, ops.Mul(s, op.Grad(0), ops.Mul(s, 3*factor, ops.Square(s, op.In(0)))))
}

// Options returns the options for functions with the op: the standard ops, and
// one more.
func Options() (*function.Options, error) {
	kernels, err := kernel.All().With(cubeKernel)
	if err != nil {
		return nil, err
	}
	return &function.Options{
		Kernels:   kernels,
		Shapes:    shape.All().With("OutsideCube", cubeShape),
		Gradients: grad.All().With("OutsideCube", cubeGradient),
	}, nil
}

// Affine is the layer: x·w + b, cubed.
type Affine struct {
	keras.Layer
	Units int
	W, B  *trackable.Variable
}

// Build makes the variables for inputs of that shape.
func (a *Affine) Build(s *ops.Scope, in tensor.Shape) error {
	return errors.Join(
		a.AddWeight(s, &a.W, "w", keras.Weight{Shape: tensor.Shape{in[len(in)-1], a.Units}}),
		a.AddWeight(s, &a.B, "b", keras.Weight{Shape: tensor.Shape{a.Units}, Init: initializers.Zeros{}}))
}

// Call computes the layer's output.
func (a *Affine) Call(s *ops.Scope, x ops.Input) *ops.Value {
	v, ok := a.Prepare(s, x, a.Build)
	if !ok {
		return v
	}
	return Cube(s, ops.Add(s, ops.MatMul(s, v, a.W), a.B))
}

// Counts is the class: counts of words, which checkpoints store as two tensors.
type Counts struct {
	trackable.Base
	N map[string]int64 `cairn:"-"`
}

// SerializeToTensors returns the words and their counts, sorted by word.
func (c *Counts) SerializeToTensors() ([]trackable.Attribute, error) {
	words := slices.Sorted(maps.Keys(c.N))
	counts := make([]int64, len(words))
	for i, w := range words {
		counts[i] = c.N[w]
	}
	return []trackable.Attribute{
		{Name: "words", Tensor: tensor.Vector(words...)},
		{Name: "counts", Tensor: tensor.Vector(counts...)},
	}, nil
}

// RestoreFromTensors takes them back.
func (c *Counts) RestoreFromTensors(values map[string]*tensor.Tensor) error {
	words, err := tensor.ValuesOf[string](values["words"])
	if err != nil {
		return err
	}
	counts, err := tensor.ValuesOf[int64](values["counts"])
	if err != nil {
		return err
	}
	if len(words) != len(counts) {
		return fmt.Errorf("%d words, %d counts", len(words), len(counts))
	}
	c.N = map[string]int64{}
	for i, w := range words {
		c.N[w] = counts[i]
	}
	return nil
}

// Gauge is a variable that the saver stores with its fellows in one tensor.
type Gauge struct{ trackable.Variable }

// NewGauge makes one that shows x.
func NewGauge(x float32) *Gauge {
	g := new(Gauge)
	g.Init(tensor.Scalar(x))
	return g
}

const gaugesKey = "outside/gauges"

// Gauges is the saver, written in plain Go: all gauges in one vector.
var Gauges = checkpoint.Saver{
	Name:    "gauges",
	Matches: func(o trackable.Trackable) bool { _, ok := o.(*Gauge); return ok },
	Save: func(ctx context.Context, call *checkpoint.SaveCall) ([]string, error) {
		var all []float32
		for _, g := range checkpoint.Only[*Gauge](call.Objects) {
			x, err := tensor.Item[float32](g.Load())
			if err != nil {
				return nil, err
			}
			all = append(all, x)
		}
		w, err := call.NewWriter(nil)
		if err != nil {
			return nil, err
		}
		defer w.Abort()
		if err := w.Add(ctx, gaugesKey, tensor.Vector(all...)); err != nil {
			return nil, err
		}
		return []string{call.Prefix}, w.Finish(ctx)
	},
	Restore: func(ctx context.Context, call *checkpoint.RestoreCall) error {
		t, err := call.Reader.Read(ctx, gaugesKey)
		if err != nil {
			return err
		}
		all, err := tensor.ValuesOf[float32](t)
		if err != nil {
			return err
		}
		for _, g := range checkpoint.Only[*Gauge](call.Objects) {
			if len(all) == 0 {
				return errors.New("fewer gauges in the checkpoint than in the program")
			}
			if err := g.Store(tensor.Scalar(all[0])); err != nil {
				return err
			}
			all = all[1:]
		}
		return nil
	},
}

// Model is a program's state that uses them all.
type Model struct {
	keras.Model
	Layers []*Affine
	Counts *Counts
	Speed  *Gauge
	Heat   *Gauge
}

// NewModel makes a model of two layers.
func NewModel() *Model {
	return &Model{
		Layers: []*Affine{{Units: 3}, {Units: 1}},
		Counts: &Counts{N: map[string]int64{}},
		Speed:  NewGauge(0),
		Heat:   NewGauge(0),
	}
}

// Call computes the model's output.
func (m *Model) Call(s *ops.Scope, x ops.Input) *ops.Value {
	return m.Layers[1].Call(s, m.Layers[0].Call(s, x))
}
