package function

import (
	"context"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/engine/passes"
	"github.com/cairnml/cairn/grad"
	"github.com/cairnml/cairn/graph/shape"
	"github.com/cairnml/cairn/kernel"
	"github.com/cairnml/cairn/ops"
)

// Options are the options of [New] and [Eager]. They must not be changed once
// they are in use.
type Options struct {
	// Mode determines whether calls run eagerly or as compiled traces. Default:
	// [Auto].
	Mode Mode
	// Signature is an input, an In of the function, whose values are specs
	// ([ops.Spec]): the only one that the function is traced for. A call whose
	// input doesn't fit it is an error. A save of a SavedModel traces the function for it
	// if no call has. Default: nil, every input is taken.
	Signature any
	// ExactShapes keeps sizes known in every trace. Default: false, the third trace in
	// [Traced] mode that differs from others in sizes alone has these sizes unknown. It
	// serves all further calls, unless the function looks at such a size
	// ([ops.Value.Shape]).
	ExactShapes bool
	// MaxTraces is the most traces that the function may have; one more is a
	// *[TraceLimitError]. Default: 64.
	MaxTraces int
	// JITCompile asks TensorFlow to compile the function with XLA when it runs a SavedModel that
	// has it, as tf.function(jit_compile=True). In Cairn it changes no result. Default: false.
	JITCompile bool
	// Kernels run the ops. Default: kernel.All().
	Kernels *engine.KernelSet
	// Shapes are the shape rules of traces. Default: shape.All().
	Shapes *shape.Rules
	// Passes rewrite a trace before it is compiled. Default: [passes.Default].
	Passes []passes.Pass
	// Instance holds the state of ops that outlives calls: tables, the states of
	// random ops. Default: the process's.
	Instance *engine.Instance
	// Gradients are the rules that tapes use. Default: grad.All().
	Gradients *grad.Rules
	// Workers is the budget of helpers for large ops. Default:
	// engine.SharedWorkers().
	Workers *engine.Workers
	// MaxOutput is the most bytes that one op's output may take, a guard for ops
	// over untrusted data. Default: see [engine.RunOptions].
	MaxOutput int64
	// Files grants access to files; [engine.GrantDirs] grants directories. Default:
	// none.
	Files *engine.Files
}

// Mode is the way in which a [Func] runs.
type Mode uint8

const (
	// Auto runs a compiled trace if [Func.Trace] has made one that takes the input,
	// and the Go function eagerly otherwise.
	Auto Mode = iota
	// Eagerly runs the Go function in every call.
	Eagerly
	// Traced makes a trace for each new signature: side effects of the Go function
	// besides emitting ops happen once for each trace, not in each call.
	Traced
)

// maxTraces is the default of Options.MaxTraces.
const maxTraces = 64

// pick returns a copy of the last of the options that isn't nil, with kernels; zero options if there is none.
func pick(o []*Options) *Options {
	var out Options
	for _, o := range o {
		if o != nil {
			out = *o
		}
	}
	if out.Kernels == nil {
		out.Kernels = kernel.All()
	}
	return &out
}

func (o *Options) scope(ctx context.Context, recycle bool) *ops.Scope {
	s := ops.NewScope(ctx, &ops.ScopeOptions{
		Kernels: o.Kernels, Workers: o.Workers, Files: o.Files, MaxOutput: o.MaxOutput, Recycle: recycle, Shapes: o.Shapes, Instance: o.Instance,
	})
	return grad.WithRules(s, o.Gradients)
}

// Eager returns a scope for scripts and tests: its ops run at once, its values
// live on, and [ops.Scope.Err] reports at the end whether all succeeded.
// Pending restores are delivered before it, as before a call.
func Eager(ctx context.Context, o ...*Options) *ops.Scope {
	internals.Settle(ctx)
	return pick(o).scope(ctx, false)
}
