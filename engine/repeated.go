package engine

// Repeated is a function that a kernel calls many times in one call, as a loop
// calls its body. All calls use the same frame.
type Repeated struct {
	Function
	plan   *Plan
	branch int
	frame  *frame
	done   bool // the last call succeeded
}

// Repeat returns f, to be called by one goroutine for one op until [Repeated.End].
func Repeat(f Function) Repeated {
	if p, branch := planOf(f); p != nil {
		return Repeated{Function: f, plan: p, branch: branch, frame: p.frame(), done: true}
	}
	return Repeated{Function: f}
}

// Call implements [Function].
func (r *Repeated) Call(c *Call, args, into []Value) (out []Value, err error) {
	if r.plan == nil || !r.done || len(args) != len(r.plan.args) {
		return r.Function.Call(c, args, into)
	}
	f, env := r.frame, c.env
	if f.scope.plan == nil {
		f.scope = scope{from: env.scope, node: c.node, branch: r.branch, plan: r.plan}
	}
	env.scope = &f.scope
	out, err = r.plan.runIn(f, c.ctx, env, args, into)
	env.scope = f.scope.from
	r.done = err == nil
	return out, err
}

// End ends the use of the frame.
func (r *Repeated) End() {
	if r.plan != nil {
		r.frame.end(r.plan, r.done)
		r.plan.frames.Put(r.frame)
		r.plan = nil
	}
}
