package engine

import "time"

// Tracer receives the ops that a call runs, each after it has run. Without a
// tracer, a call only makes one comparison for each op.
type Tracer interface {
	// Op receives an op that has run, on the goroutine of the call. If several
	// calls have the same tracer, it must be safe for use by many goroutines.
	Op(e OpEvent)
}

// OpEvent is one run of an op.
type OpEvent struct {
	// Function, Node and Op identify the op in the plan. Ops that passes have
	// fused are one op.
	Function, Node, Op string
	// Depth is how many functions are inside each other: 1 for the outermost. An op
	// that calls functions comes after the ops of these, and Took includes them.
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
