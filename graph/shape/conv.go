package shape

import (
	"fmt"
	"strings"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/tensor"
)

// convRules returns the rules of convolutions, pooling and batch normalization, with those of blocks.go,
// image.go, fused.go and fractional.go.
func convRules() map[string]Rule {
	return join(blockRules(), imageRules(), fusedRules(), fractionalRules(),
		rules(conv, "Conv2D", "Conv3D", "DepthwiseConv2dNative"),
		rules(backpropInput, "Conv2DBackpropInput", "Conv3DBackpropInputV2", "DepthwiseConv2dNativeBackpropInput"),
		rules(backpropFilter, "Conv2DBackpropFilter", "Conv3DBackpropFilterV2", "DepthwiseConv2dNativeBackpropFilter"),
		rules(pool, "MaxPool", "MaxPoolV2", "AvgPool", "MaxPool3D", "AvgPool3D", "MaxPoolWithArgmax"),
		rules(image, "MaxPoolGrad", "MaxPoolGradV2", "LRN"),
		rules(images, "LRNGrad"),
		rules(poolGrad, "AvgPoolGrad", "AvgPool3DGrad"),
		rules(maxPoolGradGrad, "MaxPoolGradGrad", "MaxPoolGradGradV2", "MaxPool3DGradGrad"),
		map[string]Rule{"MaxPoolGradWithArgmax": maxPoolGradWithArgmax, "MaxPool3DGrad": maxPool3DGrad},
		rules(batchNorm, "FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3"),
		rules(batchNormGrad, "FusedBatchNormGrad", "FusedBatchNormGradV2", "FusedBatchNormGradV3"))
}

// Padding describes how a window treats the area beyond the border.
type Padding struct {
	Kind          string // VALID, SAME or EXPLICIT
	Before, After int    // elements that EXPLICIT adds
}

// Window returns the number of places of a window of size elements along a dimension
// of n: the size of the output. Places are stride elements apart, the elements of a
// window dilation. If n or size is unknown (below 0), the result may be unknown too.
func Window(n, size, stride, dilation int, p Padding) (int, error) {
	if stride < 1 || dilation < 1 {
		return 0, fmt.Errorf("a stride of %d and a dilation of %d, where at least 1 is needed", stride, dilation)
	}
	if p.Kind == "SAME" {
		switch {
		case stride == 1 || n == 0:
			return n, nil
		case n < 0:
			return graph.NewDim(), nil
		}
		return (n-1)/stride + 1, nil
	}
	if p.Kind != "VALID" && p.Kind != "EXPLICIT" {
		return 0, fmt.Errorf("padding %q is none of VALID, SAME and EXPLICIT", p.Kind)
	}
	if p.Before < 0 || p.After < 0 || p.Before > 1<<30 || p.After > 1<<30 {
		return 0, fmt.Errorf("paddings of %d and %d", p.Before, p.After)
	}
	if size < 0 {
		return graph.NewDim(), nil
	}
	reach, err := MulDims(max(size-1, 0), dilation)
	if err != nil {
		return 0, err
	}
	if n < 0 {
		if reach == p.Before+p.After && stride == 1 {
			return n, nil
		}
		return graph.NewDim(), nil
	}
	places := (n + p.Before + p.After - reach - 1 + stride) / stride
	if places < 0 || size < 1 {
		return 0, fmt.Errorf("a window of %d elements, dilated by %d, doesn't fit %d", size, dilation, n+p.Before+p.After)
	}
	return places, nil
}

// Layout has the roles of the dimensions of an image: the index of the batch, that of
// the channels, and those of the spatial dimensions in order.
type Layout struct {
	Batch, Channels int
	Spatial         []int
}

// LayoutOf returns the layout of a data_format such as NHWC or NCDHW.
func LayoutOf(format string) (Layout, error) {
	l := Layout{Batch: strings.IndexByte(format, 'N'), Channels: strings.IndexByte(format, 'C')}
	if l.Batch < 0 || l.Channels < 0 || len(format) > 5 || strings.Trim(format, "NCDHW") != "" {
		return l, fmt.Errorf("the data format %q is not known", format)
	}
	for i := range format {
		if format[i] != 'N' && format[i] != 'C' {
			l.Spatial = append(l.Spatial, i)
		}
	}
	return l, nil
}

// perDim returns an op's strides, window sizes or dilations, one number for
// each dimension. Without the attribute all are 1.
func perDim(a graph.Attrs, name string, n int) ([]int, error) {
	v := a.Ints(name)
	if v == nil {
		v = all(n)
		for i := range v {
			v[i] = 1
		}
	}
	out, err := PerDim(v, n)
	if err != nil {
		err = fmt.Errorf("%s: %w", name, err)
	}
	return out, err
}

// PerDim checks strides, window sizes or dilations for n dimensions. The upper
// limit is Cairn's, a guard against overflow.
func PerDim(v []int64, n int) ([]int, error) {
	if len(v) != n {
		return nil, fmt.Errorf("%d entries for %d dimensions", len(v), n)
	}
	out := make([]int, n)
	for i, x := range v {
		if x < 1 || x > 1<<30 {
			return nil, fmt.Errorf("it holds %d", x)
		}
		out[i] = int(x)
	}
	return out, nil
}

// Windows contains an op's attributes about the window that it moves.
type Windows struct {
	Layout             Layout
	Strides, Dilations []int // a number for each dimension of the image
	Padding            string
	Explicit           []int64 // elements before and after each dimension; nil unless Padding is EXPLICIT
}

// WindowsOf returns the attributes of an op on images of a rank.
func WindowsOf(a graph.Attrs, rank int) (w Windows, err error) {
	format := "NHWC"
	if rank == 5 {
		format = "NDHWC"
	}
	if w.Layout, err = LayoutOf(a.String("data_format", format)); err != nil {
		return w, err
	}
	if len(w.Layout.Spatial) != rank-2 {
		return w, fmt.Errorf("the data format %q has %d dimensions, not %d", a.String("data_format", format), len(w.Layout.Spatial)+2, rank)
	}
	if w.Strides, err = perDim(a, "strides", rank); err != nil {
		return w, err
	}
	if w.Dilations, err = perDim(a, "dilations", rank); err != nil {
		return w, err
	}
	w.Padding = a.String("padding", "VALID")
	if w.Padding == "EXPLICIT" {
		w.Explicit = a.Ints("explicit_paddings")
		if len(w.Explicit) != 2*rank {
			return w, fmt.Errorf("explicit_paddings has %d entries, not %d", len(w.Explicit), 2*rank)
		}
		for _, p := range w.Explicit {
			if p < 0 || p > 1<<30 {
				return w, fmt.Errorf("explicit_paddings holds %v", w.Explicit)
			}
		}
	}
	return w, nil
}

// Sizes returns the sizes of an op's windows, its attribute ksize.
func Sizes(a graph.Attrs, rank int) ([]int, error) { return perDim(a, "ksize", rank) }

// Places returns the number of places along dimension d of n elements.
func (w *Windows) Places(d, n, size int) (int, error) {
	p := Padding{Kind: w.Padding}
	if w.Explicit != nil {
		p.Before, p.After = int(w.Explicit[2*d]), int(w.Explicit[2*d+1])
	}
	return Window(n, size, w.Strides[d], w.Dilations[d], p)
}

// Before returns the padding before dimension d of n elements: how far outside the
// first window begins. The window has size elements and as many places as given.
func (w *Windows) Before(d, n, size, places int) int {
	switch {
	case w.Explicit != nil:
		return int(w.Explicit[2*d])
	case w.Padding == "SAME":
		return max(0, (places-1)*w.Strides[d]+(size-1)*w.Dilations[d]+1-n) / 2
	}
	return 0
}

func conv(c *Inference) error {
	if err := c.need(2); err != nil {
		return err
	}
	rank := 4
	if c.Op == "Conv3D" {
		rank = 5
	}
	x, err := c.ranked(0, rank)
	if err != nil {
		return err
	}
	f, err := c.ranked(1, rank)
	if err != nil {
		return err
	}
	w, err := WindowsOf(c.Attrs, rank)
	if err != nil {
		return err
	}
	out := make(tensor.Shape, rank)
	l := w.Layout
	out[l.Batch] = x.Dim(l.Batch)
	for i, d := range l.Spatial {
		if out[d], err = w.Places(d, x.Dim(d), f.Dim(i)); err != nil {
			return fmt.Errorf("dimension %d: %w", d, err)
		}
	}
	in, taken := x.Dim(l.Channels), f.Dim(rank-2)
	if c.Op == "DepthwiseConv2dNative" {
		m, ok := graph.MergeDim(in, taken)
		if !ok {
			return fmt.Errorf("the input has %d channels, the filter takes %d", in, taken)
		}
		out[l.Channels], err = MulDims(m, f.Dim(-1))
	} else {
		// Groups of channels have a filter each.
		if in >= 0 && taken >= 0 && (taken == 0 || in%taken != 0) {
			return fmt.Errorf("the input has %d channels, the filter takes %d", in, taken)
		}
		out[l.Channels] = f.Dim(-1)
	}
	c.setDims(0, out...)
	return err
}

// backprop infers the shape whose sizes are the elements of input i: 4, or 5 for Conv3D.
func (c *Inference) backprop(i int) error {
	if err := c.need(3); err != nil {
		return err
	}
	rank := 4
	if strings.HasPrefix(c.Op, "Conv3D") {
		rank = 5
	}
	s, err := c.rankedSizes(i, rank, "the sizes")
	if err == nil {
		c.set(0, s)
	}
	return err
}

func backpropInput(c *Inference) error {
	if err := c.need(3); err != nil {
		return err
	}
	if done, err := c.flatSizes(); done || err != nil {
		return err
	}
	if err := c.backprop(0); err != nil {
		return err
	}
	if len(c.Out) == 0 {
		return nil
	}
	// Unknown sizes follow from the batch of dy and from the filter.
	dy, f := c.shape(2), c.shape(1)
	l, err := LayoutOf(c.Attrs.String("data_format", map[bool]string{false: "NHWC", true: "NDHWC"}[c.Out[0].Shape.Rank() == 5]))
	if err != nil || len(l.Spatial)+2 != c.Out[0].Shape.Rank() {
		return err
	}
	out := c.Out[0].Shape
	if dy.HasRank() && dy.Rank() == out.Rank() && out.Dim(l.Batch) < 0 && dy.Dim(l.Batch) >= 0 {
		out = out.With(l.Batch, dy.Dim(l.Batch))
	}
	if c.Op == "DepthwiseConv2dNativeBackpropInput" && f.Rank() == 4 && out.Dim(l.Channels) < 0 && f.Dim(2) >= 0 {
		out = out.With(l.Channels, f.Dim(2))
	}
	c.set(0, out)
	return nil
}

// flatSizes infers Conv2DBackpropInput if its sizes are height and width only:
// the batch is that of dy, the channels are the filter's.
func (c *Inference) flatSizes() (done bool, err error) {
	if c.Op != "Conv2DBackpropInput" {
		return false, nil
	}
	s, err := c.sizes(0, "the sizes")
	if err != nil || !s.HasRank() || s.Rank() != 2 {
		return false, err
	}
	l, err := LayoutOf(c.Attrs.String("data_format", "NHWC"))
	if err != nil || len(l.Spatial) != 2 {
		return false, err
	}
	f, err := c.ranked(1, 4)
	if err != nil {
		return false, err
	}
	dy, err := c.ranked(2, 4)
	if err != nil {
		return false, err
	}
	out := make(tensor.Shape, 4)
	out[l.Batch], out[l.Channels] = dy.Dim(l.Batch), f.Dim(2)
	for i, d := range l.Spatial {
		out[d] = s.Dim(i)
	}
	c.setDims(0, out...)
	return true, nil
}

func backpropFilter(c *Inference) error { return c.backprop(1) }

func pool(c *Inference) error {
	if err := c.atLeast(1); err != nil {
		return err
	}
	rank := 4
	if strings.HasSuffix(c.Op, "3D") {
		rank = 5
	}
	x, err := c.ranked(0, rank)
	if err != nil {
		return err
	}
	w, err := WindowsOf(c.Attrs, rank)
	if err != nil {
		return err
	}
	size, err := Sizes(c.Attrs, rank)
	if err != nil {
		return err
	}
	if c.Op == "MaxPoolV2" {
		if err := c.need(3); err != nil {
			return err
		}
		// The windows are inputs.
		for i, list := range []*[]int{&size, &w.Strides} {
			v, ok := c.knownInts(1 + i)
			if !ok {
				c.set(0, graph.OfRank(rank))
				return nil
			}
			if *list, err = PerDim(v, rank); err != nil {
				return err
			}
		}
	}
	out := make(tensor.Shape, rank)
	for d := range out {
		if d == w.Layout.Batch {
			out[d] = x.Dim(d)
			continue
		}
		if out[d], err = w.Places(d, x.Dim(d), size[d]); err != nil {
			return fmt.Errorf("dimension %d: %w", d, err)
		}
	}
	for i := range c.Out {
		c.setDims(i, out...)
	}
	return nil
}

// maxPoolGradGrad sets the shape of the forward op's output, input 1. Its
// unknown sizes follow from the images.
func maxPoolGradGrad(c *Inference) error {
	if err := c.atLeast(3); err != nil {
		return err
	}
	op, rank := "MaxPool", 4
	if c.Op == "MaxPool3DGradGrad" {
		op, rank = "MaxPool3D", 5
	}
	in := c.In[:1]
	if c.Op == "MaxPoolGradGradV2" {
		if err := c.need(5); err != nil {
			return err
		}
		op, in = "MaxPoolV2", []graph.Fact{c.In[0], c.In[3], c.In[4]}
	}
	y, err := c.ranked(1, rank)
	if err != nil {
		return err
	}
	forward := &Inference{Op: op, Attrs: c.Attrs, In: in, Out: make([]graph.Fact, 1)}
	if err := pool(forward); err != nil {
		return err
	}
	if y, err = y.Merge(forward.Out[0].Shape); err == nil {
		c.set(0, y)
	}
	return err
}

func maxPoolGradWithArgmax(c *Inference) error {
	if err := c.need(3); err != nil {
		return err
	}
	return c.sameAs(0, 4)
}

func maxPool3DGrad(c *Inference) error {
	if err := c.need(3); err != nil {
		return err
	}
	return c.sameAs(0, 5)
}

// sameAs sets output 0's shape to that of input i. An input of another rank is an
// error.
func (c *Inference) sameAs(i, rank int) error {
	s, err := c.ranked(i, rank)
	if err == nil {
		c.set(0, s)
	}
	return err
}

func poolGrad(c *Inference) error {
	if err := c.need(2); err != nil {
		return err
	}
	rank := 4
	if c.Op == "AvgPool3DGrad" {
		rank = 5
	}
	s, err := c.rankedSizes(0, rank, "the shape")
	if err == nil {
		c.set(0, s)
	}
	return err
}

// channels returns the shape of input i, an image, its layout, and the number of its
// channels: the vectors in the inputs of the list from must have as many elements.
func (c *Inference) channels(i int, from ...int) (graph.PartialShape, Layout, int, error) {
	format := c.Attrs.String("data_format", "NHWC")
	l, err := LayoutOf(format)
	if err != nil {
		return graph.PartialShape{}, l, 0, err
	}
	x, err := c.ranked(i, len(format))
	if err != nil {
		return x, l, 0, err
	}
	n := x.Dim(l.Channels)
	for _, k := range from {
		m, err := c.vector(k)
		if err != nil {
			return x, l, 0, err
		}
		if m == 0 {
			continue // empty: the op computes these moments
		}
		d, ok := graph.MergeDim(n, m)
		if !ok {
			return x, l, 0, fmt.Errorf("the image has %d channels, input %d %d elements", n, k, m)
		}
		n = d
	}
	return x.With(l.Channels, n), l, n, nil
}

func batchNorm(c *Inference) error {
	if err := c.need(5); err != nil {
		return err
	}
	from := []int{1, 2}
	if c.Attrs.Has("is_training") && !c.Attrs.Bool("is_training") {
		from = []int{1, 2, 3, 4}
	}
	x, _, n, err := c.channels(0, from...)
	if err != nil {
		return err
	}
	c.set(0, x)
	for i := 1; i < 5; i++ {
		c.setDims(i, n)
	}
	if len(c.Out) > 5 {
		// Values for the gradient that the device keeps; on a CPU it is empty.
		c.setDims(5, 0)
	}
	return nil
}

func batchNormGrad(c *Inference) error {
	if err := c.atLeast(5); err != nil {
		return err
	}
	dy, _, _, err := c.channels(0)
	if err != nil {
		return err
	}
	x, l, n, err := c.channels(1, 2)
	if err != nil {
		return err
	}
	s, err := dy.Merge(x)
	if err != nil {
		return err
	}
	if n < 0 {
		n = s.Dim(l.Channels)
	}
	c.set(0, s)
	c.setDims(1, n)
	c.setDims(2, n)
	for i := 3; i < len(c.Out); i++ {
		c.setDims(i, 0) // has no meaning; some of TensorFlow's kernels return one element
	}
	return nil
}

// image infers the output of ops that return an image of the shape of input 0.
func image(c *Inference) error {
	if err := c.atLeast(1); err != nil {
		return err
	}
	s, err := c.ranked(0, 4)
	if err == nil {
		c.set(0, s)
	}
	return err
}

// images infers the output of ops on images that all have the shape of the
// output.
func images(c *Inference) error {
	s := graph.OfRank(4)
	for i := range c.In {
		var err error
		if s, err = s.Merge(c.shape(i)); err != nil {
			return err
		}
	}
	c.set(0, s)
	return nil
}
