package grad

import (
	"strings"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/ops"
)

// rnnRules are the rules of recurrent layers and of the losses of sequences.
var rnnRules = map[string]Rule{
	"BlockLSTM":   byBlock("BlockLSTMGrad"),
	"BlockLSTMV2": byBlock("BlockLSTMGradV2"),
	"CudnnRNN":    gradCudnn,
	"CudnnRNNV2":  gradCudnn,
	"CudnnRNNV3":  gradCudnn,
	"CTCLoss":     gradCTCLoss,
	"CTCLossV2":   gradCTCLoss,
}

// byBlock returns the rule of a whole LSTM layer. As in TensorFlow, only the
// gradients of the cell states and of the outputs count; those of the gates are
// ignored.
func byBlock(name string) Rule {
	return func(s *ops.Scope, op *Op) {
		var in []ops.Input
		for i := range op.NumIn() {
			in = append(in, op.In(i))
		}
		for i := range op.NumOut() {
			in = append(in, op.Out(i))
		}
		in = append(in, op.GradOrZero(1), op.GradOrZero(6)) // cs and h, the cell states and the outputs of all steps
		attrs := graph.Attrs{graph.Bool("use_peephole", op.Attrs().Bool("use_peephole"))}
		for i, d := range s.EmitN(8, name, attrs, in...) {
			op.Give(1+i, d)
		}
	}
}

// gradCudnn differentiates a network of cuDNN's. TensorFlow's rule refuses ops that don't train. Here these have a
// gradient too, whose backward pass drops nothing. The backward op takes the inputs, the first three outputs, their
// gradients and then the other outputs, in this order.
func gradCudnn(s *ops.Scope, op *Op) {
	attrs := op.Attrs().Without("is_training")
	if op.Attrs().Has("is_training") && !op.Attrs().Bool("is_training") {
		attrs = attrs.Without("dropout")
	}
	var in []ops.Input
	for i := range op.NumIn() {
		in = append(in, op.In(i))
	}
	for i := range 3 {
		in = append(in, op.Out(i))
	}
	for i := range 3 {
		in = append(in, op.GradOrZero(i))
	}
	for i := 3; i < op.NumOut(); i++ {
		in = append(in, op.Out(i))
	}
	for i, dx := range s.EmitN(4, "CudnnRNNBackprop"+strings.TrimPrefix(op.Name(), "CudnnRNN"), attrs, in...) {
		op.Give(i, dx)
	}
}

// gradCTCLoss uses the gradient that the op has computed in addition to the
// loss; it has no second derivative.
func gradCTCLoss(s *ops.Scope, op *Op) {
	if op.Grad(0) == nil {
		return
	}
	each := ops.Reshape(s, op.Grad(0), 1, -1, 1)
	op.Give(0, ops.Mul(s, each, ops.StopGradient(s, op.Out(1))))
}
