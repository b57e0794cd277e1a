package layers

import (
	"encoding/json"
	"maps"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/cairnml/cairn/keras/initializers"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
)

// mostUnits is the largest number of units, so that the columns of all gates can be
// counted in 32 bits. The limit is Cairn's.
const mostUnits = math.MaxInt32 / 4

// This file has the parts that the cells of LSTM, GRU and ConvLSTM share. The order of the gates in
// kernels and biases is tf_keras's: input, forget, candidate, output in an LSTM; update, reset,
// candidate in a GRU.

// gateMasks draws the masks of dropout for the inputs of a cell with gates: one for each
// gate, or one for all in the implementation 2.
func gateMasks(s *ops.Scope, r *noise, c *CellCall, rate float64, implementation, gates int) []*ops.Value {
	switch {
	case c.dropped || rate >= 1: // tf_keras drops nothing then
		return nil
	case implementation != 1:
		gates = 1
	}
	return r.masks(s, c.Input, rate, gates)
}

// stateMasks draws the masks of dropout for the first state, one for each gate.
func stateMasks(s *ops.Scope, r *noise, c *CellCall, rate float64, gates int) []*ops.Value {
	if rate >= 1 { // tf_keras drops nothing then
		return nil
	}
	return r.masks(s, c.States[0], rate, gates)
}

// forgetBias makes the first bias of four gates: ones for the forget gate, the second.
type forgetBias struct{ others initializers.Initializer }

// Init makes the bias.
func (f forgetBias) Init(r *rand.Rand, d tensor.DType, shape tensor.Shape) (*tensor.Tensor, error) {
	units := shape[0] / 4
	in, err := f.others.Init(r, d, tensor.Shape{units})
	if err != nil {
		return nil, err
	}
	ones, err := initializers.Ones{}.Init(r, d, tensor.Shape{units})
	if err != nil {
		return nil, err
	}
	rest, err := f.others.Init(r, d, tensor.Shape{2 * units})
	if err != nil {
		return nil, err
	}
	return tensor.FromBytes(d, slices.Concat(in.Bytes(), ones.Bytes(), rest.Bytes()), 4*units)
}

// withoutImplementation0 returns a config with the implementation 1 in place of 0.
func withoutImplementation0(fields map[string]any) map[string]any {
	if n, ok := fields["implementation"].(json.Number); ok && n == "0" {
		fields = maps.Clone(fields)
		fields["implementation"] = json.Number("1")
	}
	return fields
}
