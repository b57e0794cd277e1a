package kernel_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/internal/testkit/detector"
	"github.com/cairnml/cairn/kernel"
	"github.com/cairnml/cairn/tensor"
)

// TestOnePieceOfWorkEndsWithItsContext ends the context of kernels whose work is one piece: one
// row, one window, one word or one matrix, for minutes to days. Each returns soon, with the
// context's error.
func TestOnePieceOfWorkEndsWithItsContext(t *testing.T) {
	const (
		after = 10 * time.Millisecond
		many  = 1 << 20
	)
	grace := 3 * time.Second // the machine may be busy
	if detector.Racing {
		grace *= 5
	}
	zeros := func(d tensor.DType, shape ...int) *tensor.Tensor { return tensor.Must(tensor.Zeros(d, shape...)) }
	f32 := tensor.Scalar[float32]
	value := engine.ValueOf
	var instance engine.Instance
	env := &engine.Env{Arena: engine.NewArena(), Instance: &instance}
	run := func(ctx context.Context, env *engine.Env, op string, attrs graph.Attrs, in ...engine.Value) ([]engine.Value, error) {
		p, err := kernel.All().PrepareEager(op, attrs, in)
		if err != nil {
			return nil, err
		}
		var call engine.Runner
		call.Begin(ctx, env)
		for _, v := range in {
			call.Add(v)
		}
		if err := call.Run(p); err != nil {
			return nil, err
		}
		return call.Results(), nil
	}
	made := func(op string, attrs graph.Attrs, in ...engine.Value) engine.Value {
		out, err := run(context.Background(), env, op, attrs, in...)
		if err != nil {
			t.Fatal(err)
		}
		return out[0].Keep()
	}
	tensors := func(list ...*tensor.Tensor) func() []engine.Value {
		return func() []engine.Value {
			vs := make([]engine.Value, len(list))
			for i, x := range list {
				vs[i] = value(x)
			}
			return vs
		}
	}
	windows := func(ksize bool) graph.Attrs {
		as := graph.Attrs{graph.Ints("strides", 1, 1, 1, 1), graph.String("padding", "SAME")}
		if ksize {
			as = append(as, graph.Ints("ksize", 1, 2048, 2048, 1))
		}
		return as
	}
	codes := zeros(tensor.QUint8, 1, 2048, 2048, 1)
	// A matrix with many values at one place, and one with a full row.
	csr := func(cols int, at *tensor.Tensor) engine.Value {
		return made("SparseTensorToCSRSparseMatrix", nil, value(at), value(filled[float32](1, at.Shape()[0])), value(tensor.Vector[int64](1, int64(cols))))
	}
	same := zeros(tensor.Int64, many, 2)
	segments := tensors(zeros(tensor.Float32, 1, many), zeros(tensor.Int32, many), zeros(tensor.Int32, many))
	gradients := tensors(zeros(tensor.Float32, 1, many), zeros(tensor.Int32, many), zeros(tensor.Int32, many), tensor.Scalar[int32](1))
	sums := graph.NewFunction("sums")
	var args [2]graph.Output
	for i, name := range []string{"x", "y"} {
		var err error
		if args[i], err = sums.AddArg(name, graph.Fact{DType: tensor.Float32, Shape: graph.ShapeOf()}); err != nil {
			t.Fatal(err)
		}
	}
	sums.AddResult("x", args[0])
	for _, c := range []struct {
		name, op string
		attrs    graph.Attrs
		in       func() []engine.Value
	}{
		{"a pool's window", "QuantizedMaxPool", windows(true), tensors(codes, f32(0), f32(1))},
		{"a mean's window", "QuantizedAvgPool", windows(true), tensors(codes, f32(0), f32(1))},
		{"a filter of codes", "QuantizedConv2D", windows(false), tensors(codes, zeros(tensor.QUint8, 2048, 2048, 1, 1), f32(0), f32(1), f32(0), f32(1))},
		{"a row of a product", "SparseTensorDenseMatMul", nil, tensors(same, filled[float32](1, many), tensor.Vector[int64](1, 1), filled[float32](1, 1, many))},
		{"a segment", "SparseSegmentSum", nil, segments},
		{"a segment's gradient", "SparseSegmentMeanGrad", nil, gradients},
		{"a row of a sparse product", "SparseMatrixSparseMatMul", graph.Attrs{graph.Type("type", tensor.Float32)}, func() []engine.Value {
			return []engine.Value{csr(1, same), csr(many, pairs(many))}
		}},
		{"a row of a sparse and a dense product", "SparseMatrixMatMul", nil, func() []engine.Value {
			return []engine.Value{csr(1, same), value(zeros(tensor.Float32, 1, many))}
		}},
		{"products of a batch", "BatchMatMulV2", nil, tensors(zeros(tensor.Int32, 2, 2048, 2048), zeros(tensor.Int32, 2, 2048, 2048))},
		{"the pieces of a word", "WordpieceTokenizeWithOffsets", graph.Attrs{graph.String("suffix_indicator", ""), graph.Int("max_bytes_per_word", many), graph.Int("max_chars_per_token", 0), graph.Bool("use_unknown_token", false), graph.String("unknown_token", ""), graph.Bool("split_unknown_characters", true)}, func() []engine.Value {
			table := made("MutableHashTableV2", graph.Attrs{graph.Type("key_dtype", tensor.String), graph.Type("value_dtype", tensor.Int64)})
			if _, err := run(context.Background(), env, "LookupTableInsertV2", nil, table, value(tensor.Vector("x")), value(tensor.Vector[int64](1))); err != nil {
				t.Fatal(err)
			}
			return []engine.Value{value(tensor.Vector(strings.Repeat("a", many))), table}
		}},
		{"windows of padding", "XlaReduceWindow", graph.Attrs{graph.Func("computation", sums)}, tensors(filled[float32](1, 1), f32(0), tensor.Vector[int32](60_000),
			tensor.Vector[int32](1), tensor.Vector[int32](1), tensor.Vector[int32](1), tensor.Must(tensor.New([]int32{10_000_000, 60_000}, 1, 2)))},
		{"bands", "BandedTriangularSolve", nil, tensors(filled(1.0, 2048, 2048), filled(1.0, 2048, 2048))},
		{"selected columns", "DecodeCSV", graph.Attrs{graph.Ints("select_cols", func() []int64 {
			l := make([]int64, 1<<14)
			for i := range l {
				l[i] = int64(i)
			}
			return l
		}()...)}, func() []engine.Value {
			in := []engine.Value{value(tensor.Vector(strings.Repeat(",", 5<<20)))}
			for range 1 << 14 {
				in = append(in, value(tensor.Vector("")))
			}
			return in
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			in := c.in()
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			env := &engine.Env{Arena: engine.NewArena(), Instance: &instance, Workers: engine.NewWorkers(2)}
			ended := make(chan error, 1)
			go func() {
				_, err := run(ctx, env, c.op, c.attrs, in...)
				ended <- err
			}()
			time.Sleep(after)
			cancel()
			start := time.Now()
			select {
			case err := <-ended:
				t.Logf("returned after %v: %.100v", time.Since(start), err)
				if !errors.Is(err, context.Canceled) {
					t.Errorf("%v, want the context's error", err)
				}
			case <-time.After(grace):
				t.Errorf("still runs %v after its context's end", grace)
			}
		})
	}
}

// endingContext ends at the look after a number of looks at its error.
type endingContext struct {
	context.Context
	looks atomic.Int64
	done  chan struct{}
}

func (c *endingContext) Done() <-chan struct{} { return c.done }

func (c *endingContext) Err() error {
	switch left := c.looks.Add(-1); {
	case left == 0:
		close(c.done)
		fallthrough
	case left < 0:
		return context.Canceled
	}
	return nil
}

// TestFactorizationsEndAtEveryLook ends the context of kernels at each of their looks at it. Each
// returns the context's error, whatever it had computed until then.
func TestFactorizationsEndAtEveryLook(t *testing.T) {
	var instance engine.Instance
	many := func(shape ...int) *tensor.Tensor {
		x := filled(1.0, shape...)
		for i := range tensor.Values[float64](x) {
			tensor.Values[float64](x)[i] = float64(i * i % 11)
		}
		return x
	}
	for _, c := range []struct {
		name, op string
		attrs    graph.Attrs
		in       []*tensor.Tensor
	}{
		{"tall pseudoinverses", "MatrixSolveLs", graph.Attrs{graph.Bool("fast", false)}, []*tensor.Tensor{many(4, 9, 2), many(4, 9, 1), tensor.Scalar(0.0)}},
		{"wide pseudoinverses", "MatrixSolveLs", graph.Attrs{graph.Bool("fast", false)}, []*tensor.Tensor{many(4, 2, 9), many(4, 2, 1), tensor.Scalar(0.0)}},
		{"normal equations", "MatrixSolveLs", nil, []*tensor.Tensor{many(4, 9, 2), many(4, 9, 1), tensor.Scalar(0.1)}},
		{"singular values", "Svd", nil, []*tensor.Tensor{many(4, 9, 3)}},
		{"eigenvalues", "SelfAdjointEigV2", nil, []*tensor.Tensor{many(4, 5, 5)}},
		{"complex eigenvalues", "Eig", graph.Attrs{graph.Type("Tout", tensor.Complex128)}, []*tensor.Tensor{many(4, 5, 5)}},
		{"rotations", "Qr", nil, []*tensor.Tensor{many(4, 9, 3)}},
		{"roots", "MatrixSquareRoot", nil, []*tensor.Tensor{many(4, 5, 5)}},
		{"bands", "BandedTriangularSolve", nil, []*tensor.Tensor{filled(1.0, 4, 2, 9), many(4, 9, 3)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			in := make([]engine.Value, len(c.in))
			for i, x := range c.in {
				in[i] = engine.ValueOf(x)
			}
			p, err := kernel.All().PrepareEager(c.op, c.attrs, in)
			if err != nil {
				t.Fatal(err)
			}
			for looks := int64(1); ; looks++ {
				ctx := &endingContext{Context: context.Background(), done: make(chan struct{})}
				ctx.looks.Store(looks)
				var call engine.Runner
				call.Begin(ctx, &engine.Env{Arena: engine.NewArena(), Instance: &instance})
				for _, v := range in {
					call.Add(v)
				}
				err := call.Run(p)
				if ctx.looks.Load() > 0 { // it ended by itself
					if err != nil || looks < 9 {
						t.Errorf("%v after %d looks, want none after 8 or more", err, looks)
					}
					return
				}
				if !errors.Is(err, context.Canceled) {
					t.Fatalf("look %d: %v, want the context's error", looks, err)
				}
			}
		})
	}
}
