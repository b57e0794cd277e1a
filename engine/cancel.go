package engine

import (
	"context"
	"sync/atomic"
)

const (
	// longLoop is the estimated length of the shortest loop that looks at the call's
	// context, in nanoseconds. Estimates are of common inputs: functions that converge
	// slowly take a hundred times as long.
	longLoop = 50_000
	// look is the estimated time between two looks at the context.
	look = 50_000
)

// cancellation is the value of the panic that leaves a kernel whose context has ended.
type cancellation struct{ cause error }

// cancelled reports whether a recovered value is the end of a context.
func cancelled(r any) bool {
	if p, ok := r.(*WorkerPanic); ok {
		r = p.Value
	}
	_, ok := r.(cancellation)
	return ok
}

// refusal is the value of the panic that leaves a kernel whose scratch memory was refused.
type refusal struct{ err error }

// recovered returns the error of a recovered value: the context's if that has ended, the
// refusal of memory, a *[PanicError] otherwise.
func recovered(r any) error {
	v := r
	if p, ok := r.(*WorkerPanic); ok {
		v = p.Value
	}
	switch v := v.(type) {
	case cancellation:
		return v.cause
	case refusal:
		return v.err
	}
	return NewPanicError(r)
}

// Unchanging is a [Variant] that no op changes, even if it owns it. A kernel with such inputs may
// be left before its end, as one with tensors.
type Unchanging interface {
	Variant
	// Unchanging does nothing.
	Unchanging()
}

// cancellable reports whether the kernel may be left before its end: its context can end,
// and no input is an object that it may be changing. See [Refs.Settle], too.
func (c *Call) cancellable() bool {
	if c.ctx == nil || c.ctx.Done() == nil {
		return false
	}
	if c.settled {
		return true
	}
	for i := range c.in {
		if v := &c.in[i]; (v.Tensor == nil || v.Object != nil) && !unchanging(v.Object) {
			return false
		}
	}
	return true
}

// unchanging reports whether no op changes the object of a handle.
func unchanging(o any) bool {
	if h, ok := o.(*Handles); ok {
		return len(h.Items) > 0 && unchanging(h.Items[0]) // all are of one kind
	}
	_, ok := o.(Unchanging)
	return ok
}

// Check leaves the kernel if the call's context has ended: it panics with a value that the
// engine turns into the context's error, as [Call.Parallel] does. A kernel whose pieces of
// work can take long calls it within them, on any goroutine. A kernel that may have changed
// something is not left.
func (c *Call) Check() {
	if !c.cancellable() {
		return
	}
	select {
	case <-c.ctx.Done():
		panic(cancellation{context.Cause(c.ctx)})
	default:
	}
}

// Step calls [Call.Check] at every 4,096th i, for loops of short rounds.
func (c *Call) Step(i int) {
	if i%4096 == 4095 {
		c.Check()
	}
}

// Pace looks at a call's context in proportion to the work that a loop does, for rounds of any
// length. Each goroutine has a separate one. The zero Pace isn't usable; see [NewPace].
type Pace struct {
	call *Call
	done int
}

// NewPace returns a Pace for a loop of the kernel of c.
func NewPace(c *Call) Pace { return Pace{call: c} }

// Work counts n units of work, of about a nanosecond each, and calls [Call.Check] once there
// are 65,536 since the last look.
func (p *Pace) Work(n int) {
	if p.done += n; p.done >= 1<<16 {
		p.done = 0
		p.call.Check()
	}
}

// parallelUntilDone runs a loop as Parallel does, until the context ends.
func (c *Call) parallelUntilDone(n int, nsEach float64, fn func(lo, hi int)) {
	done := c.ctx.Done()
	step := max(1, int(look/nsEach))
	var stopped atomic.Bool
	c.env.Workers.Run(n, nsEach, func(lo, hi int) {
		for lo < hi && !stopped.Load() {
			select {
			case <-done:
				stopped.Store(true)
				return
			default:
			}
			next := hi
			if hi-lo > step {
				next = lo + step
			}
			fn(lo, next)
			lo = next
		}
	})
	if stopped.Load() {
		panic(cancellation{context.Cause(c.ctx)})
	}
}
