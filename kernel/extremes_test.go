package kernel_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"image"
	"image/color"
	"image/gif"
	"image/png"
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/internal/testkit/detector"
	"github.com/cairnml/cairn/internal/testkit/opfixture"
	"github.com/cairnml/cairn/internal/testkit/processor"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
)

// emitted runs an op eagerly and returns its first output.
func emitted(ctx context.Context, o *function.Options, op string, attrs graph.Attrs, in ...*tensor.Tensor) (*tensor.Tensor, error) {
	s := function.Eager(ctx, o)
	list := make([]ops.Input, len(in))
	for i, x := range in {
		list[i] = x
	}
	v := s.Emit(op, attrs, list...)
	if err := s.Err(); err != nil {
		return nil, err
	}
	return v[0].Tensor()
}

// TestSmallCallsEndSoon calls ops with small inputs whose numbers ask for many rounds. Each
// returns within the time of its data, or with the error of its context.
func TestSmallCallsEndSoon(t *testing.T) {
	const after = 20 * time.Millisecond
	grace := time.Second // the machine may be busy
	if detector.Racing {
		grace *= 5
	}
	zeros := func(d tensor.DType, shape ...int) *tensor.Tensor { return tensor.Must(tensor.Zeros(d, shape...)) }
	const block = 1 << 30
	for name, c := range map[string]struct {
		op    string
		attrs graph.Attrs
		in    []*tensor.Tensor
	}{
		"blocks without elements": {"SpaceToBatchND", nil, []*tensor.Tensor{zeros(tensor.Float32, 1, 0, 0, 3), tensor.Vector[int32](block, block), zeros(tensor.Int32, 2, 2)}},
		"a batch of no blocks":    {"BatchToSpaceND", nil, []*tensor.Tensor{zeros(tensor.Float32, 0, 1, 1, 1), tensor.Vector[int32](block, block), zeros(tensor.Int32, 2, 2)}},
		"many neighbours":         {"LRN", graph.Attrs{graph.Int("depth_radius", 1<<31-1)}, []*tensor.Tensor{zeros(tensor.Float16, 1, 1, 1, 385)}},
		"zeta far below zero":     {"Zeta", nil, []*tensor.Tensor{filled(3.0, 1000), filled(-1e15+0.5, 1000)}},
		"zeta of infinity":        {"Zeta", nil, []*tensor.Tensor{filled(math.Inf(1), 1000), filled(-1e15+0.5, 1000)}},
		"polygamma":               {"Polygamma", nil, []*tensor.Tensor{filled(2.0, 1000), filled(-1e15+0.5, 1000)}},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(context.Background(), after)
			defer cancel()
			start, cpu := time.Now(), processor.Time()
			_, err := emitted(ctx, nil, c.op, c.attrs, c.in...)
			took := min(time.Since(start), processor.Time()-cpu)
			t.Logf("%v: %v", took, err)
			if err != nil && !errors.Is(err, context.DeadlineExceeded) {
				t.Error(err)
			}
			if took > after+grace {
				t.Errorf("returned after %v: %v", took, err)
			}
		})
	}
}

// TestHistogramsHaveBinsOfNormalWidth checks ranges that are empty for TensorFlow because it takes
// subnormal numbers for 0, and the narrowest ones.
func TestHistogramsHaveBinsOfNormalWidth(t *testing.T) {
	for _, c := range []struct {
		values, limits *tensor.Tensor
		bins           int32
		want           []int32 // nil: an error
	}{
		{tensor.Vector(0.0), tensor.Vector(0, 5e-324), 10, nil},
		{tensor.Vector(0.0), tensor.Vector(0, 1e-310), 2, nil},
		{tensor.Vector(0.0), tensor.Vector(0, 2.3e-308), 10, nil}, // TensorFlow divides by zero and ends its process
		{tensor.Vector[float32](0, 1e-39), tensor.Vector[float32](0, 1e-39), 2, nil},
		{tensor.Vector[float32](0, 1e-38, 1.1e-38), tensor.Vector[float32](0, 1.2e-38), 1, []int32{3}},
		{tensor.Vector[float32](1.2e-38, 3e-38, 1.5e-38), tensor.Vector[float32](0, 3e-38), 2, []int32{1, 2}},
		{tensor.Vector(0.0), tensor.Vector(0, 3e-308), 1, []int32{1}},
		{tensor.Vector(1e-300), tensor.Vector(0, 1e-299), 10, []int32{0, 1, 0, 0, 0, 0, 0, 0, 0, 0}},
	} {
		got, err := emitted(context.Background(), nil, "HistogramFixedWidth", nil, c.values, c.limits, tensor.Scalar(c.bins))
		var panicked *engine.PanicError
		switch {
		case errors.As(err, &panicked):
			t.Errorf("%v: %v", c.limits, err)
		case c.want == nil:
			if err == nil || !strings.Contains(err.Error(), "range") {
				t.Errorf("%v: %v %v, want an error of the range", c.limits, got, err)
			}
		case err != nil || !got.Equal(tensor.Vector(c.want...)):
			t.Errorf("%v: %v %v, want %v", c.limits, got, err, c.want)
		}
	}
	if _, err := emitted(context.Background(), nil, "HistogramFixedWidth", nil, tensor.Vector(math.NaN()), tensor.Vector[float64](0, 1), tensor.Scalar[int32](2)); err == nil {
		t.Error("NaN has a bin")
	}
}

// countedContext is a context that ends when it is looked at for a number of times.
type countedContext struct {
	context.Context
	left  atomic.Int64
	ended chan struct{}
}

// afterLooks returns a context that ends at look n.
func afterLooks(n int64) *countedContext {
	x := &countedContext{Context: context.Background(), ended: make(chan struct{})}
	x.left.Store(n)
	return x
}

func (x *countedContext) look() {
	if x.left.Add(-1) == 0 {
		close(x.ended)
	}
}

func (x *countedContext) Done() <-chan struct{} {
	x.look()
	return x.ended
}

func (x *countedContext) Err() error {
	x.look()
	select {
	case <-x.ended:
		return context.Canceled
	default:
		return nil
	}
}

// pngChunk returns a chunk of a PNG file.
func pngChunk(kind, body string) string {
	b := binary.BigEndian.AppendUint32(nil, uint32(len(body)))
	b = append(append(b, kind...), body...)
	return string(binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b[4:])))
}

// encodedPNG returns a PNG file of n×n black pixels with a palette.
func encodedPNG(n int) string {
	var b bytes.Buffer
	_ = png.Encode(&b, image.NewPaletted(image.Rect(0, 0, n, n), color.Palette{color.Black, color.White}))
	return b.String()
}

// encodedGIF returns a GIF file of n×n pixels with frames of one colour.
func encodedGIF(n, frames int) string {
	g := &gif.GIF{}
	for range frames {
		g.Image = append(g.Image, image.NewPaletted(image.Rect(0, 0, n, n), color.Palette{color.Black, color.White}))
		g.Delay = append(g.Delay, 0)
	}
	var b bytes.Buffer
	_ = gif.EncodeAll(&b, g)
	return b.String()
}

// TestLongLoopsLookAtTheContext calls ops with a context that ends while they run, after as many
// looks as only their loops make.
func TestLongLoopsLookAtTheContext(t *testing.T) {
	word := func(s string) *tensor.Tensor { return tensor.Must(tensor.FromStrings(tensor.String, []string{s})) }
	var lossy string
	for _, f := range opfixture.Load(t, "testdata/tf2.21")["DecodeWebP"] {
		if s := f.In[0].Tensor(t).Strings()[0]; strings.HasPrefix(s[12:], "VP8 ") && s[28] >= 16 {
			lossy = s
		}
	}
	for name, c := range map[string]struct {
		op    string
		attrs graph.Attrs
		in    []*tensor.Tensor
		looks int64
	}{
		"PNG":           {"DecodePng", nil, []*tensor.Tensor{word(encodedPNG(1000))}, 100},
		"LRN":           {"LRN", graph.Attrs{graph.Int("depth_radius", 4096)}, []*tensor.Tensor{filled[float32](1, 1, 1, 1, 5000)}, 1000},
		"LRNGrad":       {"LRNGrad", graph.Attrs{graph.Int("depth_radius", 4096)}, []*tensor.Tensor{filled[float32](1, 1, 1, 1, 3000), filled[float32](1, 1, 1, 1, 3000), filled[float32](1, 1, 1, 1, 3000)}, 4000},
		"LRN of halves": {"LRN", nil, []*tensor.Tensor{tensor.Must(tensor.Zeros(tensor.Float16, 1, 1, 1, 1_000_000))}, 200},
		"MirrorPad":     {"MirrorPad", graph.Attrs{graph.String("mode", "SYMMETRIC")}, []*tensor.Tensor{filled[float32](1, 1000, 1000), filled[int32](0, 2, 2)}, 300},
		"MirrorPadGrad": {"MirrorPadGrad", graph.Attrs{graph.String("mode", "SYMMETRIC")}, []*tensor.Tensor{filled[float32](1, 1000, 1000), filled[int32](0, 2, 2)}, 80},
		"weights": {"ScaleAndTranslate", graph.Attrs{graph.String("kernel_type", "lanczos3"), graph.Bool("antialias", true)}, []*tensor.Tensor{
			filled[float32](1, 1, 1, 20_000, 1), tensor.Vector[int32](1, 40), tensor.Vector[float32](1, 0.002), tensor.Vector[float32](0, 0)}, 40},
		"weights of an enlargement": {"ScaleAndTranslate", graph.Attrs{graph.String("kernel_type", "lanczos3"), graph.Bool("antialias", true)}, []*tensor.Tensor{
			filled[float32](1, 1, 1, 10, 1), tensor.Vector[int32](1, 200_000), tensor.Vector[float32](1, 20_000), tensor.Vector[float32](0, 0)}, 100},
		"crops": {"SampleDistortedBoundingBoxV2", graph.Attrs{graph.Int("seed", 1), graph.Int("max_attempts", 500)}, []*tensor.Tensor{
			tensor.Vector[int32](100, 100, 3), filled[float32](0.5, 1, 2000, 4), tensor.Scalar[float32](2)}, 400},
		"boxes": {"DrawBoundingBoxes", nil, []*tensor.Tensor{filled[float32](1, 1, 100, 100, 1), filled[float32](0, 1, 10_000, 4)}, 400},
		"WebP":  {"DecodeWebP", nil, []*tensor.Tensor{word(lossy)}, 25},
		"GIF":   {"DecodeGif", nil, []*tensor.Tensor{word(encodedGIF(500, 4))}, 1000},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := emitted(context.Background(), nil, c.op, c.attrs, c.in...); err != nil {
				t.Fatal(err)
			}
			ctx := afterLooks(c.looks)
			if _, err := emitted(ctx, nil, c.op, c.attrs, c.in...); !errors.Is(err, context.Canceled) {
				t.Errorf("error %v after all but %d looks, want that of the context", err, ctx.left.Load())
			}
		})
	}
}

// TestOpacityOfPNGFilesIsThatOfTheirChunks checks files whose texts have the names of chunks: only
// a chunk of opacities adds a channel.
func TestOpacityOfPNGFilesIsThatOfTheirChunks(t *testing.T) {
	file := encodedPNG(1)
	const head = 8 + 25 // the signature and the chunk of the size
	at := strings.Index(file, "IDAT") - 4
	for name, c := range map[string]struct {
		before string // chunks before the pixels
		want   int    // channels
	}{
		"none":                       {"", 3},
		"a text of it":               {pngChunk("tEXt", "Comment\x00tRNS"), 3},
		"a chunk of it":              {pngChunk("tRNS", "\xff"), 4},
		"after a text of pixels":     {pngChunk("tEXt", "Comment\x00IDAT") + pngChunk("tRNS", "\xff"), 4},
		"between a text and another": {pngChunk("tEXt", "a\x00b") + pngChunk("tRNS", "\xff") + pngChunk("tEXt", "a\x00b"), 4},
	} {
		x, err := emitted(context.Background(), nil, "DecodePng", nil, tensor.Must(tensor.FromStrings(tensor.String, []string{file[:at] + c.before + file[at:]})))
		if err != nil || !x.Shape().Equal(tensor.Shape{1, 1, c.want}) {
			t.Errorf("%s: %v %v, want %d channels", name, x, err, c.want)
		}
	}
	if !strings.HasPrefix(file[head:], "\x00\x00\x00\x06PLTE") {
		t.Error("the file has no palette")
	}
}

// TestSparseProductsLeaveZerosOut compares products of elements that aren't finite with
// TensorFlow's: zeros of a matrix that an attribute calls sparse don't count.
func TestSparseProductsLeaveZerosOut(t *testing.T) {
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	matrix := func(rows int, v ...float32) *tensor.Tensor {
		return tensor.Must(tensor.New(v, rows, len(v)/rows))
	}
	for _, c := range []struct {
		a, b *tensor.Tensor
		want [4][]float32 // neither, b, a, or both are sparse
	}{
		{matrix(3, 0, 1, 0, 2, 0, 0, nan, 0, 3), matrix(3, inf, 0, 1, 0, 0, nan), [4][]float32{
			{nan, nan, inf, nan, nan, nan}, {nan, nan, inf, nan, nan, nan}, {1, 0, inf, 0, nan, nan}, {1, 0, inf, 0, nan, nan}}},
		{matrix(3, inf, 1, 0, 2, nan, -inf, 1, 0, 3), matrix(3, 0, 2, 2, 0, 0, 1), [4][]float32{
			{nan, inf, nan, nan, 0, 5}, {2, inf, nan, -inf, 0, 5}, {nan, inf, nan, nan, 0, 5}, {nan, inf, nan, nan, 0, 5}}},
	} {
		for i, want := range c.want {
			for k := range 8 {
				ta, tb, a, b := k&1 != 0, k&2 != 0, c.a, c.b
				swap := tensor.Vector[int32](1, 0)
				if ta {
					a, _ = emitted(context.Background(), nil, "Transpose", nil, a, swap)
				}
				if tb {
					b, _ = emitted(context.Background(), nil, "Transpose", nil, b, swap)
				}
				if k&4 != 0 {
					a, _ = tensor.Cast(a, tensor.BFloat16)
				}
				x, err := emitted(context.Background(), nil, "SparseMatMul", graph.Attrs{graph.Bool("transpose_a", ta), graph.Bool("transpose_b", tb),
					graph.Bool("a_is_sparse", i&2 != 0), graph.Bool("b_is_sparse", i&1 != 0)}, a, b)
				if err != nil {
					t.Fatal(err)
				}
				same := func(x, y float32) bool { return x == y || x != x && y != y }
				if got := tensor.Values[float32](x); !slices.EqualFunc(got, want, same) {
					t.Errorf("sparse %02b, transposed %v and %v: %v, want %v", i, ta, tb, got, want)
				}
			}
		}
	}
}
