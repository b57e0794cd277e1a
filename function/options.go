package function

import (
	"context"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/grad"
	"github.com/cairnml/cairn/kernel"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/trackable"
)

// Options say how ops run. They must not be changed once they are in use.
type Options struct {
	// Kernels run the ops. Default: kernel.All().
	Kernels *engine.KernelSet
	// Gradients are the rules that tapes use. Default: grad.All().
	Gradients *grad.Rules
	// Workers is the budget of helpers for large ops. Default:
	// engine.SharedWorkers().
	Workers *engine.Workers
	// MaxOutput is the most bytes that one op's output may take, a guard for ops
	// over somebody else's data. Default: what the platform can address.
	MaxOutput int64
	// Files is what ops may do with files. Default: nothing.
	Files *engine.Files
}

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
	return ops.NewScope(grad.WithRules(ctx, o.Gradients), &ops.ScopeOptions{
		Kernels: o.Kernels, Workers: o.Workers, Files: o.Files, MaxOutput: o.MaxOutput, Recycle: recycle,
	})
}

// Eager is a scope for scripts and tests: its ops run at once, its values live
// on, and [ops.Scope.Err] tells at the end whether all went well. Pending
// restores are delivered before it, as before a call.
func Eager(ctx context.Context, o ...*Options) *ops.Scope {
	trackable.Settle(ctx)
	return pick(o).scope(ctx, false)
}
