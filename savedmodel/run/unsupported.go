package run

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/graph/raise"
)

// An UnsupportedError lists all ops that a call needs and no kernel runs.
type UnsupportedError struct {
	Ops []MissingOp

	at map[string]int // the indices of Ops by the ops' names, while nodes are added
}

// MissingOp is an op without a kernel.
type MissingOp struct {
	// Op is the op's name. Def is its definition, TensorFlow's or the file's;
	// nil if there is none.
	Op  string
	Def *graph.OpDef
	// Count is how many nodes have the op.
	Count int
	// Uses are some of the places where the op is used: "signature
	// serving_default: lstm/while_body/CudnnRNN".
	Uses []string
}

// maxUses is the number of places of an op that an error lists. It may change.
const maxUses = 5

// Error lists the ops and the places where they are used.
func (e *UnsupportedError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "savedmodel: no kernel for %d of the ops that are needed:", len(e.Ops))
	for _, m := range e.Ops {
		what := ""
		switch {
		case m.Def == nil:
			what = ", which has no definition"
		case graph.LookupOp(m.Op) == nil:
			what = ", an op that isn't TensorFlow's"
		case m.Op == "PyFunc" || m.Op == "PyFuncStateless" || m.Op == "EagerPyFunc":
			what = ", Python code of the program that made the model, which no file holds"
		case m.Op == "XlaCallModule":
			what = ", a compiled program for XLA: jax2tf writes ops of TensorFlow in its place with native_serialization=False"
		}
		nodes := "1 node"
		if m.Count != 1 {
			nodes = fmt.Sprintf("%d nodes", m.Count)
		}
		fmt.Fprintf(&b, "\n  %s%s: %s, in %s", m.Op, what, nodes, strings.Join(m.Uses, "; "))
	}
	b.WriteString("\nLoadOptions.Kernels can have more, which engine.KernelSet.With adds")
	return b.String()
}

// Is reports whether target is errors.ErrUnsupported.
func (e *UnsupportedError) Is(target error) bool { return target == errors.ErrUnsupported }

// with returns the ops of both in the order of their names; e may be nil.
func (e *UnsupportedError) with(o *UnsupportedError) *UnsupportedError {
	out := &UnsupportedError{}
	if e != nil {
		out.Ops = append(out.Ops, e.Ops...)
	}
	at := make(map[string]int, len(out.Ops))
	for i, m := range out.Ops {
		at[m.Op] = i
	}
	for _, m := range o.Ops {
		i, ok := at[m.Op]
		if !ok {
			at[m.Op] = len(out.Ops)
			out.Ops = append(out.Ops, m)
			continue
		}
		x := &out.Ops[i]
		x.Count += m.Count
		for _, u := range m.Uses {
			if len(x.Uses) < maxUses {
				x.Uses = append(x.Uses[:len(x.Uses):len(x.Uses)], u)
			}
		}
	}
	slices.SortFunc(out.Ops, func(a, b MissingOp) int { return strings.Compare(a.Op, b.Op) })
	return out
}

// check returns an error if something that c's function reaches can't run. It is an
// [*UnsupportedError] if ops have no kernel, or else it names the node whose control flow of TensorFlow 1
// could not be raised. in is the graph that the function is from. prune and bind call it, before
// anything is compiled. A Switch or Merge needs no kernel: the plan runs it.
func (p *program) check(c *callable, in *runnable) error {
	missing := &UnsupportedError{}
	for i, part := range reach(c.function) {
		for _, n := range part.nodes {
			name := n.Name
			if i > 0 {
				name = part.function.Name + "/" + n.Name
			}
			if why := in.problems[name]; why != nil && raise.IsLoop(n.Op) {
				return fmt.Errorf("savedmodel: %s: %w", c.where, &graph.NodeError{Node: n.Name, Op: n.Op, Function: part.function.Name, Err: why})
			}
			if p.runs(n.Op) || engine.IsBranch(n.Op) || part.function.Graph.Library.Lookup(n.Op) != nil {
				continue
			}
			missing.add(n, c.where+": "+name)
		}
	}
	if len(missing.Ops) == 0 {
		return nil
	}
	return missing.with(&UnsupportedError{})
}

// add counts a node.
func (e *UnsupportedError) add(n *graph.Node, place string) {
	i, ok := e.at[n.Op]
	if !ok {
		if e.at == nil {
			e.at = map[string]int{}
		}
		i = len(e.Ops)
		e.at[n.Op] = i
		e.Ops = append(e.Ops, MissingOp{Op: n.Op, Def: n.Def})
	}
	m := &e.Ops[i]
	if m.Count++; len(m.Uses) < maxUses {
		m.Uses = append(m.Uses, place)
	}
}
