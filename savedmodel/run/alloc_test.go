package run_test

import (
	"math"
	"runtime"
	"runtime/debug"
	"testing"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/internal/testkit/detector"
	"github.com/cairnml/cairn/kernel"
	"github.com/cairnml/cairn/savedmodel/run"
	"github.com/cairnml/cairn/tensor"
)

// TestACallOfAShapeSeenBeforeAllocatesLittle counts the bytes that calls take from
// the garbage collector besides their outputs, once the shapes are known.
func TestACallOfAShapeSeenBeforeAllocatesLittle(t *testing.T) {
	if detector.Racing {
		t.Skip("the race detector empties pools")
	}
	const most = 10 << 10
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // which empties pools
	measured := 0
	for _, name := range []string{"keras_mlp", "module", "mlp", "lstm", "table", "tables", "text", "tf1_control", "tf1_defun", "tf1_refs", "tf1_sparse",
		"transformer", "recurrent"} {
		o := &run.LoadOptions{Kernels: kernel.All(), Tags: []string{"serve"}, Workers: engine.NewWorkers(1)}
		m, err := run.Load(ctx, files(t, name), o)
		if err != nil {
			t.Fatal(err)
		}
		inputs := map[string]map[string]*tensor.Tensor{}
		for _, a := range readAnswers(t, name) {
			if a.Signature == "" || a.Error != "" {
				continue
			}
			in := map[string]*tensor.Tensor{}
			for k, x := range a.In {
				in[k] = x.tensor(t)
			}
			inputs[a.Signature] = in
		}
		for _, d := range m.MetaGraph().Signatures {
			s, err := m.Signature(d.Name)
			if err != nil {
				continue
			}
			in := inputs[d.Name]
			if in == nil {
				if in = zeros(s); in == nil {
					continue
				}
			}
			outputs := 0
			call := func() bool {
				out, err := s.Call(ctx, in)
				outputs = 0
				for _, y := range out {
					outputs += int(y.NumBytes()) + 100 // and the tensor and its place in the map
				}
				return err == nil
			}
			if !call() {
				continue // the initializers of tables
			}
			for range 4 {
				call()
			}
			const calls = 20
			each := math.MaxInt // of several times: a goroutine that changes its processor finds other pools
			for range 4 {
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				for range calls {
					call()
				}
				runtime.ReadMemStats(&after)
				each = min(each, int(after.TotalAlloc-before.TotalAlloc)/calls-outputs)
			}
			if each > most {
				t.Errorf("%s, %s: %d bytes a call", name, d.Name, each)
			}
			t.Logf("%s, %s: %d bytes a call", name, d.Name, each)
			measured++
		}
	}
	if measured < 20 {
		t.Errorf("only %d signatures were measured", measured)
	}
}

// zeros returns inputs of a signature for two examples, or nil if it takes
// strings.
func zeros(s *run.Signature) map[string]*tensor.Tensor {
	in := map[string]*tensor.Tensor{}
	for _, i := range s.Inputs() {
		if !i.DType.Fixed() || !i.Shape.HasRank() {
			return nil
		}
		dims := make([]int, i.Shape.Rank())
		for k := range dims {
			if dims[k] = i.Shape.Dim(k); dims[k] < 0 {
				dims[k] = 2
			}
		}
		in[i.Name] = tensor.Must(tensor.Zeros(i.DType, dims...))
	}
	return in
}
