package shape

import (
	"fmt"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/tensor"
)

// compositeRules returns the rules of ops that are made of other ops.
func compositeRules() map[string]Rule {
	return map[string]Rule{
		"BatchNormWithGlobalNormalization": globalNorm, "BatchNormWithGlobalNormalizationGrad": globalNorm,
		"FusedPadConv2D": padConv, "FusedResizeAndPadConv2D": resizePadConv,
		"Conv3DBackpropInput": likeOfRank(0, 5), "Conv3DBackpropFilter": likeOfRank(1, 5), "Conv": anyConv,
		"DebugNanCount": oneNumber, "ApproxTopK": approxTopK,
	}
}

// inferred returns the fact that an op's rule infers of its first output.
func (c *Inference) inferred(rule Rule, op string, attrs graph.Attrs, in ...graph.Fact) (graph.Fact, error) {
	inner := &Inference{Op: op, Attrs: attrs, In: in, Out: make([]graph.Fact, 1), Call: c.Call}
	err := rule(inner)
	return inner.Out[0], err
}

// globalNorm infers images and, for the gradient, vectors of their channels.
func globalNorm(c *Inference) error {
	if err := c.need(5); err != nil {
		return err
	}
	images, vectors := []int{0}, []int{1, 2, 3}
	if c.Op == "BatchNormWithGlobalNormalization" {
		vectors = append(vectors, 4)
	} else {
		images = append(images, 4)
	}
	x, channels := graph.OfRank(4), graph.NewDim()
	for _, i := range images {
		var err error
		if x, err = x.Merge(c.In[i].Shape); err != nil {
			return err
		}
	}
	for _, i := range vectors {
		s, err := graph.OfRank(1).Merge(c.In[i].Shape)
		if err != nil {
			return err
		}
		var fits bool
		if channels, fits = graph.MergeDim(channels, s.Dim(0)); !fits {
			return fmt.Errorf("the vectors have different lengths")
		}
	}
	channels, fits := graph.MergeDim(channels, x.Dim(3))
	if !fits {
		return fmt.Errorf("the images have %d channels, the vectors %d elements", x.Dim(3), channels)
	}
	c.setDims(0, x.Dim(0), x.Dim(1), x.Dim(2), channels)
	for i := 1; i < len(c.Out); i++ {
		c.setDims(i, channels)
	}
	return nil
}

func padConv(c *Inference) error {
	if err := c.need(3); err != nil {
		return err
	}
	return paddedConv(c, c.In[0], c.In[1], c.In[2])
}

func resizePadConv(c *Inference) error {
	if err := c.need(4); err != nil {
		return err
	}
	x, err := c.inferred(resize, "ResizeBilinear", nil, c.In[0], c.In[1])
	if err != nil {
		return err
	}
	return paddedConv(c, x, c.In[2], c.In[3])
}

func paddedConv(c *Inference, x, paddings, filter graph.Fact) error {
	x, err := c.inferred(pad, "MirrorPad", c.Attrs, x, paddings)
	if err != nil {
		return err
	}
	out, err := c.inferred(conv, "Conv2D", c.Attrs, x, filter)
	if err != nil {
		return err
	}
	c.set(0, out.Shape)
	return nil
}

// ConvAttrs returns the attributes of Conv2D or Conv3D that are equivalent to
// those of Conv, and the op's name.
func ConvAttrs(as graph.Attrs) (graph.Attrs, string, error) {
	strides, dilations := as.Ints("strides"), as.Ints("dilations")
	op, layouts := "Conv2D", [2]string{"NHWC", "NCHW"}
	switch len(strides) {
	case 4:
	case 5:
		op, layouts = "Conv3D", [2]string{"NDHWC", "NCDHW"}
	default:
		return nil, "", fmt.Errorf("takes 2 or 3 spatial dimensions, there are %d strides", len(strides))
	}
	if len(dilations) == 0 {
		for range strides {
			dilations = append(dilations, 1)
		}
	}
	layout := layouts[0]
	if as.String("data_format", "") == "CHANNELS_FIRST" {
		layout = layouts[1]
	}
	out := graph.Attrs{graph.Ints("strides", strides...), graph.Ints("dilations", dilations...), graph.String("data_format", layout), graph.String("padding", as.String("padding", ""))}
	switch explicit := as.String("padding", "") == "EXPLICIT"; {
	case explicit && op == "Conv3D":
		return nil, "", fmt.Errorf("padding EXPLICIT takes 2 spatial dimensions")
	case explicit:
		out = append(out, graph.Ints("explicit_paddings", as.Ints("explicit_paddings")...))
	}
	return out, op, nil
}

func anyConv(c *Inference) error {
	if err := c.need(2); err != nil {
		return err
	}
	attrs, op, err := ConvAttrs(c.Attrs)
	if err != nil {
		return err
	}
	x, batch := c.In[0], int(c.Attrs.Int("batch_dims", 1))
	if batch == 1 {
		out, err := c.inferred(conv, op, attrs, x, c.In[1])
		if err == nil {
			c.set(0, out.Shape)
		}
		return err
	}
	if !x.Shape.HasRank() {
		return nil
	}
	if batch < 0 || batch > x.Shape.Rank() || x.Shape.Rank()-batch != len(c.Attrs.Ints("strides"))-1 {
		return fmt.Errorf("an input of %d dimensions has no %d of the batch besides %d others", x.Shape.Rank(), batch, len(c.Attrs.Ints("strides"))-1)
	}
	flat, leading := []int{graph.NewDim()}, []int{}
	for i := range x.Shape.Rank() {
		if i < batch {
			leading = append(leading, x.Shape.Dim(i))
		} else {
			flat = append(flat, x.Shape.Dim(i))
		}
	}
	x.Shape = graph.ShapeOf(flat...)
	out, err := c.inferred(conv, op, attrs, x, c.In[1])
	if err != nil || !out.Shape.HasRank() {
		return err
	}
	for i := 1; i < out.Shape.Rank(); i++ {
		leading = append(leading, out.Shape.Dim(i))
	}
	c.set(0, graph.ShapeOf(leading...))
	return nil
}

// likeOfRank infers the shape of an input that has to be of a rank.
func likeOfRank(input, rank int) Rule {
	return func(c *Inference) error {
		if err := c.atLeast(input + 1); err != nil {
			return err
		}
		s, err := graph.OfRank(rank).Merge(c.In[input].Shape)
		if err == nil {
			c.set(0, s)
		}
		return err
	}
}

// oneNumber infers a vector of one element.
func oneNumber(c *Inference) error {
	c.setDims(0, 1)
	return nil
}

func approxTopK(c *Inference) error {
	if err := c.need(1); err != nil {
		return err
	}
	s := c.In[0].Shape
	if !s.HasRank() {
		return nil
	}
	axis, k := c.Attrs.Int("reduction_dimension", -1), c.Attrs.Int("k", 0)
	if axis < 0 {
		axis += int64(s.Rank())
	}
	if axis < 0 || axis >= int64(s.Rank()) || k < 0 || k > 1<<31-1 || s.Rank() > tensor.MaxRank {
		return fmt.Errorf("reduction_dimension and k are %d and %d for %v", c.Attrs.Int("reduction_dimension", -1), k, s)
	}
	dims := make([]int, s.Rank())
	for i := range dims {
		dims[i] = s.Dim(i)
	}
	if n := dims[axis]; n >= 0 && int64(n) < k {
		return fmt.Errorf("there are %d elements, fewer than k = %d", n, k)
	}
	dims[axis] = int(k)
	c.setDims(0, dims...)
	c.setDims(1, dims...)
	return nil
}
