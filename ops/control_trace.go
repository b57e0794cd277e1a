package ops

import (
	"errors"
	"fmt"
	"math"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/tensor"
)

// This file emits the control flow of control.go in a trace. loops.go traces bodies
// with it too.

// traced is a branch or a body that was traced as a separate function.
type traced struct {
	fn    *graph.Function
	trace *Trace
	args  int // the number of arguments before the captures
}

// traceBody traces f as a function whose arguments have these facts. It returns nil
// after a failure.
func (s *Scope) traceBody(name string, facts []graph.Fact, f body) *traced {
	inner, t := s.branch(name)
	if t.depth > maxBranches {
		s.fail(name, nil, ErrRecursive)
		return nil
	}
	in := make([]*Value, len(facts))
	for i, fact := range facts {
		v, err := t.Arg("", fact)
		if err != nil {
			s.fail(name, nil, err)
			return nil
		}
		in[i] = v
	}
	out := s.callBody(f, inner, in)
	c, err := t.Finish(out, nil)
	if err != nil {
		if s.step.err == nil {
			s.step.err = err
		}
		return nil
	}
	return &traced{fn: c.Function, trace: t, args: len(facts)}
}

// callBody returns the results of f on the scope of its trace. The first error there
// takes precedence over a panic that follows from it, such as indexing a failed op's
// outputs.
func (s *Scope) callBody(f body, inner *Scope, in []*Value) []*Value {
	if outer := s.tracer(); outer != nil {
		outer.openBranches++
		defer func() { outer.openBranches-- }()
	}
	defer func() {
		if inner.step.err != nil && recover() != nil {
			return
		}
	}()
	return f(inner, in)
}

// joinCaptures lets all of the functions capture the union of their captures,
// in the same order, and returns the captured values.
func joinCaptures(bodies ...*traced) ([]*Value, error) {
	var all []*Value
	seen := map[graph.Output]bool{}
	for _, b := range bodies {
		for _, src := range b.trace.sources {
			if !seen[src.extras().out] {
				seen[src.extras().out] = true
				all = append(all, src)
			}
		}
	}
	for _, b := range bodies {
		own := make(map[graph.Output]*graph.Node, len(b.trace.args))
		for i, src := range b.trace.sources {
			own[src.extras().out] = b.trace.args[i].extras().out.Node
		}
		b.fn.Args = b.fn.Args[:b.args]
		for _, v := range all {
			if n := own[v.extras().out]; n != nil {
				b.fn.Args = append(b.fn.Args, n)
				continue
			}
			if _, err := b.fn.AddArg(b.fn.Graph.UniqueName(cleanName(v.extras().out.Node.Name)), v.extras().out.Fact().WithoutValue()); err != nil {
				return nil, err
			}
		}
		b.fn.NumberArgs()
	}
	return all, nil
}

// callOp returns op if a function is stateful, otherwise its Stateless form.
func callOp(op string, bodies ...*traced) string {
	for _, b := range bodies {
		if b.fn.Stateful() {
			return op
		}
	}
	return "Stateless" + op
}

func (s *Scope) traceIf(cond *Value, then, otherwise body) []*Value {
	if cond = s.scalarCondition("If", cond); cond == nil {
		return nil
	}
	yes := s.traceBody("cond_true", nil, then)
	if yes == nil {
		return nil
	}
	no := s.traceBody("cond_false", nil, otherwise)
	if no == nil {
		return nil
	}
	return s.emitBranches("If", cond, []string{"then", "otherwise"}, yes, no)
}

// scalarCondition returns cond, which has one element, as a scalar. If its size isn't
// known, calls check it. The op itself would accept any tensor: one with elements is true.
// scalarCondition returns nil after a failure.
func (s *Scope) scalarCondition(op string, cond *Value) *Value {
	f := cond.Fact()
	switch {
	case f.DType == tensor.String: // the op would accept it, and check whether it is empty
		s.fail(op, nil, notCondition(f.DType), cond)
	case f.Shape.HasRank() && f.Shape.Rank() == 0:
	default:
		if n, known := f.Shape.NumElements(); known && n != 1 {
			s.fail(op, nil, notOne(f.DType, f.Shape.Anonymous().Dims()), cond)
			return nil
		}
		cond = Reshape(s, cond)
	}
	if !s.alive() {
		return nil
	}
	return cond
}

func (s *Scope) traceCase(index *Value, branches []body) []*Value {
	list := make([]*traced, len(branches))
	names := make([]string, len(branches))
	for i, f := range branches {
		names[i] = fmt.Sprintf("branch %d", i)
		if list[i] = s.traceBody(fmt.Sprintf("switch_case_branch%d", i), nil, f); list[i] == nil {
			return nil
		}
	}
	return s.emitBranches("Case", index, names, list...)
}

// emitBranches emits an op that calls one of the functions.
func (s *Scope) emitBranches(op string, which *Value, names []string, list ...*traced) []*Value {
	results := list[0].fn.ResultFacts()
	for k, b := range list[1:] {
		other := b.fn.ResultFacts()
		if len(other) != len(results) {
			s.fail(op, nil, fmt.Errorf("%s returns %d values, %s returns %d; all branches must return as many", names[0], len(results), names[k+1], len(other)))
			return nil
		}
		for i := range results {
			if results[i].DType != other[i].DType {
				s.fail(op, nil, fmt.Errorf("value %d is %v from %s and %v from %s; ops.Cast converts",
					i, results[i].DType, names[0], other[i].DType, names[k+1]))
				return nil
			}
			results[i] = results[i].Relax(other[i])
		}
	}
	captures, err := joinCaptures(list...)
	if err != nil {
		s.fail(op, nil, err)
		return nil
	}
	attrs := graph.Attrs{typesAttr("Tout", results), shapesAttr("output_shapes", results)}
	if op == "If" {
		attrs = append(attrs, graph.Func("then_branch", list[0].fn), graph.Func("else_branch", list[1].fn))
	} else {
		callees := make([]graph.Callee, len(list))
		for i, b := range list {
			callees[i] = graph.Callee{Function: b.fn}
		}
		attrs = append(attrs, graph.Funcs("branches", callees...))
	}
	return s.EmitN(len(results), callOp(op, list...), attrs, inputsOf([]*Value{which}, captures)...)
}

func inputsOf(lists ...[]*Value) (in []Input) {
	for _, l := range lists {
		for _, v := range l {
			in = append(in, v)
		}
	}
	return in
}

func typesAttr(name string, facts []graph.Fact) graph.Attr {
	types := make([]tensor.DType, len(facts))
	for i, f := range facts {
		types[i] = f.DType
	}
	return graph.Types(name, types...)
}

func shapesAttr(name string, facts []graph.Fact) graph.Attr {
	shapes := make([]graph.PartialShape, len(facts))
	for i, f := range facts {
		shapes[i] = f.Shape.Anonymous()
	}
	return graph.Shapes(name, shapes...)
}

// traceWhile emits a loop. Two variables come before the loop's own: the number of
// rounds, and their limit or -1. TensorFlow's gradient of a loop expects them there.
func (s *Scope) traceWhile(init []*Value, limit int, cond, step body) []*Value {
	const front = 2
	most := int32(-1)
	if limit > 0 {
		most = int32(min(limit, math.MaxInt32))
	}
	vars := append([]*Value{Const(s, int32(0)), Const(s, most)}, init...)
	if !s.alive() {
		return nil
	}
	out := s.emitLoop(vars,
		func(s *Scope, in []*Value) []*Value {
			more := cond(s, in[front:])
			if !s.alive() {
				return nil
			}
			if !s.boolCondition(more[0]) {
				return nil
			}
			if more[0] = s.scalarCondition("While", more[0]); more[0] == nil {
				return nil
			}
			if limit > 0 {
				more = []*Value{And(s, Less(s, in[0], in[1]), more[0])}
			}
			return more
		},
		func(s *Scope, in []*Value) []*Value {
			next := step(s, in[front:])
			if !s.alive() {
				return nil
			}
			if err := sameVariables(init, next); err != nil {
				s.fail("While", nil, err)
				return nil
			}
			return append([]*Value{Add(s, in[0], 1), in[1]}, next...)
		})
	if len(out) == 0 {
		return nil
	}
	return out[front:]
}

// boolCondition reports whether c can be a loop's condition; it fails otherwise.
func (s *Scope) boolCondition(c *Value) bool {
	switch {
	case !s.alive():
	case c == nil:
		s.fail("While", nil, errors.New("the condition returns nil, not a bool"))
	case !c.failed() && c.DType() != tensor.Bool:
		s.fail("While", nil, fmt.Errorf("the condition is %v, not bool; ops.NotEqual compares with 0", c.DType()))
	}
	return s.alive()
}

// emitLoop emits an op While. It relaxes the facts about the variables until the
// body preserves them.
func (s *Scope) emitLoop(init []*Value, cond, step body) []*Value {
	facts := make([]graph.Fact, len(init))
	for i, v := range init {
		facts[i] = v.Fact().WithoutValue()
	}
	var round *traced
	for {
		if round = s.traceBody("while_body", facts, step); round == nil {
			return nil
		}
		stable := true
		for i, f := range round.fn.ResultFacts() {
			next := keptFact(facts[i], f)
			stable = stable && next.Equal(facts[i])
			facts[i] = next
		}
		if stable {
			break
		}
	}
	test := s.traceBody("while_cond", facts, cond)
	if test == nil {
		return nil
	}
	captures, err := joinCaptures(round, test)
	if err != nil {
		s.fail("While", nil, err)
		return nil
	}
	// The body's captures pass through the loop unchanged.
	for _, arg := range round.fn.Args[round.args:] {
		round.fn.AddResult(arg.Name, arg.Output(0))
	}
	all := make([]graph.Fact, 0, len(init)+len(captures))
	all = append(all, facts...)
	for _, v := range captures {
		all = append(all, v.Fact())
	}
	attrs := graph.Attrs{graph.Func("cond", test.fn), graph.Func("body", round.fn), shapesAttr("output_shapes", all), attrParallel}
	out := s.EmitN(len(all), callOp("While", round, test), attrs, inputsOf(init, captures)...)
	return out[:len(init)]
}

// keptFact returns the fact that holds for a loop's variable before and after a round. Sizes that
// don't change keep their identities, so that the body knows them from outside; others lose theirs.
func keptFact(before, after graph.Fact) graph.Fact {
	out := before.Relax(after.WithoutValue())
	out.Shape = keptShape(before.Shape, out.Shape)
	for i := range out.Handle {
		out.Handle[i].Shape = keptShape(before.Handle[i].Shape, out.Handle[i].Shape)
	}
	return out
}

func keptShape(before, now graph.PartialShape) graph.PartialShape {
	if !now.HasRank() {
		return now
	}
	dims := now.Dims().Clone()
	for i, d := range dims {
		if d < 0 && d != before.Dim(i) {
			dims[i] = -1
		}
	}
	return graph.ShapeOf(dims...)
}
