package kernel_test

import (
	"context"
	"testing"

	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/graph/shape"
	"github.com/cairnml/cairn/internal/testkit/opfixture"
	"github.com/cairnml/cairn/kernel"
	"github.com/cairnml/cairn/tensor"
)

// sizedByValues are the ops whose outputs' sizes depend on values that no rule
// reads: the elements that Where finds, the number of parts of a string.
var sizedByValues = map[string]bool{
	"Where": true, "StringSplit": true, "StringSplitV2": true, "StringNGrams": true, "UnicodeDecode": true,
	"UnicodeDecodeWithOffsets": true, "Unique": true, "UniqueWithCounts": true, "RegexSplitWithOffsets": true,
	"ParseExample": true, "ParseExampleV2": true, "ParseSingleExample": true, "ParseSequenceExample": true, "ParseSequenceExampleV2": true, "ParseSingleSequenceExample": true, "DecodeRaw": true, "DecodeProtoV2": true, "ParseTensor": true,
	"ListDiff": true, "UniqueV2": true, "UniqueWithCountsV2": true, "DynamicPartition": true,
	"SparseConcat": true, "SparseSlice": true, "SparseFillEmptyRows": true, "SparseSegmentSum": true, "SparseSegmentMean": true, "SparseSegmentSqrtN": true,
	"RaggedTensorToTensor": true, "RaggedRange": true, "RaggedGather": true, "RaggedTensorToSparse": true,
	"DenseCountSparseOutput": true, "SparseCountSparseOutput": true, "RaggedCountSparseOutput": true, "DenseToDenseSetOperation": true,
	"DenseToSparseSetOperation": true, "SparseToSparseSetOperation": true, "DeserializeSparse": true, "DeserializeManySparse": true,
	"RaggedCross": true, "RaggedFillEmptyRows": true, "SparseCross": true, "SparseCrossV2": true, "SparseCrossHashed": true, "SparseAdd": true, "SparseSparseMaximum": true,
	"SparseSparseMinimum": true, "SparseSplit": true, "SparseReduceSumSparse": true, "SparseReduceMaxSparse": true,
	"SparseSegmentSumGradV2": true, "SparseSegmentMeanGradV2": true, "SparseSegmentSqrtNGradV2": true,
	"DecodeWav":         true,
	"NonMaxSuppression": true, "NonMaxSuppressionV2": true, "NonMaxSuppressionV3": true, "NonMaxSuppressionV4": true, "NonMaxSuppressionV5": true,
	"DecodeJpeg": true, "DecodeAndCropJpeg": true, "DecodeWebP": true, "DecodePng": true, "DecodeGif": true, "DecodeBmp": true, "DecodeImage": true, "NonMaxSuppressionWithOverlaps": true,
	"NearestNeighbors": true, "ComputeAccidentalHits": true,
	"CTCGreedyDecoder": true, "CTCBeamSearchDecoder": true,
	// Windows of XLA, of whose output TensorFlow's rule infers the rank.
	"XlaConv": true, "XlaConvV2": true,
	// Memory whose size the rule doesn't know, as TensorFlow's.
	"CudnnRNN": true, "CudnnRNNV2": true, "CudnnRNNV3": true, "CudnnRNNCanonicalToParams": true, "CudnnRNNCanonicalToParamsV2": true,
	"CudnnRNNParamsToCanonical": true, "CudnnRNNParamsToCanonicalV2": true,
}

// TestShapeRulesTellWhatKernelsGive checks that the rule of an op, with all
// facts of the inputs, infers the types and shapes of the kernel's outputs, and
// no wrong elements. The fixture has the kernel's outputs:
// TestKernelsEqualTensorFlow compares them.
func TestShapeRulesTellWhatKernelsGive(t *testing.T) {
	fixtures := opfixture.Load(t, "testdata/tf2.21")
	all := shape.All()
	for _, op := range kernel.All().Ops() {
		if all.Lookup(op) == nil {
			t.Errorf("%s has a kernel and no shape rule", op)
		}
		for _, f := range fixtures[op] {
			c := &shape.Inference{Op: op, Attrs: f.EngineAttrs(t)}
			for i, x := range f.In {
				v := x.Tensor(t)
				if i < f.Vars {
					c.In = append(c.In, graph.Fact{DType: tensor.Resource, Shape: graph.ShapeOf(), Handle: []graph.Content{{DType: v.DType(), Shape: graph.Whole(v.Shape())}}})
				} else {
					c.In = append(c.In, graph.FactOf(v))
				}
			}
			var err error
			if c.Attrs, c.Out, err = graph.LookupOp(op).Bind(c.Attrs, c.In); err != nil {
				t.Errorf("%v: %v", f, err)
				continue
			}
			if err := all.Infer(c); err != nil {
				t.Errorf("%v: %v", f, err)
				continue
			}
			for i, x := range f.Out {
				want := x.Tensor(t)
				got := c.Out[i]
				if s, known := got.Shape.Tensor(); !sizedByValues[op] && (!known || !s.Equal(want.Shape())) || !got.Shape.Accepts(want.Shape()) {
					t.Errorf("%v: output %d is %v, not %v%v", f, i, got, want.DType(), want.Shape())
				}
				if got.DType != want.DType() {
					t.Errorf("%v: output %d is %v, not %v", f, i, got, want.DType())
				}
				if got.Value != nil && !got.Value.Equal(want) {
					t.Errorf("%v: output %d is %v, not %v", f, i, got.Value, want)
				}
			}
		}
	}
}

// TestGradientsOfUnaryOpsDontBroadcast holds their kernels to the rule: both
// inputs have one shape.
func TestGradientsOfUnaryOpsDontBroadcast(t *testing.T) {
	for _, op := range []string{"TanhGrad", "SigmoidGrad", "SqrtGrad", "RsqrtGrad", "ReciprocalGrad", "InvGrad", "ReluGrad", "Relu6Grad", "SoftplusGrad", "SoftsignGrad", "EluGrad", "SeluGrad", "LeakyReluGrad"} {
		s := function.Eager(context.Background())
		s.Emit(op, nil, tensor.Must(tensor.New([]float32{1, 2}, 2)), tensor.Scalar[float32](1))
		if s.Err() == nil {
			t.Errorf("%s took inputs of two shapes", op)
		}
	}
}
