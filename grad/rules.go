package grad

import (
	"fmt"
	"sort"
	"strings"
	"sync"
	"weak"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/ops"
)

// Rule computes the gradients with regard to an op's inputs from those with
// regard to its outputs, by ops on s, and passes each to [Op.Give]. It is
// called only if some output has a gradient and some input needs one.
type Rule func(s *ops.Scope, op *Op)

// Rules maps op names to gradient rules. It is a value that never changes and
// is safe for use from many goroutines.
type Rules struct {
	byOp       map[string]Rule
	ofFunction map[*graph.Function]*graph.Function // the gradient of a function, of those that a library holds
	captures   map[string][]graph.Output           // by the name of a gradient that a library registers, that gradient's captures

	// Only from sets these.
	base *Rules                      // the rules before the gradients of lib were added; nil if from added none
	lib  weak.Pointer[graph.Library] // the library whose gradients were added to base, for comparisons only
}

// from returns the rules with the gradients of lib, the library that a function was read
// with, in place of those of a library that from added before. If lib has no gradients,
// it returns the rules without any library of from.
func (r *Rules) from(lib *graph.Library) *Rules {
	root := r.root()
	if lib == nil || len(lib.Registered) == 0 && len(lib.Gradients) == 0 {
		return root
	}
	if r.base != nil && r.lib == weak.Make(lib) {
		return r
	}
	next := root.WithLibrary(lib)
	next.base, next.lib = root, weak.Make(lib)
	return next
}

// root returns the rules without the library that from added, if any.
func (r *Rules) root() *Rules {
	if r.base != nil {
		return r.base
	}
	return r
}

// given returns the gradient of a function that r or the function's library has, nil
// if there is none.
func (r *Rules) given(f *graph.Function) *graph.Function {
	if g := r.ofFunction[f]; g != nil {
		return g
	}
	if lib := f.Graph.Library; lib != nil {
		for _, g := range lib.Gradients {
			if g.Function.Function == f && g.Gradient.Function != nil {
				return g.Gradient.Function
			}
		}
	}
	return nil
}

// Lookup returns the rule of an op, or nil.
func (r *Rules) Lookup(op string) Rule {
	if r == nil {
		return nil
	}
	return r.byOp[op]
}

// Ops lists the ops that have a rule, in alphabetical order.
func (r *Rules) Ops() []string {
	var names []string
	for op := range r.byOp {
		names = append(names, op)
	}
	sort.Strings(names)
	return names
}

// With returns the set with one more rule, which replaces the op's former one. In
// place of an op's name, op may be a name that nodes have in their attribute
// _gradient_op_type. For these nodes the rule comes before that of their op.
func (r *Rules) With(op string, rule Rule) *Rules {
	next := &Rules{byOp: map[string]Rule{op: rule}}
	if r != nil {
		next.ofFunction, next.captures = r.ofFunction, r.captures
		for k, v := range r.byOp {
			if k != op {
				next.byOp[k] = v
			}
		}
	}
	return next
}

func (r *Rules) missing(op string) error {
	switch {
	case flowInput[op] > 0:
		return fmt.Errorf("an array of TensorFlow 1 has a gradient in a function that makes and uses it only, called on the tape: put its ops in a separate function (function.Func.Apply), or use ops.Scan")
	case strings.HasPrefix(op, "TensorArray"):
		return fmt.Errorf("arrays of TensorFlow 1 have gradients from their third version on: use TensorArrayV3 or ops.Scan")
	}
	return fmt.Errorf("the op has no gradient rule; grad.Rules.With adds one, ops.StopGradient keeps gradients away")
}

// All returns the built-in rules.
func All() *Rules { return builtin() }

var builtin = sync.OnceValue(func() *Rules {
	all := &Rules{byOp: map[string]Rule{}}
	for _, family := range []map[string]Rule{
		constantRules(), // first, because a later rule of the same op replaces it
		mathRules, reduceRules, arrayRules, stitchRules, sparseRules, sparseSumRules, csrRules, summaryRules, raggedRules,
		nnRules, convRules, imageRules, rnnRules, quantRules, xlaRules,
		segmentRules, scatterRules, diagonalRules, moveRules, specialRules, signalRules(), linalgRules, randomRules, patchRules,
		stateRules, listRules, functionRules,
	} {
		for op, rule := range family {
			all.byOp[op] = rule
		}
	}
	return all
})
