package random_test

import (
	"context"
	"math"
	"testing"
	"testing/fstest"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

func TestNonDeterministicIntsDiffer(t *testing.T) {
	s := function.Eager(context.Background())
	draw := func(d tensor.DType) *tensor.Tensor {
		v := s.Emit1("NonDeterministicInts", graph.Attrs{graph.Type("dtype", d)}, tensor.Vector[int32](2, 3))
		x, err := v.Tensor()
		if err != nil {
			t.Fatal(err)
		}
		if x.DType() != d || !x.Shape().Equal(tensor.Shape{2, 3}) {
			t.Errorf("%v%v, want %v[2 3]", x.DType(), x.Shape(), d)
		}
		return x
	}
	for _, d := range []tensor.DType{tensor.Int32, tensor.Uint32, tensor.Int64, tensor.Uint64} {
		if draw(d).Equal(draw(d)) {
			t.Errorf("%v: two calls gave the same numbers", d)
		}
	}
}

// TestParametersOfNoDistributionAreRefused checks that sampling ends for
// parameters for which TensorFlow's never does.
func TestParametersOfNoDistributionAreRefused(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	seed, shape := tensor.Vector[int32](1, 2), tensor.Vector[int32](3)
	state := func(s *ops.Scope) ops.Input {
		return ops.Handle(s, trackable.NewVariable(tensor.Vector[int64](1, 2, 3)))
	}
	for _, c := range []struct {
		what  string
		op    string
		attrs graph.Attrs
		in    func(s *ops.Scope) []ops.Input
	}{
		{"a rate of NaN", "StatelessRandomPoisson", graph.Attrs{graph.Type("dtype", tensor.Int32)},
			func(*ops.Scope) []ops.Input { return []ops.Input{shape, seed, tensor.Scalar(nan)} }},
		{"an infinite count", "StatelessRandomBinomial", nil,
			func(*ops.Scope) []ops.Input { return []ops.Input{shape, seed, tensor.Scalar(inf), tensor.Scalar(0.5)} }},
		{"a count of NaN", "StatefulRandomBinomial", nil,
			func(s *ops.Scope) []ops.Input {
				return []ops.Input{state(s), int64(1), shape, tensor.Scalar(nan), tensor.Scalar(0.3)}
			}},
		{"a mean of NaN", "StatelessParameterizedTruncatedNormal", nil,
			func(*ops.Scope) []ops.Input {
				return []ops.Input{shape, seed, tensor.Scalar(nan), tensor.Scalar(1.0), tensor.Scalar(0.0), tensor.Scalar(1.0)}
			}},
		{"a shape that doesn't end with the parameters'", "StatelessRandomGammaV2", nil,
			func(*ops.Scope) []ops.Input { return []ops.Input{shape, seed, tensor.Vector(1.0, 2)} }},
		{"ThreeFry", "StatefulUniform", nil,
			func(s *ops.Scope) []ops.Input { return []ops.Input{state(s), int64(2), shape} }},
		{"an index above the largest", "RandomIndexShuffle", nil,
			func(*ops.Scope) []ops.Input { return []ops.Input{int32(5), tensor.Vector[int32](1, 2, 3), int32(3)} }},
		{"an index below 0", "RandomIndexShuffle", nil,
			func(*ops.Scope) []ops.Input { return []ops.Input{int64(-5), tensor.Vector[int32](1, 2, 3), int64(-1)} }},
		{"three rounds", "RandomIndexShuffle", graph.Attrs{graph.Int("rounds", 3)},
			func(*ops.Scope) []ops.Input { return []ops.Input{int32(5), tensor.Vector[int32](1, 2, 3), int32(9)} }},
		{"a short state", "RngSkip", nil,
			func(s *ops.Scope) []ops.Input {
				return []ops.Input{ops.Handle(s, trackable.NewVariable(tensor.Vector[int64](1, 2))), int64(1), int64(1)}
			}},
	} {
		s := function.Eager(context.Background())
		s.Emit(c.op, c.attrs, c.in(s)...)
		if s.Err() == nil {
			t.Errorf("%s takes %s", c.op, c.what)
		}
	}
}

func TestCandidateSamplersRefuseWhatTheyCantDraw(t *testing.T) {
	attrs := func(sampled, most int64, unique bool, more ...graph.Attr) graph.Attrs {
		return append(graph.Attrs{graph.Int("num_true", 1), graph.Int("num_sampled", sampled), graph.Bool("unique", unique), graph.Int("range_max", most)}, more...)
	}
	truth := tensor.Must(tensor.New([]int64{1}, 1, 1))
	for _, c := range []struct {
		op    string
		attrs graph.Attrs
	}{
		{"UniformCandidateSampler", attrs(5, 4, true)},
		{"UniformCandidateSampler", attrs(5, 1, false)}, // -1 is not a class
		{"LogUniformCandidateSampler", attrs(math.MaxInt64, math.MaxInt64, false)},
		{"LearnedUnigramCandidateSampler", attrs(5, math.MaxInt32, false)},
		{"FixedUnigramCandidateSampler", attrs(3, 3, true, graph.Floats("unigrams", 1, 0, 2))},
		{"FixedUnigramCandidateSampler", attrs(1, 3, false, graph.Floats("unigrams", 1, 2))},
		{"FixedUnigramCandidateSampler", attrs(1, 2, false, graph.Floats("unigrams", 1, math.NaN()))},
		{"FixedUnigramCandidateSampler", attrs(1, 2, false, graph.Floats("unigrams", 1, 1), graph.Int("num_reserved_ids", math.MaxInt32))},
		{"FixedUnigramCandidateSampler", attrs(1, 2, false)},
	} {
		s := function.Eager(context.Background(), &function.Options{MaxOutput: 1 << 20})
		s.Emit(c.op, c.attrs, truth)
		if s.Err() == nil {
			t.Errorf("%s takes %v", c.op, c.attrs.Describe())
		}
	}
}

// TestFixedUnigramsComeFromAFileToo checks that the weights of a file and those
// of the attribute draw the same classes.
func TestFixedUnigramsComeFromAFileToo(t *testing.T) {
	files := &engine.Files{Read: fstest.MapFS{"words.csv": {Data: []byte("the,3\nof,1\n0.5\nto,a,2\n")}}}
	attrs := graph.Attrs{graph.Int("num_true", 1), graph.Int("num_sampled", 9), graph.Bool("unique", false), graph.Int("range_max", 4), graph.Int("seed", 7)}
	truth := tensor.Must(tensor.New([]int64{2}, 1, 1))
	s := function.Eager(context.Background(), &function.Options{Files: files})
	a := s.EmitN(3, "FixedUnigramCandidateSampler", append(attrs[:5:5], graph.String("vocab_file", "words.csv")), truth)
	b := s.EmitN(3, "FixedUnigramCandidateSampler", append(attrs[:5:5], graph.Floats("unigrams", 3, 1, 0.5, 2)), truth)
	for i := range a {
		x, err := a[i].Tensor()
		if err != nil {
			t.Fatal(err)
		}
		y, err := b[i].Tensor()
		if err != nil {
			t.Fatal(err)
		}
		if !x.Equal(y) {
			t.Errorf("output %d is %v by the file, %v by the attribute", i, x, y)
		}
	}
}
