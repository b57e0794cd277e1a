package kernel

import (
	"fmt"

	"github.com/cairnml/cairn/engine"
)

// rank is the rule for the shape of an input that is a scalar or a list of numbers.
type rank struct {
	input int    // the input's index; a negative one counts from the end
	name  string // the input's name in an error
	want  wanted
}

// wanted is the ranks that an input may have.
type wanted uint8

const (
	scalar wanted = iota
	vector
	scalarOrVector
)

func (w wanted) String() string {
	return [...]string{"a scalar", "a vector", "a scalar or a vector"}[w]
}

// accepts reports whether a tensor of a rank fits.
func (w wanted) accepts(rank int) bool {
	switch w {
	case scalar:
		return rank == 0
	case vector:
		return rank == 1
	}
	return rank <= 1
}

// withRanks changes a table so that the kernels of ops in ranks check the shapes of their inputs
// first. It returns the table.
func withRanks(table []engine.Kernel) []engine.Kernel {
	for i := range table {
		k := &table[i]
		rules := ranks[k.Op]
		if rules == nil {
			continue
		}
		if run := k.Run; run != nil {
			k.Run = checked(rules, run)
		}
		if prepare := k.Prepare; prepare != nil {
			k.Prepare = func(n *engine.Node) (func(*engine.Call) error, error) {
				run, err := prepare(n)
				if err != nil || run == nil {
					return run, err
				}
				return checked(rules, run), nil
			}
		}
	}
	return table
}

// checked returns a function that runs a kernel if its inputs follow the rules.
func checked(rules []rank, run func(*engine.Call) error) func(*engine.Call) error {
	return func(c *engine.Call) error {
		for _, r := range rules {
			i := r.input
			if i < 0 {
				i += c.NumIn()
			}
			if i < 0 || i >= c.NumIn() {
				continue // the kernel reports the number of inputs
			}
			if t := c.In(i); t != nil && !r.want.accepts(t.Rank()) {
				return fmt.Errorf("%s has shape %v (want %v)", r.name, t.Shape(), r.want)
			}
		}
		return run(c)
	}
}

// ranks has the ops whose kernels in TensorFlow refuse inputs of other ranks, also if these have
// the same number of elements. TestScalarsAreThoseOfTensorFlow compares them.
var ranks = map[string][]rank{
	"AudioSummaryV2":                       {{0, "tag", scalar}},
	"BatchToSpaceND":                       {{1, "block_shape", vector}},
	"Bincount":                             {{1, "size", scalar}},
	"BlockLSTM":                            {{0, "seq_len_max", scalar}},
	"BlockLSTMGrad":                        {{0, "seq_len_max", scalar}},
	"BlockLSTMGradV2":                      {{0, "seq_len_max", scalar}},
	"BlockLSTMV2":                          {{0, "seq_len_max", scalar}},
	"BroadcastArgs":                        {{0, "s0", vector}},
	"BroadcastGradientArgs":                {{1, "s1", vector}},
	"CombinedNonMaxSuppression":            {{2, "max_output_size_per_class", scalar}, {3, "max_total_size", scalar}, {4, "iou_threshold", scalar}, {5, "score_threshold", scalar}},
	"ConcatV2":                             {{-1, "axis", scalarOrVector}},
	"DecodePaddedRaw":                      {{1, "fixed_length", scalar}},
	"DecodeWav":                            {{0, "contents", scalar}},
	"DenseBincount":                        {{1, "size", scalar}},
	"EncodeJpegVariableQuality":            {{1, "quality", scalar}},
	"EncodeWav":                            {{1, "sample_rate", scalar}},
	"Fingerprint":                          {{1, "method", scalar}},
	"GatherV2":                             {{2, "axis", scalar}},
	"HistogramFixedWidth":                  {{2, "nbins", scalar}},
	"HistogramSummary":                     {{0, "tag", scalar}},
	"IRFFT":                                {{1, "fft_length", vector}},
	"ImageProjectiveTransformV3":           {{3, "fill_value", scalar}},
	"InTopKV2":                             {{2, "k", scalar}},
	"KMC2ChainInitialization":              {{1, "seed", scalar}},
	"KmeansPlusPlusInitialization":         {{1, "num_to_sample", scalar}, {2, "seed", scalar}, {3, "num_retries_per_sample", scalar}},
	"LinSpace":                             {{0, "start", scalar}, {1, "stop", scalar}, {2, "num", scalar}},
	"MatrixBandPart":                       {{1, "num_lower", scalar}, {2, "num_upper", scalar}},
	"MatrixDiagV2":                         {{2, "num_rows", scalar}, {3, "num_cols", scalar}, {4, "padding_value", scalar}},
	"MatrixDiagV3":                         {{2, "num_rows", scalar}, {3, "num_cols", scalar}, {4, "padding_value", scalar}},
	"Mfcc":                                 {{1, "sample_rate", scalar}},
	"NearestNeighbors":                     {{2, "k", scalar}},
	"NonMaxSuppression":                    {{2, "max_output_size", scalar}},
	"NonMaxSuppressionV2":                  {{2, "max_output_size", scalar}, {3, "iou_threshold", scalar}},
	"NonMaxSuppressionV3":                  {{2, "max_output_size", scalar}, {3, "iou_threshold", scalar}, {4, "score_threshold", scalar}},
	"NonMaxSuppressionV4":                  {{2, "max_output_size", scalar}, {3, "iou_threshold", scalar}, {4, "score_threshold", scalar}},
	"NonMaxSuppressionV5":                  {{2, "max_output_size", scalar}, {3, "iou_threshold", scalar}, {4, "score_threshold", scalar}, {5, "soft_nms_sigma", scalar}},
	"NonMaxSuppressionWithOverlaps":        {{2, "max_output_size", scalar}, {3, "overlap_threshold", scalar}, {4, "score_threshold", scalar}},
	"NthElement":                           {{1, "n", scalar}},
	"OneHot":                               {{1, "depth", scalar}, {2, "on_value", scalar}, {3, "off_value", scalar}},
	"PadV2":                                {{2, "constant_values", scalar}},
	"ParseSingleSequenceExample":           {{0, "serialized", scalar}, {-1, "debug_name", scalar}},
	"ParseTensor":                          {{0, "serialized", scalar}},
	"QuantizeAndDequantizeV3":              {{3, "num_bits", scalar}},
	"QuantizeDownAndShrinkRange":           {{1, "input_min", scalar}, {2, "input_max", scalar}},
	"QuantizedAdd":                         {{2, "min_x", scalar}, {3, "max_x", scalar}, {4, "min_y", scalar}, {5, "max_y", scalar}},
	"QuantizedAvgPool":                     {{1, "min_input", scalar}, {2, "max_input", scalar}},
	"QuantizedBiasAdd":                     {{2, "min_input", scalar}, {3, "max_input", scalar}, {4, "min_bias", scalar}, {5, "max_bias", scalar}},
	"QuantizedConcat":                      {{0, "concat_dim", scalar}},
	"QuantizedInstanceNorm":                {{1, "x_min", scalar}, {2, "x_max", scalar}},
	"QuantizedMatMul":                      {{2, "min_a", scalar}},
	"QuantizedMatMulWithBias":              {{3, "min_a", scalar}, {4, "max_a", scalar}, {5, "min_b", scalar}, {6, "max_b", scalar}},
	"QuantizedMatMulWithBiasAndDequantize": {{3, "min_a", scalar}, {4, "max_a", scalar}, {5, "min_b", scalar}, {6, "max_b", scalar}, {7, "min_freezed_output", scalar}, {8, "max_freezed_output", scalar}},
	"QuantizedMatMulWithBiasAndRelu":       {{3, "min_a", scalar}, {4, "max_a", scalar}, {5, "min_b", scalar}, {6, "max_b", scalar}},
	"QuantizedMatMulWithBiasAndReluAndRequantize": {{3, "min_a", scalar}, {4, "max_a", scalar}, {5, "min_b", scalar}, {6, "max_b", scalar}, {7, "min_freezed_output", scalar}, {8, "max_freezed_output", scalar}},
	"QuantizedMatMulWithBiasAndRequantize":        {{3, "min_a", scalar}, {4, "max_a", scalar}, {5, "min_b", scalar}, {6, "max_b", scalar}, {7, "min_freezed_output", scalar}, {8, "max_freezed_output", scalar}},
	"QuantizedMaxPool":                            {{1, "min_input", scalar}, {2, "max_input", scalar}},
	"QuantizedMul":                                {{2, "min_x", scalar}, {3, "max_x", scalar}, {4, "min_y", scalar}, {5, "max_y", scalar}},
	"QuantizedRelu":                               {{1, "min_features", scalar}, {2, "max_features", scalar}},
	"QuantizedRelu6":                              {{1, "min_features", scalar}, {2, "max_features", scalar}},
	"QuantizedReshape":                            {{2, "input_min", scalarOrVector}, {3, "input_max", scalarOrVector}},
	"QuantizedResizeBilinear":                     {{2, "min", scalar}, {3, "max", scalar}},
	"RFFT":                                        {{1, "fft_length", vector}},
	"RaggedBincount":                              {{2, "size", scalar}},
	"RaggedFillEmptyRows":                         {{2, "nrows", scalar}},
	"Range":                                       {{0, "start", scalarOrVector}, {1, "limit", scalarOrVector}, {2, "delta", scalarOrVector}},
	"RegexFullMatch":                              {{1, "pattern", scalar}},
	"RegexReplace":                                {{1, "pattern", scalar}, {2, "rewrite", scalar}},
	"Requantize":                                  {{1, "input_min", scalar}, {2, "input_max", scalar}, {3, "requested_output_min", scalar}, {4, "requested_output_max", scalar}},
	"SampleDistortedBoundingBoxV2":                {{2, "min_object_covered", scalar}},
	"ScatterNd":                                   {{2, "shape", vector}},
	"ShardedFilename":                             {{0, "basename", scalar}, {1, "shard", scalar}, {2, "num_shards", scalar}},
	"ShardedFilespec":                             {{0, "basename", scalar}, {1, "num_shards", scalar}},
	"Slice":                                       {{1, "begin", vector}, {2, "size", vector}},
	"SobolSample":                                 {{0, "dim", scalar}, {1, "num_results", scalar}, {2, "skip", scalar}},
	"SpaceToBatchND":                              {{1, "block_shape", vector}},
	"SparseAdd":                                   {{6, "thresh", scalar}},
	"SparseBincount":                              {{3, "size", scalar}},
	"SparseCrossV2":                               {{-1, "sep", scalar}},
	"SparseFillEmptyRows":                         {{3, "default_value", scalar}},
	"SparseReshape":                               {{2, "new_shape", vector}},
	"SparseSegmentMeanGrad":                       {{3, "output_dim0", scalar}},
	"SparseSegmentMeanGradV2":                     {{3, "dense_output_dim0", scalar}},
	"SparseSegmentMeanWithNumSegments":            {{3, "num_segments", scalar}},
	"SparseSegmentSqrtNGrad":                      {{3, "output_dim0", scalar}},
	"SparseSegmentSqrtNGradV2":                    {{3, "dense_output_dim0", scalar}},
	"SparseSegmentSqrtNWithNumSegments":           {{3, "num_segments", scalar}},
	"SparseSegmentSumGrad":                        {{3, "output_dim0", scalar}},
	"SparseSegmentSumGradV2":                      {{3, "dense_output_dim0", scalar}},
	"SparseSegmentSumWithNumSegments":             {{3, "num_segments", scalar}},
	"SparseSplit":                                 {{0, "split_dim", scalar}},
	"SparseToDense":                               {{1, "output_shape", vector}, {3, "default_value", scalar}},
	"StatelessMultinomial":                        {{1, "num_samples", scalar}},
	"StatelessParameterizedTruncatedNormal":       {{0, "shape", vector}},
	"StatelessRandomGammaV2":                      {{0, "shape", vector}},
	"StatelessRandomGammaV3":                      {{0, "shape", vector}, {1, "key", vector}, {3, "alg", scalar}},
	"StatelessRandomNormal":                       {{0, "shape", vector}},
	"StatelessRandomNormalV2":                     {{0, "shape", vector}, {1, "key", vector}, {3, "alg", scalar}},
	"StatelessRandomUniform":                      {{0, "shape", vector}},
	"StatelessRandomUniformFullInt":               {{0, "shape", vector}},
	"StatelessRandomUniformFullIntV2":             {{0, "shape", vector}, {1, "key", vector}, {3, "alg", scalar}},
	"StatelessRandomUniformInt":                   {{0, "shape", vector}, {2, "minval", scalar}, {3, "maxval", scalar}},
	"StatelessRandomUniformIntV2":                 {{0, "shape", vector}, {1, "key", vector}, {3, "alg", scalar}, {4, "minval", scalar}, {5, "maxval", scalar}},
	"StatelessRandomUniformV2":                    {{0, "shape", vector}, {1, "key", vector}, {3, "alg", scalar}},
	"StatelessSampleDistortedBoundingBox":         {{2, "min_object_covered", scalar}},
	"StatelessShuffle":                            {{1, "key", vector}, {3, "alg", scalar}},
	"StatelessTruncatedNormal":                    {{0, "shape", vector}},
	"StatelessTruncatedNormalV2":                  {{0, "shape", vector}, {1, "key", vector}, {3, "alg", scalar}},
	"StridedSlice":                                {{1, "begin", vector}, {2, "end", vector}, {3, "strides", vector}},
	"StridedSliceGrad":                            {{0, "shape", vector}, {1, "begin", vector}, {2, "end", vector}, {3, "strides", vector}},
	"StringSplit":                                 {{0, "input", vector}, {1, "delimiter", scalar}},
	"StringSplitV2":                               {{1, "sep", scalar}},
	"TensorStridedSliceUpdate":                    {{1, "begin", vector}, {2, "end", vector}, {3, "strides", vector}},
	"TensorSummaryV2":                             {{0, "tag", scalar}, {2, "serialized_summary_metadata", scalar}},
	"TopKV2":                                      {{1, "k", scalar}},
	"Transpose":                                   {{1, "perm", vector}},
	"UnicodeEncode":                               {{0, "input_values", vector}},
	"UniqueV2":                                    {{1, "axis", vector}},
	"UniqueWithCountsV2":                          {{1, "axis", vector}},
	"UnsortedSegmentJoin":                         {{2, "num_segments", scalar}},
	"UnsortedSegmentMax":                          {{2, "num_segments", scalar}},
	"UnsortedSegmentMin":                          {{2, "num_segments", scalar}},
	"UnsortedSegmentProd":                         {{2, "num_segments", scalar}},
	"UnsortedSegmentSum":                          {{2, "num_segments", scalar}},
}
