package kernel_test

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"context"
	"encoding/binary"
	"errors"
	"image"
	"image/jpeg"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/kernel"
	"github.com/cairnml/cairn/tensor"
)

// packed returns n zeros, compressed.
func packed(n int, open func(io.Writer) io.WriteCloser) string {
	var b bytes.Buffer
	w := open(&b)
	zero := make([]byte, 1<<20)
	for at := 0; at < n; at += len(zero) {
		_, _ = w.Write(zero)
	}
	_ = w.Close()
	return b.String()
}

func zipped(w io.Writer) io.WriteCloser   { return gzip.NewWriter(w) }
func deflated(w io.Writer) io.WriteCloser { return zlib.NewWriter(w) }

// shortJPEG returns the beginning of a JPEG file of n×n pixels with three components.
func shortJPEG(n int) string {
	var w bytes.Buffer
	_ = jpeg.Encode(&w, image.NewYCbCr(image.Rect(0, 0, 16, 16), image.YCbCrSubsampleRatio420), nil)
	b := w.Bytes()
	at := bytes.Index(b, []byte{0xff, 0xc0})
	binary.BigEndian.PutUint16(b[at+5:], uint16(n))
	binary.BigEndian.PutUint16(b[at+7:], uint16(n))
	return string(b[:len(b)-2])
}

// TestCallsStayWithinTheirMemory calls ops with small inputs that ask for much memory: for
// their outputs, for texts or for scratch. With a limit of a few MiB each call is refused by an
// error, and all that it allocates until then is in proportion to the limit.
func TestCallsStayWithinTheirMemory(t *testing.T) {
	const (
		limit  = 8 << 20
		allows = 6 * limit // garbage included
	)
	text := func(s ...string) *tensor.Tensor { return tensor.Must(tensor.FromStrings(tensor.String, s, len(s))) }
	word := func(s string) *tensor.Tensor { return tensor.Must(tensor.FromStrings(tensor.String, []string{s})) }
	zeros := func(d tensor.DType, shape ...int) *tensor.Tensor { return tensor.Must(tensor.Zeros(d, shape...)) }
	many := func(s string, n int) *tensor.Tensor {
		list := make([]string, n)
		for i := range list {
			list[i] = s
		}
		return text(list...)
	}
	i32, i64, f32 := tensor.Scalar[int32], tensor.Scalar[int64], tensor.Scalar[float32]
	const huge = 1 << 30
	padded := func(n int64, strides ...int64) graph.Attrs {
		return graph.Attrs{graph.Ints("strides", strides...), graph.String("padding", "EXPLICIT"), graph.Ints("explicit_paddings", 0, 0, n, n, n, n, 0, 0)}
	}
	valid := graph.Attrs{graph.Ints("strides", 1, 1, 1, 1), graph.String("padding", "VALID")}
	taken := func(m *maker) *maker {
		return &maker{op: "DatasetToSingleElement", attrs: graph.Attrs{hostileTypes, hostileShapes}, data: []*maker{m}}
	}
	from := func(op string, attrs graph.Attrs, in ...*tensor.Tensor) *maker {
		return &maker{op: op, attrs: append(graph.Attrs{hostileTypes, hostileShapes}, attrs...), data: []*maker{numbers}, in: in}
	}
	skipped := func(m *maker) *maker {
		return &maker{op: "SkipDataset", attrs: graph.Attrs{hostileTypes, hostileShapes}, data: []*maker{m}, in: []*tensor.Tensor{i64(1 << 40)}}
	}
	call := func(op string, attrs graph.Attrs, in ...*tensor.Tensor) *maker {
		return &maker{op: op, attrs: attrs, in: in}
	}
	list := graph.Attrs{graph.Type("element_dtype", tensor.Float32), graph.Type("shape_type", tensor.Int32)}
	for name, m := range map[string]*maker{
		"RegexReplace":       call("RegexReplace", nil, text(strings.Repeat("a", 1<<20)), word("a"), word(strings.Repeat("x", 100))),
		"StaticRegexReplace": call("StaticRegexReplace", graph.Attrs{graph.String("pattern", "a"), graph.String("rewrite", strings.Repeat("x", 100))}, text(strings.Repeat("a", 1<<20))),
		"StringNGrams": call("StringNGrams", graph.Attrs{graph.String("separator", " "), graph.Ints("ngram_widths", 5000), graph.String("left_pad", ""), graph.String("right_pad", ""), graph.Int("pad_width", 0), graph.Bool("preserve_short_sequences", false)},
			many("ab", 20_000), tensor.Vector[int64](0, 20_000)),
		"StringNGrams with pads": call("StringNGrams", graph.Attrs{graph.String("separator", ""), graph.Ints("ngram_widths", 1<<20), graph.String("left_pad", strings.Repeat("<", 1000)), graph.String("right_pad", ""), graph.Int("pad_width", -1), graph.Bool("preserve_short_sequences", false)},
			text("a"), tensor.Vector[int64](0, 1)),
		"StringJoin":             call("StringJoin", graph.Attrs{graph.String("separator", "")}, many("a", 1000), word(strings.Repeat("x", 1<<20))),
		"StringFormat":           call("StringFormat", graph.Attrs{graph.String("template", "%s"), graph.String("placeholder", "%s"), graph.Int("summarize", -1)}, zeros(tensor.Uint8, 5<<20)),
		"AsString":               call("AsString", graph.Attrs{graph.Int("width", 1_000_000)}, zeros(tensor.Float32, 1000)),
		"ReduceJoin":             call("UnsortedSegmentJoin", graph.Attrs{graph.String("separator", strings.Repeat(",", 1<<16))}, many("a", 10_000), tensor.Must(tensor.Zeros(tensor.Int32, 10_000)), i32(1)),
		"StringSplitV2":          call("StringSplitV2", nil, text(strings.Repeat("a ", 1<<20)), word(" ")),
		"UnicodeDecode":          call("UnicodeDecode", graph.Attrs{graph.String("input_encoding", "UTF-8")}, text(strings.Repeat("a", 6<<20))),
		"DecodeCompressed":       call("DecodeCompressed", graph.Attrs{graph.String("compression_type", "ZLIB")}, text(packed(200<<20, deflated))),
		"DecodeCompressed, 50":   call("DecodeCompressed", graph.Attrs{graph.String("compression_type", "GZIP")}, many(packed(4<<20, zipped), 50)),
		"DecodePaddedRaw":        call("DecodePaddedRaw", graph.Attrs{graph.Type("out_type", tensor.Uint8)}, text("a"), i32(huge)),
		"ResizeArea":             call("ResizeArea", nil, zeros(tensor.Float32, 1, 1, 1, 1), tensor.Vector[int32](1<<15, 1<<15)),
		"ResizeArea, a line":     call("ResizeArea", nil, zeros(tensor.Float32, 1, 1, 1, 1), tensor.Vector[int32](1_500_000, 1)),
		"ResizeBicubic":          call("ResizeBicubic", nil, zeros(tensor.Float32, 1, 1, 1, 1), tensor.Vector[int32](1<<15, 1<<15)),
		"ResizeBicubic, a line":  call("ResizeBicubic", nil, zeros(tensor.Float32, 1, 1, 1, 1), tensor.Vector[int32](1, 1_500_000)),
		"ResizeBilinear, a line": call("ResizeBilinear", nil, zeros(tensor.Float32, 1, 1, 1, 1), tensor.Vector[int32](1_500_000, 1)),
		"ScaleAndTranslate": call("ScaleAndTranslate", graph.Attrs{graph.String("kernel_type", "lanczos3"), graph.Bool("antialias", true)},
			zeros(tensor.Float32, 1, 1, 1, 1), tensor.Vector[int32](1, 1_500_000), tensor.Vector[float32](1, 1), tensor.Vector[float32](0, 0)),
		"OneHot":                           call("OneHot", nil, tensor.Vector[int64](1, 2, 3), i32(huge), f32(1), f32(0)),
		"LinSpace":                         call("LinSpace", nil, f32(0), f32(1), i32(huge)),
		"Range":                            call("Range", nil, i64(0), i64(1<<40), i64(1)),
		"Bincount":                         call("Bincount", nil, tensor.Vector[int32](1, 2), i32(huge), zeros(tensor.Float32, 0)),
		"DenseBincount":                    call("DenseBincount", nil, tensor.Vector[int32](1, 2), i32(huge), zeros(tensor.Float32, 0)),
		"RaggedBincount":                   call("RaggedBincount", nil, tensor.Vector[int64](0, 2), tensor.Vector[int32](1, 2), i32(huge), zeros(tensor.Float32, 0)),
		"SparseSegmentSum":                 call("SparseSegmentSum", nil, zeros(tensor.Float32, 2, 1000), tensor.Vector[int32](0, 1), tensor.Vector[int32](0, huge)),
		"SparseSegmentMeanWithNumSegments": call("SparseSegmentMeanWithNumSegments", nil, zeros(tensor.Float32, 2, 1000), tensor.Vector[int32](0, 1), tensor.Vector[int32](0, 1), i32(huge)),
		"SparseSegmentSqrtN":               call("SparseSegmentSqrtN", nil, zeros(tensor.Float32, 2, 1000), tensor.Vector[int32](0, 1), tensor.Vector[int32](0, huge)),
		"SparseSegmentSumGrad":             call("SparseSegmentSumGrad", nil, zeros(tensor.Float32, 1, 1000), tensor.Vector[int32](0, 1), tensor.Vector[int32](0, 0), i32(huge)),
		"SparseSegmentMeanGrad":            call("SparseSegmentMeanGrad", nil, zeros(tensor.Float32, 1, 1000), tensor.Vector[int32](0, 1), tensor.Vector[int32](0, 0), i32(huge)),
		"SparseSegmentMeanGrad, f16":       call("SparseSegmentMeanGrad", nil, zeros(tensor.Float16, 1, 1), tensor.Vector[int32](0, 1), tensor.Vector[int32](0, 0), i32(3_000_000)),
		"UnsortedSegmentSum":               call("UnsortedSegmentSum", nil, zeros(tensor.Float32, 2, 10), tensor.Vector[int32](0, 1), i32(huge)),
		"SegmentSum":                       call("SegmentSum", nil, zeros(tensor.Float32, 2, 10), tensor.Vector[int32](0, huge)),
		"SegmentMean, half":                call("SegmentMean", nil, zeros(tensor.Float16, 2, 1), tensor.Vector[int32](0, 3_000_000)),
		"DynamicStitch":                    call("DynamicStitch", nil, tensor.Vector[int32](huge), zeros(tensor.Float32, 1, 4)),
		"ParallelDynamicStitch":            call("ParallelDynamicStitch", nil, tensor.Vector[int32](huge), zeros(tensor.Float32, 1, 4)),
		"HistogramFixedWidth":              call("HistogramFixedWidth", nil, tensor.Vector[float32](1, 2), tensor.Vector[float32](0, 3), i32(huge)),
		"Multinomial":                      call("Multinomial", graph.Attrs{graph.Int("seed", 1)}, zeros(tensor.Float32, 1, 10), i32(huge)),
		"StatelessMultinomial":             call("StatelessMultinomial", nil, zeros(tensor.Float32, 1, 10), i32(huge), tensor.Vector[int64](1, 2)),
		"StatelessMultinomial of many":     call("StatelessMultinomial", nil, zeros(tensor.Float16, 1, 2_000_000), i32(1), tensor.Vector[int64](1, 2)),
		"NonMaxSuppressionV4": call("NonMaxSuppressionV4", graph.Attrs{graph.Bool("pad_to_max_output_size", true)},
			zeros(tensor.Float32, 2, 4), zeros(tensor.Float32, 2), i32(huge), f32(0.5), f32(0)),
		"NonMaxSuppressionV5": call("NonMaxSuppressionV5", graph.Attrs{graph.Bool("pad_to_max_output_size", true)},
			zeros(tensor.Float32, 2, 4), zeros(tensor.Float32, 2), i32(huge), f32(0.5), f32(0), f32(0)),
		"CombinedNonMaxSuppression": call("CombinedNonMaxSuppression", graph.Attrs{graph.Bool("pad_per_class", false), graph.Bool("clip_boxes", true)},
			zeros(tensor.Float32, 1, 2, 1, 4), zeros(tensor.Float32, 1, 2, 1), i32(huge), i32(huge), f32(0.5), f32(0)),
		"Conv2D":                    call("Conv2D", padded(huge, 1, 1, 1, 1), zeros(tensor.Float32, 1, 1, 1, 1), zeros(tensor.Float32, 1, 1, 1, 1)),
		"Conv2D, a few places":      call("Conv2D", padded(huge, 1, 1<<20, 1<<20, 1), zeros(tensor.Float32, 1, 1, 1, 1), zeros(tensor.Float32, 1, 1, 1, 1)),
		"Conv2D, half":              call("Conv2D", padded(1500, 1, 1, 1, 1), zeros(tensor.Float16, 1, 1, 1, 1), zeros(tensor.Float16, 1, 1, 1, 1)),
		"DepthwiseConv2dNative":     call("DepthwiseConv2dNative", padded(huge, 1, 1, 1, 1), zeros(tensor.Float32, 1, 1, 1, 2), zeros(tensor.Float32, 1, 1, 2, 1)),
		"Conv2DBackpropInput":       call("Conv2DBackpropInput", valid, tensor.Vector[int32](1, 1<<15, 1<<15, 1), zeros(tensor.Float32, 1<<10, 1<<10, 1, 1), zeros(tensor.Float32, 1, 31745, 31745, 0)),
		"MaxPool":                   call("MaxPool", append(graph.Attrs{graph.Ints("ksize", 1, huge, huge, 1)}, padded(huge-1, 1, 1, 1, 1)...), zeros(tensor.Float32, 1, 1, 1, 1)),
		"MirrorPad":                 call("MirrorPad", graph.Attrs{graph.String("mode", "SYMMETRIC")}, zeros(tensor.Uint8, 1_400_000), tensor.Must(tensor.New([]int32{1_400_000, 1_400_000}, 1, 2))),
		"Where":                     call("Where", nil, filled(true, 5_000_000)),
		"Unique":                    call("Unique", nil, upTo(500_000)),
		"TopKV2":                    call("TopKV2", nil, zeros(tensor.Float16, 3_000_000), i32(100)),
		"SparseToDense":             call("SparseToDense", nil, zeros(tensor.Int32, 1, 1), tensor.Vector[int32](huge), f32(1), f32(0)),
		"SparseFillEmptyRows":       call("SparseFillEmptyRows", nil, zeros(tensor.Int64, 0, 2), zeros(tensor.Float32, 0), tensor.Vector[int64](1<<40, 1), f32(0)),
		"RaggedRange":               call("RaggedRange", nil, tensor.Vector[int64](0), tensor.Vector[int64](1<<40), tensor.Vector[int64](1)),
		"RaggedTensorToTensor":      call("RaggedTensorToTensor", graph.Attrs{graph.Strings("row_partition_types", "ROW_SPLITS")}, tensor.Vector[int64](1, huge), zeros(tensor.Float32, 1), f32(0), tensor.Vector[int64](0, 1)),
		"TensorListReserve":         call("TensorListReserve", list, i32(-1), i32(huge)),
		"TensorArrayV3":             call("TensorArrayV3", graph.Attrs{graph.Type("dtype", tensor.Float32)}, i32(huge)),
		"StatelessRandomUniformV2":  call("StatelessRandomUniformV2", nil, tensor.Vector[int64](1<<40), tensor.Vector[int64](1), tensor.Vector[int64](1, 2), i32(1)),
		"MatrixExponential":         call("MatrixExponential", nil, ramp(600)),
		"Svd":                       call("Svd", nil, ramp(700)),
		"FFT":                       call("FFT", nil, zeros(tensor.Complex64, 400_000)),
		"CTCLoss":                   call("CTCLoss", nil, zeros(tensor.Float32, 3000, 1, 100), pairs(1400), filled[int32](1, 1400), filled[int32](3000, 1)),
		"CTCBeamSearchDecoder":      call("CTCBeamSearchDecoder", graph.Attrs{graph.Int("beam_width", 1000), graph.Int("top_paths", 1)}, zeros(tensor.Float32, 100, 1, 2000), filled[int32](100, 1)),
		"reserved keys of a table":  call("AnonymousMutableDenseHashTable", graph.Attrs{graph.Type("key_dtype", tensor.String), graph.Type("value_dtype", tensor.Int64)}, many(strings.Repeat("a", 10_000), 100_000), many(strings.Repeat("b", 10_000), 100_000)),
		"LRN, half":                 call("LRN", nil, zeros(tensor.BFloat16, 1, 1, 20, 100_000)),
		"MatMul, half":              call("MatMul", nil, zeros(tensor.BFloat16, 1000, 1000), zeros(tensor.BFloat16, 1000, 1000)),
		"DecodeGif":                 call("DecodeGif", nil, word(encodedGIF(1000, 60))),
		"DecodeJpeg":                call("DecodeJpeg", graph.Attrs{graph.Bool("try_recover_truncated", true)}, word(shortJPEG(1500))),
		"a dataset that shuffles":   taken(from("ShuffleDataset", nil, i64(1<<40), i64(1), i64(2))),
		"a dataset that batches":    taken(from("BatchDataset", nil, i64(1<<40))),
		"a dataset that batches V2": taken(from("BatchDatasetV2", nil, i64(1<<40), tensor.Scalar(false))),
		"a dataset that caches":     taken(skipped(from("CacheDataset", nil, word("")))),
		"a dataset of windows":      taken(from("WindowDataset", nil, i64(1<<40), i64(1), i64(1), tensor.Scalar(false))),
	} {
		t.Run(name, func(t *testing.T) {
			var instance engine.Instance
			env := &engine.Env{Arena: engine.NewArena(), Instance: &instance, Log: io.Discard}
			env.Arena.Limit = limit
			defer env.Arena.Close()
			kernel.All().Definition(m.op) // decoded at the first question
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := m.run(env)
			runtime.ReadMemStats(&after)
			made := after.TotalAlloc - before.TotalAlloc
			t.Logf("%s: %d KiB: %.150v", name, made>>10, err)
			var panicked *engine.PanicError
			switch {
			case err == nil:
				t.Error("there is no error")
			case errors.As(err, &panicked), errors.Is(err, context.Canceled):
				t.Error(err)
			}
			if made > allows {
				t.Errorf("the call allocated %d MiB, the limit is %d: %v", made>>20, limit>>20, err)
			}
		})
	}
}

// TestStacksStayWithinTheirMemory pushes one small tensor again and again. The stack's own memory
// counts, although the tensor's doesn't grow.
func TestStacksStayWithinTheirMemory(t *testing.T) {
	var instance engine.Instance
	env := &engine.Env{Arena: engine.NewArena(), Instance: &instance}
	env.Arena.Limit = 1 << 20
	defer env.Arena.Close()
	run := func(op string, attrs graph.Attrs, in ...engine.Value) (engine.Value, error) {
		p, err := kernel.All().PrepareEager(op, attrs, in)
		if err != nil {
			t.Fatal(err)
		}
		var call engine.Runner
		call.Begin(context.Background(), env)
		for _, v := range in {
			call.Add(v)
		}
		if err := call.Run(p); err != nil {
			return engine.Value{}, err
		}
		return call.Results()[0].Keep(), nil
	}
	stack, err := run("StackV2", graph.Attrs{graph.Type("elem_type", tensor.Float32)}, engine.ValueOf(tensor.Scalar[int32](-1)))
	if err != nil {
		t.Fatal(err)
	}
	x := engine.ValueOf(tensor.Scalar[float32](1))
	n := 0
	for ; err == nil; n++ {
		if n*engine.ValueSize > int(env.Arena.Limit) {
			t.Fatalf("a stack holds %d elements within %d bytes", n, env.Arena.Limit)
		}
		_, err = run("StackPushV2", nil, stack, x)
	}
	if n < 1000 || !strings.Contains(err.Error(), "does not fit") {
		t.Errorf("the stack refuses element %d: %v", n, err)
	}
}
