package engine

import "context"

// Runner executes prepared kernels one at a time, outside of a plan: the eager
// executor and the tests of kernels use it. The zero Runner is ready. A Runner may
// execute many ops, one after the other:
//
//	r.Begin(ctx, env)
//	r.Add(x)
//	err := r.Run(prepared)
//	y := r.Results()[0]
type Runner struct{ call Call }

// Begin begins an op in env, without inputs yet. It ends the validity of the
// results of the op before.
func (r *Runner) Begin(ctx context.Context, env *Env) { r.call.begin(ctx, env) }

// Add adds an input.
func (r *Runner) Add(v Value) { r.call.in = append(r.call.in, v) }

// Inputs returns the inputs that were added.
func (r *Runner) Inputs() []Value { return r.call.in }

// Run executes the kernel. A panic becomes a *[PanicError].
func (r *Runner) Run(p *Prepared) error { return r.call.run(p) }

// Results returns the outputs, valid until the next Begin.
func (r *Runner) Results() []Value { return r.call.out }

// begin makes c a call in env, without inputs yet.
func (c *Call) begin(ctx context.Context, env *Env) {
	c.ctx, c.last = ctx, nil
	if c.env == env {
		c.next()
		return
	}
	c.env, c.moved, c.substituted, c.settled = env, c.moved[:0], c.substituted[:0], false
	c.dropScratch() // of a kernel that failed; its arena is recycled
	clear(c.in)     // the capacity beyond their lengths is clear already
	clear(c.out)
	c.in, c.out = c.in[:0], c.out[:0]
}

// next prepares a call that has begun for another op. The call refers to values of
// the previous op until the values of the next op, or begin, replace them.
func (c *Call) next() {
	c.moved, c.substituted, c.settled = c.moved[:0], c.substituted[:0], false
	if len(c.scratch) > 0 {
		c.dropScratch()
	}
	c.in, c.out = c.in[:0], c.out[:0]
}

// run executes the kernel. A panic becomes the error that recovered makes of it.
func (c *Call) run(p *Prepared) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = recovered(r)
		}
	}()
	c.node, c.forms, c.packs = p.node, p.forms, p.packs
	if err = p.run(c); err == nil && len(c.scratch) > 0 {
		c.freeScratch()
	}
	if err == nil {
		err = c.countLoose()
	}
	return err
}
