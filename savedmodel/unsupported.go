package savedmodel

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/graph"
)

// An UnsupportedError lists all ops that a call needs and no kernel runs.
type UnsupportedError struct{ Ops []MissingOp }

// MissingOp is an op without a kernel.
type MissingOp struct {
	// Op is the op's name, Def its definition: TensorFlow's or the file's; nil
	// where nobody defines it.
	Op  string
	Def *graph.OpDef
	// Count is how many nodes have the op.
	Count int
	// Uses are some of the places where it stands: "signature serving_default:
	// lstm/while_body/CudnnRNN".
	Uses []string
}

const maxUses = 5

// Error lists the ops and where they are used.
func (e *UnsupportedError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "savedmodel: no kernel for %d of the ops that are needed:", len(e.Ops))
	for _, m := range e.Ops {
		what := ""
		switch {
		case m.Def == nil:
			what = ", which nobody defines"
		case graph.LookupOp(m.Op) == nil:
			what = ", an op that isn't TensorFlow's"
		}
		fmt.Fprintf(&b, "\n  %s%s: %d nodes, in %s", m.Op, what, m.Count, strings.Join(m.Uses, "; "))
	}
	b.WriteString("\nLoadOptions.Kernels can have more: engine.KernelSet.With adds kernels of one's own")
	return b.String()
}

// Is reports whether target is errors.ErrUnsupported.
func (e *UnsupportedError) Is(target error) bool { return target == errors.ErrUnsupported }

// with returns the ops of both; e may be nil.
func (e *UnsupportedError) with(o *UnsupportedError) *UnsupportedError {
	out := &UnsupportedError{}
	if e != nil {
		out.Ops = append(out.Ops, e.Ops...)
	}
	for _, m := range o.Ops {
		i := slices.IndexFunc(out.Ops, func(x MissingOp) bool { return x.Op == m.Op })
		if i < 0 {
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
	return out
}

// check returns an [*UnsupportedError] if something that c's function reaches
// has no kernel.
func (p *program) check(c *callable) error {
	e := missingIn(p.opts.Kernels, c.where, c.function, append([]*graph.Function{c.function}, reachable(c.function)...))
	if len(e.Ops) == 0 {
		return nil
	}
	slices.SortFunc(e.Ops, func(a, b MissingOp) int { return strings.Compare(a.Op, b.Op) })
	return e
}

func reachable(f *graph.Function) []*graph.Function { return f.Graph.Reachable() }

func missingIn(ks *engine.KernelSet, where string, root *graph.Function, all []*graph.Function) *UnsupportedError {
	e := &UnsupportedError{}
	for _, f := range all {
		for _, n := range f.Graph.Nodes() {
			if n.IsArg() || ks.Lookup(n.Op) != nil || f.Graph.Library.Lookup(n.Op) != nil {
				continue
			}
			place := where + ": " + n.Name
			if f != root {
				place = where + ": " + f.Name + "/" + n.Name
			}
			e = e.with(&UnsupportedError{[]MissingOp{{Op: n.Op, Def: n.Def, Count: 1, Uses: []string{place}}}})
		}
	}
	return e
}
