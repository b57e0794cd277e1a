package layers

import (
	"fmt"

	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/keras/initializers"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// SpectralNormalization divides the kernel of an inner layer by its largest singular value,
// which it approximates, before each call in training.
type SpectralNormalization struct {
	base.Layer
	// Inner is the layer with a kernel or embeddings. It is required.
	Inner base.Callable `keras:"layer" cairn:"layer"`
	// PowerIterations is the number of steps of the approximation in a call. Default: 1.
	PowerIterations int `keras:",default=1"`

	// VectorU is the approximation of the singular vector; nil until the layer is built.
	VectorU *trackable.Variable `cairn:"-"`

	kernel *trackable.Variable `cairn:"-"` // of the inner layer, set when the layer is built
}

// CompleteLayer checks that there is a layer.
func (n *SpectralNormalization) CompleteLayer() error { return wrap(n.Inner) }

// Weights lists the vector for a restore. BuildLayer makes it, because its size is one of
// the inner layer's kernel.
func (n *SpectralNormalization) Weights(in base.Shapes) ([]base.Weight, error) {
	if n.PowerIterations < 1 || n.PowerIterations > maxSize {
		return nil, fmt.Errorf("the number of iterations is out of range (got %d, want 1 to %d)", n.PowerIterations, maxSize)
	}
	if in != nil {
		return nil, nil
	}
	return []base.Weight{n.vector(-1)}, nil
}

func (n *SpectralNormalization) vector(size int) base.Weight {
	return base.Weight{To: &n.VectorU, Edge: "vector_u", Name: "vector_u", Shape: tensor.Shape{1, size}, NotTrainable: true,
		Init: initializers.TruncatedNormal{StdDev: new(0.02)}}
}

// BuildLayer builds the inner layer and finds its kernel.
func (n *SpectralNormalization) BuildLayer(s *ops.Scope, in base.Shapes) error {
	if err := buildInner(s, n.Inner, in); err != nil {
		return err
	}
	l, ok := n.Inner.(base.LayerLike)
	if !ok {
		return fmt.Errorf("the inner layer is a %T, want a layer with a kernel or embeddings", n.Inner)
	}
	for _, e := range l.AsLayer().TrackableNode().Edges() {
		if e.Name == "kernel" || e.Name == "_kernel" || e.Name == "embeddings" {
			if v, ok := e.Child.(trackable.VariableLike); ok {
				n.kernel = v.AsVariable()
			}
		}
	}
	if n.kernel == nil || len(n.kernel.Shape()) == 0 {
		return fmt.Errorf("the inner layer, a %T, has neither a kernel nor embeddings", n.Inner)
	}
	shape := n.kernel.Shape()
	w := n.vector(shape[len(shape)-1])
	w.DType = n.kernel.DType()
	return n.AddWeight(s, w.To, w.Edge, w)
}

// Call returns the output of the inner layer.
func (n *SpectralNormalization) Call(s *ops.Scope, x ops.Input) *ops.Value {
	return n.Run(s, n, x, nil)
}

// ComputeMask returns the mask of the inner layer.
func (n *SpectralNormalization) ComputeMask(_ *ops.Scope, _ *base.Invocation, out []*ops.Value) []*ops.Value {
	return []*ops.Value{base.MaskOf(out[0])}
}

// ComputeAll returns the output of the inner layer.
func (n *SpectralNormalization) ComputeAll(s *ops.Scope, c *base.Invocation) []*ops.Value {
	if err := c.CheckArgs(); err != nil {
		return []*ops.Value{s.Fail("SpectralNormalization", err)}
	}
	if s.Training() {
		n.update(s)
	}
	return base.CallAll(s, n.Inner, c.Inputs, &base.CallOptions{Masks: c.Masks})
}

// update divides the kernel, unless it is all zeros, and stores the vector.
func (n *SpectralNormalization) update(s *ops.Scope) {
	shape := n.kernel.Shape()
	matrix := ops.Reshape(s, n.kernel, -1, shape[len(shape)-1])
	u := ops.Const(s, n.VectorU)
	v := u
	for range n.PowerIterations {
		v = ops.L2Normalize(s, ops.MatMul(s, u, matrix, &ops.MatMulOptions{TransposeB: true}), 1e-12, 0, 1)
		u = ops.L2Normalize(s, ops.MatMul(s, v, matrix), 1e-12, 0, 1)
	}
	sigma := ops.MatMul(s, ops.MatMul(s, v, matrix), u, &ops.MatMulOptions{TransposeB: true})
	some := ops.Any(s, ops.NotEqual(s, n.kernel, 0))
	kernel := ops.Where(s, some, ops.Reshape(s, ops.Div(s, matrix, sigma), shape...), n.kernel)
	vector := ops.Where(s, some, u, n.VectorU)
	ops.Assign(s, n.kernel, kernel)
	ops.Assign(s, n.VectorU, vector)
}
