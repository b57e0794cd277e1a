package layers

import (
	"fmt"
	"slices"

	"github.com/cairnml/cairn/keras/activations"
	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/keras/constraints"
	"github.com/cairnml/cairn/keras/initializers"
	"github.com/cairnml/cairn/keras/regularizers"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/trackable"
)

// LocallyConnected2D convolves images, [batch, height, width, channels], with a separate
// kernel at each place. Height and width must be known when it is built.
type LocallyConnected2D struct {
	base.Layer
	// Filters is the number of output channels. It is required.
	Filters int
	// KernelSize is the size of the kernels, one number for all dimensions or one for each.
	// It is required.
	KernelSize []int
	// Strides are the distances between neighbouring windows in pixels, as KernelSize. Default: 1.
	Strides []int
	// Padding is "valid", or "same" with Implementation 2 or 3. Default: valid.
	Padding string `keras:",default=valid"`
	// DataFormat is ChannelsLast or ChannelsFirst. Default: ChannelsLast.
	DataFormat string `keras:",default=channels_last"`
	// Activation is applied to the output. Default: Linear.
	Activation activations.Activation `keras:",default=linear"`
	// NoBias leaves the bias out. Default: there is one.
	NoBias bool `keras:"use_bias,not"`
	// KernelInitializer makes the first value of the kernel. Default: GlorotUniform.
	KernelInitializer initializers.Initializer `keras:",default=GlorotUniform"`
	// BiasInitializer makes the first value of the bias. Default: Zeros.
	BiasInitializer initializers.Initializer `keras:",default=Zeros"`
	// KernelRegularizer and BiasRegularizer add losses of the weights. Default: none.
	KernelRegularizer, BiasRegularizer regularizers.Regularizer
	// ActivityRegularizer adds a loss of the output. Default: none.
	ActivityRegularizer regularizers.Regularizer
	// KernelConstraint and BiasConstraint project the weights after a step. Default: none.
	KernelConstraint, BiasConstraint constraints.Constraint
	// Implementation is the form of the kernel: 1, one for each place; 2, a matrix of all
	// inputs and outputs, for small images; 3, the elements of that matrix that count, for
	// large images and small kernels. Default: 1.
	Implementation int `keras:",default=1"`

	// Kernel and Bias [places…, filters] are nil until the layer is built. Kernel has the
	// shape [places, size·channels, filters], [input…, output…] or [connections].
	Kernel, Bias *trackable.Variable `cairn:"-"`

	local local
}

// LocallyConnected1D is [LocallyConnected2D] for lines, [batch, steps, channels].
type LocallyConnected1D LocallyConnected2D

func (l *LocallyConnected2D) complete(rank int) {
	convDefaults(rank, &l.KernelSize, &l.Strides, new([]int), &l.Padding)
}

// begin returns how places are connected, for inputs of the given shapes.
func (l *LocallyConnected2D) begin(rank int, in base.Shapes) (local, error) {
	c := local{window: window{rank: rank, size: l.KernelSize, strides: l.Strides, dilation: slices.Repeat([]int{1}, rank),
		padding: l.Padding, format: l.DataFormat}, filters: l.Filters}
	n, err := c.channels(in, false)
	if err == nil {
		err = c.check("valid", "same")
	}
	switch {
	case err != nil:
		return c, err
	case l.Filters < 1 || l.Filters > maxSize:
		return c, fmt.Errorf("the number of filters is out of range (got %d, want 1 to %d)", l.Filters, maxSize)
	case l.Implementation < 1 || l.Implementation > 3:
		return c, fmt.Errorf("unknown implementation %d, want 1 to 3", l.Implementation)
	case l.Implementation == 1 && l.Padding != "valid":
		return c, fmt.Errorf("the padding %q needs the implementation 2 or 3", l.Padding)
	}
	return c, c.measure(in, n)
}

func (l *LocallyConnected2D) weights(rank int, in base.Shapes) ([]base.Weight, error) {
	c, err := l.begin(rank, in)
	if err != nil {
		return nil, err
	}
	shape, err := c.kernelShape(l.Implementation)
	if err != nil {
		return nil, err
	}
	list := []base.Weight{{To: &l.Kernel, Edge: "kernel", Shape: shape,
		Init: l.KernelInitializer, Regularizer: l.KernelRegularizer, Constraint: l.KernelConstraint}}
	if l.NoBias {
		return list, nil
	}
	return append(list, base.Weight{To: &l.Bias, Edge: "bias", Shape: append(slices.Clone(c.out), l.Filters),
		Init: l.BiasInitializer, Regularizer: l.BiasRegularizer, Constraint: l.BiasConstraint}), nil
}

func (l *LocallyConnected2D) build(rank int, in base.Shapes) (err error) {
	if l.local, err = l.begin(rank, in); err == nil && l.Implementation > 1 {
		l.local.connect(l.Implementation)
	}
	return err
}

func (l *LocallyConnected2D) compute(s *ops.Scope, x *ops.Value) *ops.Value {
	y := l.local.compute(s, l.Implementation, x, l.Read(s, l.Kernel))
	if l.Bias != nil {
		shape := append([]int{1}, l.local.out...)
		if l.DataFormat == ChannelsFirst { // tf_keras reshapes, it doesn't transpose
			shape = slices.Insert(shape, 1, l.Filters)
		} else {
			shape = append(shape, l.Filters)
		}
		y = ops.Add(s, y, ops.Reshape(s, l.Read(s, l.Bias), shape...))
	}
	return activate(s, l.Activation, y)
}

// CompleteConfig completes the sizes to one for each dimension.
func (l *LocallyConnected1D) CompleteConfig() { (*LocallyConnected2D)(l).complete(1) }

// Weights lists the layer's variables.
func (l *LocallyConnected1D) Weights(in base.Shapes) ([]base.Weight, error) {
	return (*LocallyConnected2D)(l).weights(1, in)
}

// BuildLayer finds out which places are connected.
func (l *LocallyConnected1D) BuildLayer(_ *ops.Scope, in base.Shapes) error {
	return (*LocallyConnected2D)(l).build(1, in)
}

// Call returns the convolution of x.
func (l *LocallyConnected1D) Call(s *ops.Scope, x ops.Input) *ops.Value { return l.Run(s, l, x, nil) }

// Compute returns the convolution of x.
func (l *LocallyConnected1D) Compute(s *ops.Scope, x *ops.Value) *ops.Value {
	return (*LocallyConnected2D)(l).compute(s, x)
}

// CompleteConfig completes the sizes to one for each dimension.
func (l *LocallyConnected2D) CompleteConfig() { l.complete(2) }

// Weights lists the layer's variables.
func (l *LocallyConnected2D) Weights(in base.Shapes) ([]base.Weight, error) { return l.weights(2, in) }

// BuildLayer finds out which places are connected.
func (l *LocallyConnected2D) BuildLayer(_ *ops.Scope, in base.Shapes) error { return l.build(2, in) }

// Call returns the convolution of x.
func (l *LocallyConnected2D) Call(s *ops.Scope, x ops.Input) *ops.Value { return l.Run(s, l, x, nil) }

// Compute returns the convolution of x.
func (l *LocallyConnected2D) Compute(s *ops.Scope, x *ops.Value) *ops.Value { return l.compute(s, x) }
