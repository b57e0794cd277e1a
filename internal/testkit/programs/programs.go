// Package programs generates random programs, the same for the same seed, for the tests
// that compare ways of running them. Tests of grad use it, and the program interop.
//
// The program of a seed may change with the code here: no file holds results of one.
package programs

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/grad"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// Steep is tanh with a custom gradient, which shows if another one is used.
var Steep = grad.NewCustom("TestSteep",
	func(s *ops.Scope, x []*ops.Value) []*ops.Value { return []*ops.Value{ops.Tanh(s, x[0])} },
	func(s *ops.Scope, x, y, dy []*ops.Value) []*ops.Value {
		return []*ops.Value{ops.Mul(s, dy[0], ops.Mul(s, 3, ops.Add(s, y[0], ops.Cos(s, x[0]))))}
	})

// Expression is a part of a random program: a form applied to other parts.
// Every value is a vector of three numbers that stay small.
type Expression struct {
	form string        // a key of forms
	args []*Expression // as many as the form has
	pick int           // decides details of the form; from 0 to 999
}

// forms are the building blocks of programs, with the number of parts of each.
var forms = map[string]int{
	"argument": 0, "w": 0, "u": 0, "constant": 0, "rows": 0, "state": 0,
	"add": 2, "mul": 2, "div": 2, "max": 2, "where": 2,
	"sin": 1, "tanh": 1, "cumsum": 1, "reverse": 1, "softmax": 1, "total": 1, "stop": 1, "custom": 1, "matrix": 1, "split": 1, "pad": 1, "slice": 1, "gather": 1,
	"if": 3, "if two": 4, "case": 4, "while": 4, "until": 3, "grow": 2, "map": 3, "scan": 4, "apply": 2, "gradient": 2, "write": 1, "scoped": 1,
}

// leaves are the forms without parts, branches the others. A form that is listed twice is
// twice as frequent.
var leaves, branches = func() (leaves, branches []string) {
	for _, f := range []string{"argument", "argument", "w", "u", "constant", "rows", "state",
		"add", "mul", "div", "max", "where", "sin", "tanh", "cumsum", "reverse", "softmax", "total", "stop", "custom", "matrix", "split", "pad", "slice", "gather",
		"if", "if", "if two", "case", "while", "while", "until", "grow", "map", "scan", "apply", "gradient", "write", "scoped"} {
		if forms[f] == 0 {
			leaves = append(leaves, f)
		} else {
			branches = append(branches, f)
		}
	}
	return leaves, branches
}()

// Program returns the program of a seed.
func Program(seed int) *Expression {
	return random(rand.New(rand.NewPCG(uint64(seed), 7)), 2+seed%3)
}

// random returns a program with at most depth forms in each other around a leaf.
func random(r *rand.Rand, depth int) *Expression {
	e := &Expression{pick: r.IntN(1000)}
	if depth == 0 || r.IntN(8) == 0 {
		e.form = leaves[r.IntN(len(leaves))]
		return e
	}
	e.form = branches[r.IntN(len(branches))]
	for range forms[e.form] {
		e.args = append(e.args, random(r, depth-1))
	}
	return e
}

// String shows the program.
func (e *Expression) String() string {
	var args []string
	for _, a := range e.args {
		args = append(args, a.String())
	}
	return fmt.Sprintf("%s#%d(%s)", e.form, e.pick, strings.Join(args, ", "))
}

// World is the state that programs use from outside.
type World struct {
	w, u, table ops.Input                                                // variables, or values in their places
	state       *trackable.Variable                                      // which programs write
	calls       map[*Expression]*function.Func[[]*ops.Value, *ops.Value] // of the form apply
}

// WorldVariables returns the variables of a [World] in which no program has run yet.
func WorldVariables() []*trackable.Variable {
	v := func(x ...float64) *trackable.Variable { return trackable.NewVariable(tensor.Vector(x...)) }
	return []*trackable.Variable{
		v(0.5, -1.5, 2).Named("w"), v(1.5, 0.25, -1).Named("u"),
		trackable.NewVariable(tensor.Must(tensor.New([]float64{.1, .2, .3, .4, -.5, .6, .7, .8, -.9}, 3, 3))).Named("table"),
		v(0.1, 0.2, 0.3).Named("state").SetTrainable(false),
	}
}

// NewWorld returns a world of [WorldVariables].
func NewWorld(vars []*trackable.Variable) *World {
	return newWorld(vars[0], vars[1], vars[2], vars[3])
}

// NewWorldOf returns a world that has values in place of the first three variables of
// [WorldVariables].
func NewWorldOf(values []*ops.Value, state *trackable.Variable) *World {
	return newWorld(values[0], values[1], values[2], state)
}

func newWorld(w, u, table ops.Input, state *trackable.Variable) *World {
	return &World{w: w, u: u, table: table, state: state, calls: map[*Expression]*function.Func[[]*ops.Value, *ops.Value]{}}
}

// arguments returns the arguments of a function's call: the values in scope, and those
// of the world.
func (w *World) arguments(env []*ops.Value) []*ops.Value {
	env = env[:len(env):len(env)]
	for _, x := range []ops.Input{w.w, w.u, w.table} {
		if v, ok := x.(*ops.Value); ok {
			env = append(env, v)
		}
	}
	return env
}

// of returns the world that the arguments of a call make, and the values in scope: the
// reverse of arguments.
func (w *World) of(args []*ops.Value) (*World, []*ops.Value) {
	if _, ok := w.w.(*ops.Value); !ok {
		return w, args
	}
	inner, n := *w, len(args)-3
	inner.w, inner.u, inner.table = args[n], args[n+1], args[n+2]
	return &inner, args[:n:n]
}

// read returns the present value of an input of the world.
func read(s *ops.Scope, x ops.Input) *ops.Value {
	if v, ok := x.(*trackable.Variable); ok {
		return ops.ReadVariable(s, v)
	}
	return ops.Identity(s, x)
}

// Eval returns the value of e; env are the values in scope.
func (w *World) Eval(s *ops.Scope, e *Expression, env []*ops.Value) *ops.Value {
	type V = *ops.Value
	arg := func(i int) V { return w.Eval(s, e.args[i], env) }
	with := func(more ...V) []V { return append(env[:len(env):len(env)], more...) }
	total := func(s *ops.Scope, x ops.Input) V { return ops.Sum(s, ops.Reshape(s, x, -1), 0) }
	small := func(x V) V { return ops.Tanh(s, x) }
	switch e.form {
	case "argument":
		return env[e.pick%len(env)]
	case "w":
		return ops.Identity(s, w.w)
	case "u":
		return read(s, w.u)
	case "constant":
		return ops.ConstOf(s, tensor.Float64, []float64{float64(e.pick%7) - 3, 0.5, -0.25})
	case "rows":
		return ops.Mul(s, ops.Sum(s, ops.Gather(s, w.table, []int{e.pick % 3, 2, 2}), 0), 0.3)
	case "state":
		return ops.ReadVariable(s, w.state)
	case "add":
		return ops.Add(s, arg(0), arg(1))
	case "mul":
		return ops.Mul(s, small(arg(0)), arg(1))
	case "div":
		return ops.Div(s, arg(0), ops.Add(s, 2.0, ops.Square(s, arg(1))))
	case "max":
		return ops.Maximum(s, arg(0), arg(1))
	case "where":
		a := arg(0)
		return ops.Where(s, ops.Greater(s, a, 0.1), a, arg(1))
	case "sin":
		return ops.Sin(s, arg(0))
	case "tanh":
		return small(arg(0))
	case "cumsum":
		return ops.CumSum(s, small(arg(0)), 0)
	case "reverse":
		return ops.Reverse(s, arg(0), 0)
	case "softmax":
		return ops.Softmax(s, arg(0))
	case "total":
		x := small(arg(0))
		return ops.Add(s, x, total(s, x))
	case "stop":
		return ops.StopGradient(s, arg(0))
	case "custom":
		return Steep.Call(s, arg(0))[0]
	case "matrix":
		return ops.Reshape(s, ops.MatMul(s, ops.Reshape(s, small(arg(0)), 1, 3), w.table), 3)
	case "split":
		parts := ops.Unstack(s, arg(0), 3)
		return ops.Stack(s, []V{parts[e.pick%3], ops.Mul(s, parts[1], parts[2]), parts[0]})
	case "pad":
		x := ops.Concat(s, []V{arg(0), ops.ConstOf(s, tensor.Float64, []float64{1})}, 0)
		return ops.StridedSlice(s, x, ops.From(1))
	case "slice":
		x := arg(0)
		return ops.Add(s, x, ops.StridedSlice(s, x, ops.At(e.pick%3)))
	case "gather":
		return ops.Gather(s, arg(0), []int{e.pick % 3, 0, e.pick % 3})
	case "if":
		// The limit must not equal a round sum, such as that of a softmax.
		return ops.If(s, ops.Greater(s, total(s, arg(0)), float64(e.pick%5)/2-1.013),
			func(s *ops.Scope) V { return w.Eval(s, e.args[1], env) },
			func(s *ops.Scope) V { return w.Eval(s, e.args[2], env) })
	case "if two":
		two := func(i, k int) func(s *ops.Scope) []V {
			return func(s *ops.Scope) []V { return []V{w.Eval(s, e.args[i], env), w.Eval(s, e.args[k], env)} }
		}
		out := ops.If(s, ops.Greater(s, total(s, arg(0)), 0.017), two(1, 2), two(3, 1))
		return ops.Sub(s, out[0], out[1])
	case "case":
		index := ops.Cast(s, ops.Mul(s, 1.987, total(s, arg(0))), tensor.Int32)
		return ops.Case(s, index,
			func(s *ops.Scope) V { return w.Eval(s, e.args[1], env) },
			func(s *ops.Scope) V { return w.Eval(s, e.args[2], env) },
			func(s *ops.Scope) V { return w.Eval(s, e.args[3], env) })
	case "while":
		n := e.pick % 4
		return ops.While(s, []V{ops.Const(s, int32(0)), arg(0), arg(1)},
			func(s *ops.Scope, v []V) V { return ops.Less(s, v[0], int32(n)) },
			func(s *ops.Scope, v []V) []V {
				in := with(v[1], v[2])
				return []V{ops.Add(s, v[0], int32(1)), ops.Tanh(s, w.Eval(s, e.args[2], in)), ops.Sin(s, w.Eval(s, e.args[3], in))}
			})[1+e.pick%2]
	case "until":
		out := ops.While(s, []V{arg(0), ops.ConstOf(s, tensor.Float64, 0.0), arg(1)},
			func(s *ops.Scope, v []V) V { return ops.Less(s, v[1], 2.5) },
			func(s *ops.Scope, v []V) []V {
				x := ops.Tanh(s, w.Eval(s, e.args[2], with(v[0])))
				return []V{x, ops.Add(s, v[1], ops.Add(s, 0.7, ops.Abs(s, ops.Mul(s, 0.1, total(s, x))))), v[2]}
			})
		return ops.Add(s, ops.Mul(s, out[0], out[1]), out[2])
	case "grow":
		out := ops.While(s, []V{ops.Const(s, int32(0)), ops.Reshape(s, arg(0), 1, 3)},
			func(s *ops.Scope, v []V) V { return ops.Less(s, v[0], int32(e.pick%3+1)) },
			func(s *ops.Scope, v []V) []V {
				x := ops.Tanh(s, w.Eval(s, e.args[1], with(ops.Sum(s, v[1], 0))))
				return []V{ops.Add(s, v[0], int32(1)), ops.Concat(s, []V{v[1], ops.ExpandDims(s, x, 0)}, 0)}
			})
		return ops.Mean(s, out[1], 0)
	case "map":
		rows := ops.Map(s, ops.Stack(s, []V{arg(0), arg(1)}), func(s *ops.Scope, x V) V { return w.Eval(s, e.args[2], with(x)) })
		return ops.Sum(s, rows, 0)
	case "scan":
		rows := ops.Scan(s, ops.Tanh(s, arg(0)), ops.Stack(s, []V{arg(1), arg(2)}), func(s *ops.Scope, acc, x V) V {
			return ops.Tanh(s, w.Eval(s, e.args[3], with(acc, x)))
		})
		return ops.Sum(s, rows, 0)
	case "apply":
		f := w.calls[e]
		if f == nil {
			f = function.New(func(s *ops.Scope, args []V) V {
				inner, env := w.of(args)
				return inner.Eval(s, e.args[0], env)
			})
			w.calls[e] = f
		}
		if e.pick%2 == 0 {
			return f.Apply(s, w.arguments(env))
		}
		return ops.Add(s, f.Apply(s, w.arguments(with(arg(1)))), f.Apply(s, w.arguments(with(ops.ConstOf(s, tensor.Float64, []float64{1, 2, 3})))))
	case "gradient":
		x := arg(0)
		zero := &grad.GradientOptions{Zero: true} // a loop's gradient is zeros if its rounds have none
		y, tape := grad.Of(s, func(s *ops.Scope) V { return total(s, w.Eval(s, e.args[1], with(x))) }, &grad.Options{Watch: []V{x}})
		if v, ok := w.w.(*trackable.Variable); ok && e.pick%2 == 0 {
			return ops.Tanh(s, tape.Gradient(y, []*trackable.Variable{v}, zero)[0].Grad)
		}
		return ops.Tanh(s, tape.GradientWith([]V{y}, []V{x}, zero)[0])
	case "write":
		ops.AssignAdd(s, w.state, ops.Mul(s, 0.01, ops.Tanh(s, ops.StopGradient(s, arg(0)))))
		return ops.ReadVariable(s, w.state)
	case "scoped":
		return ops.Scoped(s, func(s *ops.Scope) V { return w.Eval(s, e.args[0], env) })
	}
	panic(e.form)
}

// Derivatives returns a program's value, the gradients of two tapes, and the state
// afterwards. The second tape differentiates the sum of the first one's gradients. A
// source without a gradient has zeros.
func (w *World) Derivatives(s *ops.Scope, e *Expression, x, y *ops.Value) []*ops.Value {
	type V = *ops.Value
	var vars []*trackable.Variable
	for _, x := range []ops.Input{w.w, w.u, w.table} {
		if v, ok := x.(*trackable.Variable); ok {
			vars = append(vars, v)
		}
	}
	out := []V{}
	some := func(s *ops.Scope, like ops.Input, g V) V {
		if g == nil {
			return ops.ZerosLike(s, like)
		}
		return ops.Identity(s, g)
	}
	o := &grad.Options{Watch: []V{x, y}, Persistent: true}
	first, outer := grad.Of(s, func(s *ops.Scope) V {
		value, tape := grad.Of(s, func(s *ops.Scope) V { return ops.Sum(s, w.Eval(s, e, []V{x, y})) }, o)
		out = append(out, value)
		terms := []V{}
		for i, g := range tape.GradientOf(value, x, y) {
			g = some(s, []V{x, y}[i], g)
			out, terms = append(out, g), append(terms, ops.Sum(s, g))
		}
		for _, g := range tape.Gradient(value, vars) {
			v := some(s, g.Variable, g.Grad)
			out, terms = append(out, v), append(terms, ops.Sum(s, ops.Mul(s, v, 0.5)))
		}
		return ops.AddN(s, terms)
	}, o)
	for i, g := range outer.GradientOf(first, x, y) {
		out = append(out, some(s, []V{x, y}[i], g))
	}
	for _, g := range outer.Gradient(first, vars) {
		out = append(out, some(s, g.Variable, g.Grad))
	}
	return append(out, ops.ReadVariable(s, w.state))
}

// Has reports whether a form is part of the program.
func (e *Expression) Has(form string) bool {
	return e.form == form || slices.ContainsFunc(e.args, func(a *Expression) bool { return a.Has(form) })
}

// inner are, for the forms that are loops and branches, the parts in bodies.
var inner = map[string]struct {
	loop  bool
	parts []int
}{
	"while": {true, []int{2, 3}}, "until": {true, []int{2}}, "grow": {true, []int{1}}, "map": {true, []int{2}}, "scan": {true, []int{3}},
	"if": {false, []int{1, 2}}, "if two": {false, []int{1, 2, 3}}, "case": {false, []int{1, 2, 3}},
}

// StateInBranchOfLoop reports whether the state is used in a branch inside of a loop.
func (e *Expression) StateInBranchOfLoop() bool { return e.nested([]bool{true, false}) }

// nested reports whether the state is used inside of loops (true) and branches (false),
// nested in the order of within. Others may be between.
func (e *Expression) nested(within []bool) bool {
	if len(within) == 0 && (e.form == "state" || e.form == "write") {
		return true
	}
	for i, a := range e.args {
		rest, in := within, inner[e.form]
		if len(within) > 0 && in.loop == within[0] && slices.Contains(in.parts, i) {
			rest = within[1:]
		}
		if a.nested(rest) {
			return true
		}
	}
	return false
}

// Smaller returns parts of a program, and programs with fewer parts. Tests use it to find the
// smallest program that fails.
func (e *Expression) Smaller() (list []*Expression) {
	list = append(list, e.args...)
	if len(e.args) > 0 {
		list = append(list, &Expression{form: "argument", pick: e.pick})
	}
	for i := range e.args {
		for _, arg := range e.args[i].Smaller() {
			next := &Expression{form: e.form, pick: e.pick, args: slices.Clone(e.args)}
			next.args[i] = arg
			list = append(list, next)
		}
	}
	return list
}
