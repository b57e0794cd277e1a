package main

import (
	"bytes"
	"context"
	"fmt"
	"log"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/internal/pb"
	"github.com/cairnml/cairn/internal/tensorproto"
	"github.com/cairnml/cairn/kernel"
	modelrun "github.com/cairnml/cairn/savedmodel/run"
	"github.com/cairnml/cairn/tensor"
)

// opRow is a row about one op, a signature of the model that peer/tf_ops.py writes. It
// counts the CPU time of a single thread.
type opRow struct {
	words, verb string
	count       int  // calls of a request
	exact       bool // whether the answers must have TensorFlow's bits
	// spans reports whether vectors are determined only up to a factor. If so, magnitudes are
	// compared.
	spans bool
}

// opRows are the rows about ops. The verbs are the names of signatures in peer/tf_ops.py.
var opRows = []opRow{
	{words: "eigh of 100×100", verb: "eigh100", count: 20, spans: true},
	{words: "eigh of 64 of 8×8", verb: "eigh8", count: 50, spans: true},
	{words: "svd of 100×100", verb: "svd100", count: 10, spans: true},
	{words: "svd of 300×300", verb: "svd300", count: 1, spans: true},
	{words: "inv of 100×100", verb: "inv100", count: 50},
	{words: "inv of 300×300", verb: "inv300", count: 5},
	{words: "slogdet of 100×100", verb: "slogdet100", count: 100},
	{words: "det of 256 of 8×8", verb: "det8", count: 100},
	{words: "solve of 100×100 for 10 sides", verb: "solve100", count: 100},
	{words: "qr of 100×100", verb: "qr100", count: 50},
	{words: "cholesky of 100×100", verb: "cholesky100", count: 100},
	{words: "cholesky of 300×300", verb: "cholesky300", count: 10},
	{words: "triangular_solve of 200×200 for 200 sides", verb: "triangular200", count: 20},
	{words: "lu of 100×100", verb: "lu100", count: 100},
	{words: "expm of 64×64", verb: "expm64", count: 20},
	{words: "logm of 32×32, complex64", verb: "logm32", count: 5},
	{words: "sqrtm of 32×32", verb: "sqrtm32", count: 20},
	{words: "inv of 100×100, complex64", verb: "inv100c", count: 20},
	{words: "eigh of 50×50, complex64", verb: "eigh50c", count: 20, spans: true},
	{words: "softmax of 256×1000, float16", verb: "softmax_float16", count: 20, exact: true},
	{words: "mean of 256×1000 along rows, float16", verb: "mean_float16", count: 50, exact: true},
	{words: "sum of 256×1000 along columns, float16", verb: "sum_float16", count: 50, exact: true},
	{words: "convolution 3×3 of 32×32×32 to 64, float16", verb: "conv_float16", count: 5},
	{words: "product of 256×256, float16", verb: "matmul_float16", count: 5},
	{words: "softmax of 256×1000, bfloat16", verb: "softmax_bfloat16", count: 20, exact: true},
	{words: "mean of 256×1000 along rows, bfloat16", verb: "mean_bfloat16", count: 50, exact: true},
	{words: "sum of 256×1000 along columns, bfloat16", verb: "sum_bfloat16", count: 50, exact: true},
	{words: "convolution 3×3 of 32×32×32 to 64, bfloat16", verb: "conv_bfloat16", count: 5},
	{words: "product of 256×256, bfloat16", verb: "matmul_bfloat16", count: 5},
	{words: "regex_replace of punctuation in 2,000 texts", verb: "regex_replace", count: 5, exact: true},
	{words: "regex_replace of pairs of words in 2,000 texts", verb: "regex_words", count: 2, exact: true},
	{words: "lower of 2,000 texts", verb: "lower", count: 50, exact: true},
	{words: "lower of 2,000 texts in UTF-8", verb: "lower_utf8", count: 10, exact: true},
	{words: "split of 2,000 texts", verb: "split", count: 20, exact: true},
	{words: "to_hash_bucket_fast of 5,000 words", verb: "hash_fast", count: 50, exact: true},
	{words: "to_hash_bucket_strong of 5,000 words", verb: "hash_strong", count: 50, exact: true},
	{words: "to_hash_bucket of 5,000 words", verb: "hash_legacy", count: 50, exact: true},
	{words: "as_string of 10,000 integers", verb: "as_string_int", count: 10, exact: true},
	{words: "as_string of 10,000 floats", verb: "as_string_float", count: 10, exact: true},
	{words: "look-up of 5,000 words in a table", verb: "lookup", count: 50, exact: true},
	{words: "TextVectorization of 2,000 texts", verb: "vectorize", count: 3, exact: true},
	{words: "stft of a second of sound", verb: "stft", count: 20},
	{words: "fft of 64 of 1,000, complex64", verb: "fft", count: 20},
	{words: "convolution 3×3 of 4 of 32×32×64 in 8 groups", verb: "grouped", count: 10},
	{words: "sort of 64×4096", verb: "sort", count: 5, exact: true},
	{words: "top 10 of 64×4096", verb: "top_k", count: 20, exact: true},
	{words: "argsort of 64×4096", verb: "argsort", count: 5, exact: true},
	{words: "conv3d_transpose of 8×8×8×16 to 16×16×16×8", verb: "conv3d_transpose", count: 20},
}

// ops measures single ops against TensorFlow.
func (b *bench) ops(ctx context.Context) error {
	var works []step
	for _, r := range opRows {
		w := step{words: r.words, verb: fmt.Sprint(r.verb, " ", r.count), count: float64(r.count)}
		if b.wanted(w) {
			works = append(works, w)
		}
	}
	if len(works) == 0 {
		return nil
	}
	dir := filepath.Join(b.dir, "ops")
	theirs, err := b.startPeer(ctx, b.python, filepath.Join("bench", "peer", "tf_ops.py"), dir)
	if err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	ours, err := b.startPeer(ctx, self, "-peer", "ops", dir)
	if err != nil {
		return err
	}
	peers := map[string]*process{cairn: ours, tensorflow: theirs}
	var wrong []string
	for _, w := range works {
		name, _, _ := strings.Cut(w.verb, " ")
		if same, err := ours.ask("check " + name); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		} else if same == 0 {
			wrong = append(wrong, name)
		}
		if err := b.together([]step{w}, peers); err != nil {
			return err
		}
	}
	if len(wrong) > 0 {
		return fmt.Errorf("answers differ from TensorFlow's: %s", strings.Join(wrong, ", "))
	}
	return nil
}

// opVerbs returns the function with which a peer that runs the ops of a directory answers
// its lines. "OP COUNT" is answered with the CPU seconds of that many calls, "check OP" with 1
// if the results are TensorFlow's, else with 0.
func opVerbs(ctx context.Context, dir string) (func(line string) (float64, error), error) {
	runtime.GOMAXPROCS(1)
	m, err := modelrun.Load(ctx, os.DirFS(dir), &modelrun.LoadOptions{Kernels: kernel.All(), Workers: engine.NewWorkers(1)})
	if err != nil {
		return nil, err
	}
	called := map[string]func() (map[string]*tensor.Tensor, error){}
	prepare := func(name string) (func() (map[string]*tensor.Tensor, error), error) {
		if f := called[name]; f != nil {
			return f, nil
		}
		sig, err := m.Signature(name)
		if err != nil {
			return nil, err
		}
		feeds, err := readTensors(dir, name, "x")
		if err != nil {
			return nil, err
		}
		called[name] = func() (map[string]*tensor.Tensor, error) { return sig.Call(ctx, feeds) }
		return called[name], nil
	}
	return func(line string) (float64, error) {
		if name, ok := strings.CutPrefix(line, "check "); ok {
			f, err := prepare(name)
			if err != nil {
				return 0, err
			}
			if err := checkOp(dir, name, f); err != nil {
				log.Printf("%s: %v", name, err)
				return 0, nil
			}
			return 1, nil
		}
		var name string
		var count int
		if _, err := fmt.Sscan(line, &name, &count); err != nil {
			return 0, fmt.Errorf("no op: %q", line)
		}
		f, err := prepare(name)
		if err != nil {
			return 0, err
		}
		begin := cpuTime()
		for range count {
			if _, err := f(); err != nil {
				return 0, err
			}
		}
		return cpuTime() - begin, nil
	}, nil
}

// readTensors reads the tensors of an op whose names begin with begin: "x" for inputs, "y"
// for TensorFlow's answers. The files are tensors/OP.NAME.pb, each a TensorProto.
func readTensors(dir, op, begin string) (map[string]*tensor.Tensor, error) {
	out := map[string]*tensor.Tensor{}
	files, err := filepath.Glob(filepath.Join(dir, "tensors", op+"."+begin+"*.pb"))
	if err != nil {
		return nil, err
	}
	for _, path := range files {
		b, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		var m pb.TensorProto
		if err := m.Unmarshal(b); err != nil {
			return nil, err
		}
		allowance := int64(1 << 30)
		t, err := tensorproto.Decode(&m, &allowance)
		if err != nil {
			return nil, err
		}
		out[strings.Split(filepath.Base(path), ".")[1]] = t
	}
	return out, nil
}

// checkOp compares the answers of an op with TensorFlow's.
func checkOp(dir, name string, f func() (map[string]*tensor.Tensor, error)) error {
	var r opRow
	for _, row := range opRows {
		if row.verb == name {
			r = row
		}
	}
	want, err := readTensors(dir, name, "y")
	if err != nil {
		return err
	}
	if len(want) == 0 {
		return fmt.Errorf("TensorFlow has written no answer of %s to compare with", name)
	}
	got, err := f()
	if err != nil {
		return err
	}
	for key, w := range want {
		g := got[key]
		if g == nil || g.DType() != w.DType() || !g.Shape().Equal(w.Shape()) {
			return fmt.Errorf("%s: %v, want %v", key, g, w)
		}
		if err := sameTensor(g, w, r); err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
	}
	return nil
}

// sameTensor returns an error if an answer is too far from TensorFlow's. The tolerances find
// only wrong work; the tests of kernels are stricter.
func sameTensor(g, w *tensor.Tensor, r opRow) error {
	switch {
	case w.DType() == tensor.String:
		for i, s := range w.Strings() {
			if g.Strings()[i] != s {
				return fmt.Errorf("element %d is %q, want %q", i, g.Strings()[i], s)
			}
		}
		return nil
	case r.exact || !w.DType().IsFloating() && !w.DType().IsComplex():
		if !bytes.Equal(g.Bytes(), w.Bytes()) {
			return fmt.Errorf("the bits differ")
		}
		return nil
	}
	a, err := tensor.Cast(g, tensor.Complex128)
	if err != nil {
		return err
	}
	b, err := tensor.Cast(w, tensor.Complex128)
	if err != nil {
		return err
	}
	magnitude := func(z complex128) float64 { return math.Hypot(real(z), imag(z)) }
	x, y := tensor.Values[complex128](a), tensor.Values[complex128](b)
	largest, tolerance := 0.0, 1e-3
	for _, z := range y {
		largest = max(largest, magnitude(z))
	}
	if w.DType().Size() == 2 || r.spans { // vectors of values near to each other turn easily
		tolerance = 2e-2
	}
	for i := range y {
		far := magnitude(x[i] - y[i])
		if r.spans {
			far = math.Abs(magnitude(x[i]) - magnitude(y[i]))
		}
		if !(far <= tolerance*largest) {
			return fmt.Errorf("element %d is %v, want %v", i, x[i], y[i])
		}
	}
	return nil
}
