// Package rnn implements the kernels of recurrent networks: whole layers, single
// cells, and the losses and decoders of sequences.
package rnn

import (
	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/engine/passes"
	"github.com/cairnml/cairn/tensor"
)

// Kernels returns the family's table.
func Kernels() []engine.Kernel {
	floats := []tensor.DType{tensor.Float32, tensor.Float64}
	cudnn := []tensor.DType{tensor.Float32, tensor.Float64, tensor.BFloat16, tensor.Float16}
	return []engine.Kernel{
		{Op: "LSTMBlockCell", Run: lstmCell, Precision: engine.Accumulated},
		{Op: "LSTMBlockCellGrad", Run: lstmCellGrad, Precision: engine.Accumulated},
		{Op: "BlockLSTM", Run: blockLSTM(icfo), Precision: engine.Accumulated},
		{Op: "BlockLSTMV2", Run: blockLSTM(ifco), Precision: engine.Accumulated},
		{Op: "BlockLSTMGrad", Run: blockLSTMGrad(icfo), Precision: engine.Accumulated},
		{Op: "BlockLSTMGradV2", Run: blockLSTMGrad(ifco), Precision: engine.Accumulated},
		{Op: "GRUBlockCell", Run: gruCell, Precision: engine.Accumulated},
		{Op: "GRUBlockCellGrad", Run: gruCellGrad, Precision: engine.Accumulated},
		{Op: passes.LSTMOp, Def: raisedLSTM, Prepare: prepareRaised, Types: engine.Types{"T": {tensor.Float32}}, Precision: engine.Accumulated},
		{Op: passes.GRUOp, Def: raisedGRU, Prepare: prepareRaised, Types: engine.Types{"T": {tensor.Float32}}, Precision: engine.Accumulated},

		{Op: "CTCLoss", Types: engine.Types{"T": floats}, Run: ctcLossOf(false), Precision: engine.Accumulated},
		{Op: "CTCLossV2", Run: ctcLossOf(true), Precision: engine.Accumulated},
		{Op: "CTCGreedyDecoder", Types: engine.Types{"T": floats}, Run: ctcGreedy, Precision: engine.Accumulated},
		{Op: "CTCBeamSearchDecoder", Types: engine.Types{"T": floats}, Run: ctcBeam, Precision: engine.Accumulated},

		{Op: "CudnnRNN", Types: engine.Types{"T": cudnn}, Prepare: prepareCudnn, Precision: engine.Accumulated},
		{Op: "CudnnRNNV2", Types: engine.Types{"T": cudnn}, Prepare: prepareCudnn, Precision: engine.Accumulated},
		{Op: "CudnnRNNV3", Types: engine.Types{"T": cudnn}, Prepare: prepareCudnn, Precision: engine.Accumulated},
		{Op: "CudnnRNNBackprop", Types: engine.Types{"T": cudnn}, Prepare: prepareCudnnBackprop, Precision: engine.Accumulated},
		{Op: "CudnnRNNBackpropV2", Types: engine.Types{"T": cudnn}, Prepare: prepareCudnnBackprop, Precision: engine.Accumulated},
		{Op: "CudnnRNNBackpropV3", Types: engine.Types{"T": cudnn}, Prepare: prepareCudnnBackprop, Precision: engine.Accumulated},
		{Op: "CudnnRNNParamsSize", Prepare: prepareParamsSize},
		{Op: "CudnnRNNCanonicalToParams", Prepare: prepareToParams},
		{Op: "CudnnRNNCanonicalToParamsV2", Prepare: prepareToParams},
		{Op: "CudnnRNNParamsToCanonical", Prepare: prepareToCanonical},
		{Op: "CudnnRNNParamsToCanonicalV2", Prepare: prepareToCanonical},
	}
}
