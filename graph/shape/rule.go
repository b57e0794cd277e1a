// Package shape has one rule per op. A rule computes the facts of an op's
// outputs from those of its inputs: mainly shapes, and the values of small
// integer vectors that describe shapes.
//
// The same rule serves inference over a graph, with many unknown sizes, and
// kernels, which pass complete shapes. Kernels may need more than the shapes of
// outputs, such as the block that a StridedSlice takes. Exported functions of
// this package compute that; the rules use them too.
//
// A negative size is unknown. Equal negative sizes other than -1 are the same number ([graph.NewDim]), so rules
// hand sizes on where they can, and ask [graph.SameDim] and [graph.MergeDim] in place of ==.
package shape

import (
	"fmt"
	"sort"
	"sync"

	"github.com/cairnml/cairn/graph"
)

// Inference is the argument and result of a [Rule]: an op with its attributes
// and the facts of its inputs. The rule fills Out.
type Inference struct {
	Op    string
	Attrs graph.Attrs // complete: those that follow from the inputs included
	In    []graph.Fact
	// Out has one entry per output, with the element type if the definition
	// determines it. The rule sets shapes, values and the contents of handles.
	// Other properties stay unknown.
	Out []graph.Fact
	// Call infers the results of a function, for the ops that call one. Nil
	// means that functions aren't inferred.
	Call func(f graph.Callee, args []graph.Fact) ([]graph.Fact, error)
}

// Rule computes the facts of an op's outputs. An error means that no inputs of
// these facts can be right.
type Rule func(*Inference) error

// Rules maps op names to rules. It never changes and is safe for concurrent
// use. A nil *Rules has none.
type Rules struct{ byOp map[string]Rule }

// Lookup returns the rule of an op, or nil.
func (r *Rules) Lookup(op string) Rule {
	if r == nil {
		return nil
	}
	return r.byOp[op]
}

// With returns the set with one more rule, which replaces the op's former one.
func (r *Rules) With(op string, rule Rule) *Rules {
	next := &Rules{byOp: make(map[string]Rule, r.Len()+1)}
	if r != nil {
		for k, v := range r.byOp {
			next.byOp[k] = v
		}
	}
	next.byOp[op] = rule
	return next
}

// Len returns the number of rules.
func (r *Rules) Len() int {
	if r == nil {
		return 0
	}
	return len(r.byOp)
}

// Ops lists the ops that have a rule, in alphabetical order.
func (r *Rules) Ops() []string {
	names := make([]string, 0, r.Len())
	if r != nil {
		for op := range r.byOp {
			names = append(names, op)
		}
	}
	sort.Strings(names)
	return names
}

// Infer fills c.Out by the rule of c.Op; without a rule everything stays
// unknown. A panic of a rule is an error.
func (r *Rules) Infer(c *Inference) (err error) {
	rule := r.Lookup(c.Op)
	if rule == nil {
		return nil
	}
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the shape rule of %s fails: %v", c.Op, p)
		}
	}()
	return rule(c)
}

// All returns the built-in rules.
func All() *Rules { return builtin() }

var builtin = sync.OnceValue(func() *Rules {
	all := &Rules{byOp: map[string]Rule{}}
	for _, family := range []map[string]Rule{
		elementwiseRules(), arrayRules(), joinRules(), sliceRules(), xlaRules(), gatherRules(), padRules(), fillRules(), matrixRules(),
		reduceRules(), matmulRules(), nnRules(), randomRules(), stateRules(), ioRules(), controlRules(), listRules(), tensorArrayRules(), convRules(), tableRules(), textRules(), parseRules(), sparseRules(), rnnRules(), quantRules(), quantizedRules(), compositeRules(),
		segmentRules(), diagonalRules(), signalRules(), linalgRules(), dataRules(),
	} {
		for op, rule := range family {
			if all.byOp[op] != nil {
				panic("shape: two rules for " + op)
			}
			all.byOp[op] = rule
		}
	}
	return all
})
