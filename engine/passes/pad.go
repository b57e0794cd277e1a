package passes

import (
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/tensor"
)

// foldPads adds zeros that a Pad puts around images to the padding of the
// convolution after it.
func foldPads(u *Unit) error {
	r, err := newRewriter(u)
	if err != nil {
		return err
	}
	for _, n := range r.nodes {
		if n.Op != "Conv2D" && n.Op != "DepthwiseConv2dNative" || n.Attrs.String("padding", "") != "VALID" {
			continue
		}
		p := n.In[0].Node
		if p.Op != "Pad" && p.Op != "PadV2" || r.only(n.In[0]) != n || p.Out[0].DType != tensor.Float32 || p.Op == "PadV2" && !all(p.In[2], 0) {
			continue
		}
		if attrs, ok := padded(n, p); ok {
			if err := r.replace(n, n.Op, attrs, p.In[0], n.In[1]); err != nil {
				return err
			}
		}
	}
	return r.finish()
}

// padded returns the attributes with which the convolution n does the work of
// the padding p; ok is false if there are none.
func padded(n, p *graph.Node) (attrs graph.Attrs, ok bool) {
	pads := p.In[1].Fact().Value
	image := p.In[0].Fact().Shape
	if pads == nil || pads.Len() != 8 || len(pads.Shape()) != 2 || !image.HasRank() || image.Rank() != 4 {
		return nil, false
	}
	wide := tensor.Must(tensor.Cast(pads, tensor.Int64))
	around := tensor.Values[int64](wide)
	spatial := []int{1, 2}
	if n.Attrs.String("data_format", "NHWC") == "NCHW" {
		spatial = []int{2, 3}
	}
	outside := int64(0)
	for d := range 4 {
		for _, v := range around[2*d : 2*d+2] {
			if v < 0 || v > 1<<16 {
				return nil, false
			}
			if d != spatial[0] && d != spatial[1] {
				outside += v
			}
		}
	}
	if outside > 0 {
		return nil, false
	}
	attrs = withoutTypes(n.Attrs).Without("explicit_paddings")
	if likeSame(n, image, around, spatial) {
		return attrs.Set(graph.String("padding", "SAME")), true
	}
	if n.Op == "DepthwiseConv2dNative" {
		return nil, false // TensorFlow's op with an epilogue knows no other paddings
	}
	return append(attrs.Set(graph.String("padding", "EXPLICIT")), graph.Ints("explicit_paddings", around...)), true
}

// likeSame reports whether padding SAME surrounds the image in the same way.
func likeSame(n *graph.Node, image graph.PartialShape, around []int64, spatial []int) bool {
	strides, dilations, filter := n.Attrs.Ints("strides"), n.Attrs.Ints("dilations"), n.In[1].Fact().Shape
	if len(strides) != 4 || !filter.HasRank() || filter.Rank() != 4 {
		return false
	}
	for i, d := range spatial {
		size, k, s, step := int64(image.Dim(d)), int64(filter.Dim(i)), strides[d], int64(1)
		if len(dilations) == 4 {
			step = dilations[d]
		}
		if size < 1 || k < 1 || s < 1 || step < 1 {
			return false
		}
		places := (size + s - 1) / s
		total := max((places-1)*s+(k-1)*step+1-size, 0)
		if around[2*d] != total/2 || around[2*d+1] != total-total/2 {
			return false
		}
	}
	return true
}
