package composite

import (
	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/tensor"
)

// Kernels returns the family's table. Package kernel adds the checks of inputs' ranks.
func Kernels() []engine.Kernel {
	floats := []tensor.DType{tensor.Float32, tensor.Float64, tensor.BFloat16, tensor.Float16}
	return []engine.Kernel{
		{Op: "BatchNormWithGlobalNormalization", Types: engine.Types{"T": {tensor.Float32, tensor.Float64, tensor.Float16}}, Prepare: of(5, globalNorm), Precision: engine.Accumulated},
		{Op: "BatchNormWithGlobalNormalizationGrad", Types: engine.Types{"T": {tensor.Float32, tensor.Float64, tensor.Float16}}, Prepare: of(5, globalNormGrad), Precision: engine.Accumulated},
		{Op: "FusedPadConv2D", Types: engine.Types{"T": floats}, Prepare: of(3, padConv), Precision: engine.Accumulated},
		{Op: "FusedResizeAndPadConv2D", Types: engine.Types{"T": {tensor.Float32, tensor.Float64, tensor.Float16}}, Prepare: of(4, resizePadConv), Precision: engine.Accumulated},
		{Op: "Conv3DBackpropInput", Types: engine.Types{"T": {tensor.Float32, tensor.Float64, tensor.Float16}}, Prepare: of(3, conv3DBackInput), Precision: engine.Accumulated},
		{Op: "Conv3DBackpropFilter", Types: engine.Types{"T": {tensor.Float32, tensor.Float64, tensor.Float16}}, Prepare: of(3, conv3DBackFilter), Precision: engine.Accumulated},
		{Op: "Conv", Prepare: prepareConv, Precision: engine.Accumulated},
		{Op: "SparseMatMul", Prepare: prepareSparseMatMul, Precision: engine.Accumulated},
		{Op: "QuantizeAndDequantize", Types: engine.Types{"T": {tensor.Float32, tensor.Float64}}, Prepare: of(1, quantizeAndDequantize)},
		{Op: "DebugNanCount", Types: engine.Types{"T": append(floats, tensor.Int8, tensor.Int16, tensor.Int32, tensor.Int64, tensor.Uint8, tensor.Uint16, tensor.Uint32, tensor.Uint64)}, Prepare: of(1, nanCount)},
		{Op: "ParseExampleDataset", Prepare: prepareParseDataset},
		{Op: "ParseExampleDatasetV2", Prepare: prepareParseDataset},
		{Op: "ExperimentalParseExampleDataset", Prepare: prepareParseDataset},
		{Op: "ApproxTopK", Types: engine.Types{"T": {tensor.Float32, tensor.BFloat16, tensor.Float16}}, Prepare: prepareTopK},
	}
}

// globalNorm normalizes images by moments and, if scale_after_normalization is
// set, by gamma. The inputs are images [batch, height, width, channels], mean,
// variance, beta and gamma, each [channels].
func globalNorm(b *body, in []graph.Output) []graph.Output {
	factor := b.deviation(in[2])
	if b.node.Attrs.Bool("scale_after_normalization") {
		factor = b.one("Mul", factor, in[4])
	}
	return []graph.Output{b.one("AddV2", b.one("Mul", b.one("Sub", in[0], in[1]), factor), in[3])}
}

// deviation returns one over the square root of a variance plus the attribute
// variance_epsilon.
func (b *body) deviation(variance graph.Output) graph.Output {
	epsilon := b.number(variance.Fact().DType, float64(float32(b.node.Attrs.Float("variance_epsilon", 0))))
	return b.one("Rsqrt", b.one("AddV2", variance, epsilon))
}

// globalNormGrad returns the gradients with regard to images, mean, variance,
// beta and gamma. The order of the products is that of TensorFlow's kernel.
func globalNormGrad(b *body, in []graph.Output) []graph.Output {
	t, m, v, gamma, dy := in[0], in[1], in[2], in[3], in[4]
	scale := b.deviation(v)
	weighted := b.sum(b.one("Mul", dy, b.one("Sub", t, m)), 0, 1, 2)
	db, factor := b.sum(dy, 0, 1, 2), scale
	dg := b.one("ZerosLike", gamma)
	if b.node.Attrs.Bool("scale_after_normalization") {
		factor, dg = b.one("Mul", scale, gamma), b.one("Mul", scale, weighted)
		weighted = b.one("Mul", weighted, gamma)
	}
	cube := b.one("Mul", b.one("Square", scale), scale)
	dv := b.one("Mul", weighted, b.one("Mul", cube, b.number(v.Fact().DType, -0.5)))
	return []graph.Output{b.one("Mul", dy, factor), b.one("Neg", b.one("Mul", db, factor)), dv, db, dg}
}

// padConv pads images by mirroring and convolves them.
func padConv(b *body, in []graph.Output) []graph.Output {
	x := b.op("MirrorPad", b.attrs("mode"), in[0], in[1])[0]
	return b.op("Conv2D", b.attrs("strides", "padding"), x, in[2])
}

// resizePadConv resizes images first, in single precision as all resizing.
func resizePadConv(b *body, in []graph.Output) []graph.Output {
	x := in[0]
	resized := b.op("ResizeBilinear", graph.Attrs{graph.Bool("align_corners", b.node.Attrs.Bool("resize_align_corners"))}, x, in[1])[0]
	return padConv(b, []graph.Output{b.cast(resized, x.Fact().DType), in[2], in[3]})
}

// conv3DBackInput and conv3DBackFilter run the second versions of the ops with
// the shapes of tensors for the inputs that are shapes there.
func conv3DBackInput(b *body, in []graph.Output) []graph.Output {
	return b.op("Conv3DBackpropInputV2", b.attrs("strides", "padding", "dilations"), b.one("Shape", in[0]), in[1], in[2])
}

func conv3DBackFilter(b *body, in []graph.Output) []graph.Output {
	return b.op("Conv3DBackpropFilterV2", b.attrs("strides", "padding", "dilations"), in[0], b.one("Shape", in[1]), in[2])
}

// quantizeAndDequantize takes the range from attributes.
func quantizeAndDequantize(b *body, in []graph.Output) []graph.Output {
	d, as := in[0].Fact().DType, b.node.Attrs
	return b.op("QuantizeAndDequantizeV2", b.attrs("signed_input", "num_bits", "range_given"),
		in[0], b.number(d, as.Float("input_min", 0)), b.number(d, as.Float("input_max", 0)))
}

// nanCount computes DebugNanCount: the number of NaN elements as int64[1]. If
// gated_grpc is set, the result is empty unless a debugger has asked for it.
func nanCount(b *body, in []graph.Output) []graph.Output {
	if b.node.Attrs.Bool("gated_grpc") { // for a debugger, which isn't attached here
		return []graph.Output{b.constant(tensor.Vector[int64]())}
	}
	if !in[0].Fact().DType.IsFloating() {
		return []graph.Output{b.constant(tensor.Vector[int64](0))}
	}
	counted := b.op("Reshape", nil, b.cast(b.one("IsNan", in[0]), tensor.Int64), b.constant(tensor.Vector[int32](-1)))[0]
	return []graph.Output{b.op("Reshape", nil, b.sum(counted, 0), b.constant(tensor.Vector[int32](1)))[0]}
}
