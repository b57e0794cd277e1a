package main

import "strings"

// gradientException says why gradients of an op aren't held against TensorFlow's.
type gradientException struct {
	// onlyHere is why TensorFlow takes no gradient where we do; its error contains
	// one of says.
	onlyHere string
	says     []string
	// onlyThere is why we take none where TensorFlow does.
	onlyThere string
	// differs is why the gradients aren't equal with regard to the arguments for
	// which where is true, nil meaning all.
	differs string
	where   func(d *derivative, place int) bool
	// flows are the outputs from which TensorFlow's rule lets gradients flow; it
	// leaves the others out without a word. nil means all.
	flows []int
}

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
	lacks       = gradientException{onlyHere: unregistered, says: []string{"No gradient defined for operation"}}
	int64Axes   = gradientException{onlyHere: "TensorFlow's rule takes no int64 axes where it doesn't know the shape", says: []string{"DynamicStitch"}}
	leftover    = gradientException{differs: "TensorFlow leaves what was in memory where there are no indices", where: noIndices}
	conjugation = "TensorFlow's rule doesn't conjugate complex factors, as those of its other ops do"
)

func isComplex(d *derivative, place int) bool { return d.in[place].DType().IsComplex() }

func noIndices(d *derivative, _ int) bool { return d.in[1].Len() == 0 }

var gradientExceptions = map[string]gradientException{
	"BlockLSTM":         {flows: []int{1, 6}},
	"BlockLSTMV2":       {flows: []int{1, 6}, differs: "TensorFlow's rule calls the gradient of BlockLSTM, whose gates have another order"},
	"Snapshot":          lacks,
	"SoftsignGrad":      lacks,
	"MaxPoolGradGradV2": lacks,
	"Sum":               int64Axes,
	"Mean":              int64Axes,
	"Prod":              int64Axes,
	"Max":               int64Axes,
	"Min":               int64Axes,
	"MaxPoolWithArgmax": {onlyHere: "TensorFlow's CPU kernel of the gradient takes no int32 places", says: []string{"No OpKernel was registered"}},
	"Conv2D": {onlyHere: "TensorFlow's CPU kernels of the gradients take neither dilations nor groups",
		says: []string{"dilation rates larger than 1", "grouped convolutions"}},
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
}
