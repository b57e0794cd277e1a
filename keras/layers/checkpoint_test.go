package layers_test

import (
	"testing"

	"github.com/cairnml/cairn/checkpoint"
	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/keras/layers"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/trackable"
)

// recurrentNet has the layers of testdata/gen_checkpoint.py.
type recurrentNet struct {
	X, Images *trackable.Variable
	Outputs   map[string]*trackable.Variable
	LSTM      *layers.LSTM      `cairn:"lstm"`
	GRU       *layers.GRU       `cairn:"gru"`
	Simple    *layers.SimpleRNN // edge "simple"
	Stack     *layers.RNN
	Both      *layers.Bidirectional
	Back      *layers.Bidirectional
	Time      *layers.TimeDistributed
	Conv      *layers.ConvLSTM2D
}

func newRecurrentNet() *recurrentNet {
	return &recurrentNet{
		X: new(trackable.Variable), Images: new(trackable.Variable), Outputs: map[string]*trackable.Variable{},
		LSTM:   &layers.LSTM{Units: 3},
		GRU:    &layers.GRU{Units: 3, ResetBefore: true},
		Simple: &layers.SimpleRNN{Units: 2, ReturnSequences: true},
		Stack:  &layers.RNN{Cell: &layers.StackedRNNCells{Cells: []layers.Cell{&layers.LSTMCell{Units: 3}, &layers.GRUCell{Units: 2}}}},
		Both:   &layers.Bidirectional{Inner: &layers.LSTM{Units: 2}},
		Back:   &layers.Bidirectional{Inner: &layers.GRU{Units: 2}, BackwardLayer: &layers.LSTM{Units: 3, GoBackwards: true}},
		Time:   &layers.TimeDistributed{Inner: &layers.Dense{Units: 4}},
		Conv:   &layers.ConvLSTM2D{Filters: 2, KernelSize: []int{2}},
	}
}

func (n *recurrentNet) call(s *ops.Scope) map[string]*ops.Value {
	out := map[string]*ops.Value{"conv": n.Conv.Call(s, n.Images)}
	for name, l := range map[string]caller{"lstm": n.LSTM, "gru": n.GRU, "simple": n.Simple, "stack": n.Stack, "both": n.Both, "back": n.Back, "time": n.Time} {
		out[name] = l.Call(s, n.X)
	}
	return out
}

// TestRecurrentLayersOfACheckpointOfTfKeras restores one before and after the layers are
// built, and one that Cairn has written of it.
func TestRecurrentLayersOfACheckpointOfTfKeras(t *testing.T) {
	const file = "testdata/recurrent.ckpt"
	path := file
	for _, built := range []bool{false, true, false} {
		s := function.Eager(t.Context())
		n := newRecurrentNet()
		for _, name := range []string{"lstm", "gru", "simple", "stack", "both", "back", "time", "conv"} {
			n.Outputs[name] = new(trackable.Variable)
		}
		ck, err := checkpoint.New(n, nil)
		must(t, err)
		if built {
			first := newRecurrentNet()
			_, err := first.restore(t, file)
			must(t, err)
			n.X, n.Images = first.X, first.Images
			n.call(s)
			must(t, s.Err())
		}
		report, err := ck.Restore(t.Context(), path, nil)
		must(t, err)
		got := n.call(s)
		must(t, s.Err())
		must(t, report.AssertConsumed())
		for name, want := range n.Outputs {
			near(t, name, tensorOf(t, got[name]), want.Load(), 1e-5)
		}
		path = t.TempDir() + "/again"
		must(t, ck.Write(t.Context(), path))
	}
}

// restore restores the inputs alone.
func (n *recurrentNet) restore(t *testing.T, path string) (*checkpoint.Report, error) {
	ck, err := checkpoint.New(&struct{ X, Images *trackable.Variable }{n.X, n.Images}, nil)
	must(t, err)
	return ck.Restore(t.Context(), path, &checkpoint.RestoreOptions{Partial: true})
}
