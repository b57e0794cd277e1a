package engine

// Repeated is a function that a kernel calls many times in one call of its own, as a
// loop its body: what a call works with is the same in all of them.
type Repeated struct {
	Function
	plan   *Plan
	branch int
	frame  *frame
	done   bool // the last call succeeded
}

// Repeat returns f, to be called by one goroutine until [Repeated.End].
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
	out, err = r.plan.callIn(r.frame, r.branch, c, args, into)
	r.done = err == nil
	return out, err
}

// End gives up what calls worked with.
func (r *Repeated) End() {
	if r.plan != nil {
		r.frame.end(r.plan, r.done)
		r.plan.frames.Put(r.frame)
		r.plan = nil
	}
}
