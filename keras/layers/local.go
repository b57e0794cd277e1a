package layers

import (
	"fmt"
	"math"
	"slices"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
)

// local is the connection between places of images and those of the output, of a LocallyConnected
// layer. The three implementations are tf_keras's; the shapes of their kernels must stay.
type local struct {
	window
	filters, c int          // the channels of the output, and of the input
	in, out    tensor.Shape // sizes of space, -1 if they aren't known

	mask *tensor.Tensor // of implementation 2: 1 for connected elements
	ids  *tensor.Tensor // of implementation 3: pairs of output and input elements
}

// measure finds the sizes of the input and of the output.
func (l *local) measure(in base.Shapes, channels int) error {
	l.c = channels
	for i := range l.rank {
		n := -1
		if len(in) > 0 && in[0] != nil {
			at := i + 1
			if l.format == ChannelsFirst {
				at++
			}
			n = in[0][at]
		}
		l.in, l.out = append(l.in, n), append(l.out, l.outputSize(i, n))
		if l.out[i] == 0 {
			return fmt.Errorf("the input is smaller than the kernel (got %v and %v)", in, l.size)
		}
	}
	return nil
}

// span returns the input elements along a dimension that an output element is connected
// with: from first to before last.
func (l *local) span(i, at int) (first, last int) {
	center := at * l.strides[i]
	if l.padding == "valid" {
		return center, min(l.in[i], center+l.size[i])
	}
	left := l.size[i] / 2
	return max(0, center-left), min(l.in[i], center+l.size[i]-left)
}

// connections returns the sum of the lengths of the spans along a dimension whose output has so
// many elements.
// It takes constant time, because the sizes of a config may be huge. A sum beyond an int is the largest int.
func (l *local) connections(i, outputs int) int {
	if outputs <= 0 {
		return outputs
	}
	n, in, size, stride := int64(outputs), int64(l.in[i]), int64(l.size[i]), int64(l.strides[i])
	left := int64(0)
	if l.padding != "valid" {
		left = size / 2
	}
	right := min(size-left, in)
	inside := min(n, (in-right)/stride+1) // spans that end within the input
	ends := inside*right + stride*(inside*(inside-1)/2) + (n-inside)*in
	cut := min(n, left/stride+1) // spans that begin at 0 or before
	begins := stride*(n*(n-1)/2-cut*(cut-1)/2) - (n-cut)*left
	return int(min(ends-begins, math.MaxInt))
}

// dims returns the sizes of space and those of the channels in the order of the format.
func (l *local) dims(space tensor.Shape, channels int) tensor.Shape {
	if l.format == ChannelsFirst {
		return append(tensor.Shape{channels}, space...)
	}
	return append(slices.Clone(space), channels)
}

// kernelShape returns the shape of the kernel, -1 for unknown sizes.
func (l *local) kernelShape(implementation int) (tensor.Shape, error) {
	product := func(dims ...int) (int, error) {
		if slices.Min(dims) < 0 {
			return -1, nil
		}
		return tensor.Shape(dims).NumElements()
	}
	switch implementation {
	case 1:
		places, err := product(l.out...)
		if err != nil {
			return nil, err
		}
		taps, err := product(append(slices.Clone(l.size), l.c)...)
		return tensor.Shape{places, taps, l.filters}, err
	case 2:
		return append(l.dims(l.in, l.c), l.dims(l.out, l.filters)...), nil
	}
	counts := []int{l.c, l.filters}
	for i, n := range l.out {
		if l.in[i] > 1<<31-1 {
			return nil, fmt.Errorf("the input has the sizes %v, want each below 2147483648", l.in)
		}
		counts = append(counts, l.connections(i, n))
	}
	n, err := product(counts...)
	return tensor.Shape{n}, err
}

// connect makes the list or the mask of connected elements. The sizes are
// known.
func (l *local) connect(implementation int) {
	inputs, outputs := l.dims(l.in, l.c), l.dims(l.out, l.filters)
	// steps are the distances of neighbours in the flat input and output.
	steps := func(dims tensor.Shape) []int {
		out := make([]int, len(dims))
		for i, n := len(dims)-1, 1; i >= 0; i-- {
			out[i], n = n, n*dims[i]
		}
		return out
	}
	inSteps, outSteps := steps(inputs), steps(outputs)
	space := 0 // the first dimension of space
	channel := l.rank
	if l.format == ChannelsFirst {
		space, channel = 1, 0
	}
	var pairs []int64
	var place func(i, in, out int)
	place = func(i, in, out int) {
		if i < l.rank {
			for at := range l.out[i] {
				first, last := l.span(i, at)
				for x := first; x < last; x++ {
					place(i+1, in+x*inSteps[space+i], out+at*outSteps[space+i])
				}
			}
			return
		}
		for c := range l.c {
			for f := range l.filters {
				pairs = append(pairs, int64(out+f*outSteps[channel]), int64(in+c*inSteps[channel]))
			}
		}
	}
	place(0, 0, 0)
	if implementation == 3 {
		list := make([][2]int64, len(pairs)/2)
		for i := range list {
			list[i] = [2]int64{pairs[2*i], pairs[2*i+1]}
		}
		slices.SortFunc(list, func(a, b [2]int64) int { return slices.Compare(a[:], b[:]) })
		for i, p := range list {
			pairs[2*i], pairs[2*i+1] = p[0], p[1]
		}
		l.ids = tensor.Must(tensor.New(pairs, len(list), 2))
		return
	}
	n := outSteps[0] * outputs[0]
	mask := make([]bool, inSteps[0]*inputs[0]*n)
	for i := 0; i < len(pairs); i += 2 {
		mask[int(pairs[i+1])*n+int(pairs[i])] = true
	}
	l.mask = tensor.Must(tensor.New(mask, len(mask)/n, n))
}

// compute returns the products with the kernel.
func (l *local) compute(s *ops.Scope, implementation int, x *ops.Value, kernel ops.Input) *ops.Value {
	if implementation == 1 {
		return l.patches(s, x, kernel)
	}
	inputs := 1
	for _, n := range l.dims(l.in, l.c) {
		inputs *= n
	}
	outputs := 1
	for _, n := range l.dims(l.out, l.filters) {
		outputs *= n
	}
	x = ops.Reshape(s, x, -1, inputs)
	var y *ops.Value
	if implementation == 2 {
		matrix := ops.Reshape(s, kernel, inputs, outputs)
		y = ops.MatMul(s, x, ops.Mul(s, matrix, ops.Cast(s, l.mask, x.DType())))
	} else {
		y = s.Emit1("SparseTensorDenseMatMul", graph.Attrs{graph.Bool("adjoint_b", true)},
			l.ids, kernel, []int64{int64(outputs), int64(inputs)}, x)
		y = ops.Transpose(s, y, 1, 0)
	}
	return ops.Reshape(s, y, append([]int{-1}, l.dims(l.out, l.filters)...)...)
}

// patches computes the products of the elements below the kernel at each place.
func (l *local) patches(s *ops.Scope, x *ops.Value, kernel ops.Input) *ops.Value {
	places, taps := 1, l.c
	size, strides := []int64{1, 1}, []int64{1, 1}
	for i := range l.rank {
		places, taps = places*l.out[i], taps*l.size[i]
		size, strides = append(size, int64(l.size[i])), append(strides, int64(l.strides[i]))
	}
	if l.format == ChannelsFirst { // the taps of a kernel are in the order of the format
		k := ops.Reshape(s, kernel, places, l.c, taps/l.c, l.filters)
		kernel = ops.Reshape(s, ops.Transpose(s, k, 0, 2, 1, 3), places, taps, l.filters)
	}
	x = l.toLast(s, x)
	if l.rank == 1 {
		x = ops.ExpandDims(s, x, 1)
	} else {
		size, strides = size[1:], strides[1:]
	}
	x = s.Emit1("ExtractImagePatches", graph.Attrs{graph.Ints("ksizes", append(size, 1)...), graph.Ints("strides", append(strides, 1)...),
		graph.Ints("rates", 1, 1, 1, 1), graph.String("padding", "VALID")}, x)
	x = ops.Transpose(s, ops.Reshape(s, x, -1, places, taps), 1, 0, 2)
	y := ops.Transpose(s, ops.MatMul(s, x, kernel), 1, 0, 2)
	return l.fromLast(s, ops.Reshape(s, y, append(append([]int{-1}, l.out...), l.filters)...))
}
