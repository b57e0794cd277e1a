package engine

import "time"

// Tracer hears of the ops that a call runs, each after it has run. A call
// without a tracer pays one comparison an op for it.
type Tracer interface {
	// Op takes an op that has run. It is called by the goroutine that runs the call;
	// calls at the same time share the tracer.
	Op(e OpEvent)
}

// OpEvent is one run of an op.
type OpEvent struct {
	// Function, Node and Op identify the op in the plan. Ops that passes have
	// fused are one op.
	Function, Node, Op string
	// Depth is how many functions are inside each other: 1 for the outermost. An op
	// that calls functions comes after the ops of these, and takes their time too.
	Depth int
	// Begin is the time at which it began, and Took its duration.
	Begin time.Time
	Took  time.Duration
	// Out are the outputs, valid until Op returns.
	Out []Value
}

// traced runs a step and reports it to the tracer.
func (p *Plan) traced(c *Call, st *step, env *Env) error {
	begin := time.Now()
	err := st.run(c)
	env.Tracer.Op(OpEvent{
		Function: p.name, Node: st.node.Name, Op: st.node.Op, Depth: env.depth, Begin: begin, Took: time.Since(begin), Out: c.out,
	})
	return err
}
