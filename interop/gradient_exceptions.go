package main

import (
	"slices"
	"strings"

	"github.com/cairnml/cairn/internal/testkit/opfixture"
	"github.com/cairnml/cairn/tensor"
)

// gradientException says how far, and why, gradients of an op aren't compared with
// TensorFlow's. Each is about a version of TensorFlow: a newer one may need fewer. An
// exception must not be added to hide a fault of ours. An exception that isn't needed any
// more isn't reported: where the gradients agree, they count as compared.
//
// In its functions, place is the number of the op's argument.
type gradientException struct {
	// onlyHere is the reason why TensorFlow has no gradient but we do. TensorFlow's error
	// contains one of the texts of the next field. The reasons are printed in the summary.
	onlyHere string
	says     []string
	// onlyThere is the reason why we have no gradient but TensorFlow does.
	onlyThere string
	// differs is the reason why the gradients aren't equal with regard to the
	// arguments that where selects. A nil where selects all.
	differs string
	where   func(d *derivative, place int) bool
	// element limits differs to some elements of the gradient; nil means all.
	element func(d *derivative, place, i int) bool
	// only limits the exception to some calls; nil means all.
	only func(d *derivative) bool
	// flows are the numbers of the outputs from which TensorFlow's rule lets gradients
	// flow; it ignores the others without an error. nil means all.
	flows []int
}

// covers reports whether the exception is about a call.
func (e gradientException) covers(d *derivative) bool { return e.only == nil || e.only(d) }

// allows reports whether TensorFlow's error is the one that the exception is about.
func (e gradientException) allows(err error) bool {
	for _, text := range e.says {
		if strings.Contains(err.Error(), text) {
			return true
		}
	}
	return false
}

const unregistered = "TensorFlow registers no gradient of the op"

var (
	removed     = gradientException{onlyHere: "TensorFlow has removed the op from graphs of today", says: []string{"It has been removed in version"}}
	ignoring    = gradientException{onlyHere: "TensorFlow's rule gathers without the op's bad_indices_policy", says: []string{"does not index into param shape", "does not index into shape"}, only: ignoresBadIndices}
	scalarDense = gradientException{onlyHere: "TensorFlow's rule takes no dense scalar",
		says: []string{"params must be at least a vector", "Only tensors with ranks between 1 and 5"}, only: denseIsScalar}
	factors     = gradientException{differs: conjugation, where: isComplex}
	otherLength = gradientException{
		onlyHere: "TensorFlow's rule needs an input that is neither cut nor padded",
		says:     []string{"Incompatible shapes", "Matrix size-incompatible"},
		differs:  "TensorFlow's rule counts on an input that is neither cut nor padded", only: cutsOrPads}
	shardMarks     = gradientException{onlyHere: "TensorFlow has the marks of shards in compiled functions only", says: []string{"No OpKernel was registered"}}
	lacks          = gradientException{onlyHere: unregistered, says: []string{"No gradient defined for operation"}}
	int64Axes      = gradientException{onlyHere: "TensorFlow's rule takes no int64 axes where it doesn't know the shape", says: []string{"DynamicStitch"}}
	transformsBack = gradientException{
		onlyHere: "TensorFlow's rule takes no images of bfloat16", says: []string{"Invalid dtype"},
		differs: "TensorFlow inverts the transforms in single precision, which tells next to the edges between pixels, and in images of doubles",
		only: func(d *derivative) bool {
			t := d.in[0].DType()
			return t == tensor.BFloat16 || t == tensor.Float64 || d.attrs.String("interpolation", "") == "NEAREST"
		}}
	leftover    = gradientException{differs: "TensorFlow leaves what was in memory where there are no indices", where: noIndices}
	conjugation = "TensorFlow's rule doesn't conjugate complex factors, as those of its other ops do"
)

func isComplex(d *derivative, place int) bool { return d.in[place].DType().IsComplex() }

// ignoresBadIndices reports whether the call leaves bad indices out.
func ignoresBadIndices(d *derivative) bool {
	return d.attrs.String("bad_indices_policy", "") == "IGNORE"
}

func denseIsScalar(d *derivative) bool { return len(d.in[3].Shape()) == 0 }

// cutsOrPads reports whether a real Fourier transform takes another size than its
// input has.
func cutsOrPads(d *derivative) bool {
	lengths := slices.Clone(tensor.Values[int32](d.in[1]))
	if d.in[0].DType().IsComplex() { // the inverse, which takes half of the last dimension
		last := len(lengths) - 1
		lengths[last] = lengths[last]/2 + 1
	}
	shape := d.in[0].Shape()
	for i, size := range shape[len(shape)-len(lengths):] {
		if int(lengths[i]) != size {
			return true
		}
	}
	return false
}

// isZero reports whether element i of the argument is 0.
func isZero(d *derivative, place, i int) bool { return opfixture.Numbers(d.in[place])[i] == 0 }

func noIndices(d *derivative, _ int) bool { return d.in[1].Len() == 0 }

// gradientExceptions are the exceptions by op, or by the name of a program.
var gradientExceptions = map[string]gradientException{
	"BlockLSTM":               {flows: []int{1, 6}},
	"BlockLSTMV2":             {flows: []int{1, 6}, differs: "TensorFlow's rule calls the gradient of BlockLSTM, whose gates have another order"},
	"Snapshot":                lacks,
	"SoftsignGrad":            lacks,
	"MaxPoolGradGradV2":       lacks,
	"Sum":                     int64Axes,
	"Mean":                    int64Axes,
	"Prod":                    int64Axes,
	"Max":                     int64Axes,
	"Min":                     int64Axes,
	"XlaSpmdFullToShardShape": shardMarks, "XlaSpmdShardToFullShape": shardMarks,
	"MaxPoolWithArgmax": {onlyHere: "TensorFlow's CPU kernel of the gradient takes no int32 places", says: []string{"No OpKernel was registered"}},
	"Conv2D": {onlyHere: "TensorFlow's CPU kernels of the gradients take neither dilations nor groups",
		says: []string{"dilation rates larger than 1", "grouped convolutions", "filter_size does not have enough elements"}},
	"MaxPool": {onlyHere: "TensorFlow's CPU kernel of the gradient takes no windows over channels", says: []string{"depth dimension"}},
	"a branch in a loop": {onlyHere: "TensorFlow can't differentiate a loaded loop with a branch over a variable, not even its own",
		says: []string{"variable without handle data"}},
	"SparseSegmentSum":                  leftover,
	"SparseSegmentMean":                 leftover,
	"SparseSegmentSqrtN":                leftover,
	"SparseSegmentSumWithNumSegments":   leftover,
	"SparseSegmentMeanWithNumSegments":  leftover,
	"SparseSegmentSqrtNWithNumSegments": leftover,
	"SparseToDense":                     {onlyHere: "TensorFlow's rule takes no places as a vector", says: []string{"indices.shape[-1] must be <= params.rank"}},
	"Cumprod":                           {differs: conjugation, where: isComplex},
	"MulNoNan":                          {differs: conjugation, where: isComplex},
	"SquaredDifference":                 {differs: conjugation, where: isComplex},
	"PadV2": {differs: "TensorFlow's rule leaves out what is filled in",
		where: func(_ *derivative, place int) bool { return place == 1 || place == 2 }},
	"SoftmaxCrossEntropyWithLogits": {differs: "TensorFlow's rule leaves out what flows from the second output to the labels",
		where: func(_ *derivative, place int) bool { return place == 1 }},
	"MatrixDeterminant":   factors,
	"SegmentProd":         factors,
	"TanhGrad":            factors,
	"Xdivy":               factors,
	"Xlogy":               factors,
	"Xlog1py":             factors,
	"UnsortedSegmentProd": factors,
	"LogMatrixDeterminant": {differs: "TensorFlow's rule lets what flows into the imaginary part, which is always 0, flow on",
		where: isComplex},
	"AdjustContrast":                       removed,
	"AudioSummary":                         removed,
	"ApproxTopK":                           {onlyThere: "whoever trains takes TopKV2, which gives the same"},
	"BatchNormWithGlobalNormalizationGrad": removed,
	"Conv3DBackpropFilter":                 removed,
	"Conv3DBackpropInput":                  removed,
	"BatchCholesky":                        removed,
	"BatchCholeskyGrad":                    removed,
	"BatchMatrixBandPart":                  removed,
	"BatchMatrixDeterminant":               removed,
	"BatchMatrixDiag":                      removed,
	"BatchMatrixDiagPart":                  removed,
	"BatchMatrixInverse":                   removed,
	"BatchMatrixSetDiag":                   removed,
	"BatchMatrixSolve":                     removed,
	"BatchMatrixSolveLs":                   removed,
	"BatchMatrixTriangularSolve":           removed,
	"BatchSelfAdjointEig":                  removed,
	"MatrixExponential":                    removed,

	"BatchNormWithGlobalNormalization": removed,
	"QuantizeAndDequantize":            removed,
	"SelfAdjointEig":                   removed,
	"ScaleAndTranslate": {onlyHere: "TensorFlow's rule takes no images of another type than the gradient's", says: []string{"Input 'original_image' of 'ScaleAndTranslateGrad' Op has type"},
		only: func(d *derivative) bool { return d.in[0].DType() != tensor.Float32 }},
	"ScatterNd":               ignoring,
	"ScatterNdNonAliasingAdd": ignoring,
	"TensorScatterAdd":        ignoring,
	"TensorScatterSub":        ignoring,
	"TensorScatterUpdate":     ignoring,
	"GatherNd": {onlyHere: "TensorFlow's slices keep the indices that the op leaves out", says: []string{"is out of range"},
		only: ignoresBadIndices},
	"SparseDenseCwiseMul": scalarDense,
	"SparseDenseCwiseDiv": scalarDense,
	"RFFT":                otherLength,
	"RFFT2D":              otherLength,
	"IRFFT":               otherLength,
	"IRFFT2D":             otherLength,
	"TopKV2": {onlyHere: "TensorFlow's rule takes places of int32 alone", says: []string{"Input 'y' of 'AddV2' Op has type int32"},
		only: func(d *derivative) bool { return d.attrs.Type("index_type", tensor.Int32) != tensor.Int32 }},
	"IsotonicRegression": {onlyHere: "TensorFlow's rule looks for the greatest segment of none", says: []string{"must not be negative"},
		only: func(d *derivative) bool { return d.in[0].Len() == 0 }},
	"QuantizeAndDequantizeV4Grad": {onlyHere: "TensorFlow's rule doesn't take the gradients of all outputs",
		says: []string{"_QuantizeAndDequantizeV4GradGrad() takes 2 positional arguments"}},
	"Svd":                        {differs: "TensorFlow's rule lets what flows into the imaginary part of the values, which is always 0, flow on", where: isComplex},
	"TridiagonalSolve":           factors,
	"ImageProjectiveTransformV2": transformsBack,
	"ImageProjectiveTransformV3": transformsBack,
	"MatrixSolveLs":              factors,
	"MatrixSquareRoot":           factors,
	"BandedTriangularSolve": {onlyHere: "TensorFlow's rule gives a single diagonal as a vector",
		says: []string{"Incompatible shapes between op input and calculated input gradient"},
		only: func(d *derivative) bool { s := d.in[0].Shape(); return s[len(s)-2] == 1 }},
	"SparseSoftmax": {differs: "TensorFlow rounds each step of the softmax to half precision, in which small gradients cancel out",
		only: func(d *derivative) bool { return d.in[1].DType() == tensor.Float16 }},
	"BesselI1": {differs: "TensorFlow's rule has 1 at 0, where the slope is 0.5", element: isZero},
}
