package main

import (
	"context"
	"fmt"

	"github.com/cairnml/cairn/internal/testkit/programs"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// randomPrograms is the number of programs of each kind that TensorFlow judges.
const randomPrograms = 200

// programCases has TensorFlow run and differentiate random programs: our traces,
// with first and second derivatives inside; the same by TensorFlow's own
// differentiation of the traces; and programs whose results show the order of
// changes to variables, tables, generators and lists.
func programCases(ctx context.Context, r *run) {
	in := []*tensor.Tensor{tensor.Vector(0.3, -0.7, 1.1), tensor.Vector(-0.2, 0.9, 0.4)}
	all := in
	for _, v := range programs.WorldVariables()[:3] {
		all = append(all, v.Load())
	}
	state := func() []*trackable.Variable { return programs.WorldVariables()[3:] }
	var runs, differentiated []*program
	for seed := range randomPrograms {
		e := programs.Program(seed)
		name := func(what string) string { return fmt.Sprintf("%s of random program %d", what, seed) }
		if !r.match.MatchString(name("")) {
			continue
		}
		runs = append(runs, &program{name: name("derivatives"), vars: programs.WorldVariables, in: in, calls: 2, tolerance: 1e-9,
			run: func(s *ops.Scope, vars []*trackable.Variable, in []*ops.Value) []*ops.Value {
				return programs.NewWorld(vars).Derivatives(s, e, in[0], in[1])
			}})
		// Of loaded functions TensorFlow refuses, its own too: custom gradients in branches
		// and loops, and variables in branches inside of loops ("without handle data").
		if e.Has("custom") || e.StateInBranchOfLoop() {
			continue
		}
		// TensorFlow returns zeros for a variable that a loop inside of a loop of a
		// loaded function reads, so there are values in place of variables.
		differentiated = append(differentiated, &program{name: name("value"), vars: state, in: all, gradientTolerance: 1e-9, wholeAtBorders: true,
			run: func(s *ops.Scope, vars []*trackable.Variable, in []*ops.Value) []*ops.Value {
				return []*ops.Value{programs.NewWorldOf(in[2:], vars[0]).Eval(s, e, in[:2])}
			}}, &program{name: name("first derivatives"), vars: state, in: all, gradientTolerance: 1e-9, wholeAtBorders: true,
			run: func(s *ops.Scope, vars []*trackable.Variable, in []*ops.Value) []*ops.Value {
				return programs.NewWorldOf(in[2:], vars[0]).Derivatives(s, e, in[0], in[1])[1:3]
			}})
	}
	r.compareTraces(ctx, "random", runs)
	groups := &gradientGroups{run: r}
	for i := 0; i < len(differentiated); i += 40 {
		part := differentiated[i:min(i+40, len(differentiated))]
		groups.add(ctx, "random", fmt.Sprintf("%s to %s", part[0].name, part[len(part)-1].name), part)
	}
	groups.compare(ctx)

	var steps []*program
	for seed := range randomPrograms {
		p := programs.StepsOf(seed, true)
		name := fmt.Sprintf("order of random steps %d", seed)
		if !r.match.MatchString(name) {
			continue
		}
		steps = append(steps, &program{name: name, vars: programs.OutsideVariables, in: []*tensor.Tensor{tensor.Scalar(0.3)}, calls: 3, tolerance: 1e-9, traced: true,
			run: func(s *ops.Scope, vars []*trackable.Variable, in []*ops.Value) []*ops.Value {
				return programs.NewOutside(fmt.Sprintf("steps %d", seed), vars).Run(s, p, in[0])
			}})
	}
	r.compareTraces(ctx, "steps", steps)
}
