package programs

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// Steps is a random program whose steps change outside state, one after the other.
// Its results show the order of the steps.
type Steps []*step

type step struct {
	form   string
	pick   int     // decides details of the form; from 0 to 999
	blocks []Steps // as many as the form has
}

// effects are the forms of steps without blocks, blocked those with so many blocks. A form
// that is listed twice is twice as frequent.
var (
	effects = []string{"assign", "add", "sub", "read", "read", "draw", "stateful", "insert", "insert", "find", "size", "remove", "push", "push", "pop", "set"}
	blocked = []struct {
		form   string
		blocks int
	}{{"if", 2}, {"case", 3}, {"while", 1}, {"call", 1}, {"unused", 1}}
)

// StepsOf returns the steps of a seed. stateful means that there may be random ops
// whose nodes count their draws, so that their values depend on the runner.
func StepsOf(seed int, stateful bool) Steps {
	return randomSteps(rand.New(rand.NewPCG(uint64(seed), 11)), 1+seed%3, stateful)
}

// randomSteps returns a few steps with at most depth blocks in each other.
func randomSteps(r *rand.Rand, depth int, stateful bool) Steps {
	var out Steps
	for range 2 + r.IntN(4) {
		st := &step{pick: r.IntN(1000)}
		if depth > 0 && r.IntN(2) == 0 {
			b := blocked[r.IntN(len(blocked))]
			st.form = b.form
			for range b.blocks {
				st.blocks = append(st.blocks, randomSteps(r, depth-1, stateful))
			}
		} else {
			if st.form = effects[r.IntN(len(effects))]; st.form == "stateful" && !stateful {
				st.form = "draw"
			}
		}
		out = append(out, st)
	}
	return out
}

// String shows the program.
func (p Steps) String() string {
	var b strings.Builder
	for i, st := range p {
		if i > 0 {
			b.WriteString("; ")
		}
		fmt.Fprintf(&b, "%s#%d", st.form, st.pick)
		for _, block := range st.blocks {
			fmt.Fprintf(&b, " {%v}", block)
		}
	}
	return b.String()
}

// Outside is the state that steps change: two variables, a generator of random numbers
// and a table.
type Outside struct {
	vars   []*trackable.Variable // the two variables and the generator's state
	random *ops.Random
	table  string                                               // its shared name
	calls  map[*step]*function.Func[[]*ops.Value, []*ops.Value] // of the forms call and unused
}

// OutsideVariables returns the variables of an [Outside] that no program has changed yet.
func OutsideVariables() []*trackable.Variable {
	return []*trackable.Variable{
		trackable.NewVariable(tensor.Scalar(0.5)).Named("a"),
		trackable.NewVariable(tensor.Vector(0.25, -1.5)).Named("b"),
		ops.NewRandom(7).State.Named("random"),
	}
}

// NewOutside returns an Outside of [OutsideVariables], and of a table that all programs
// of one name share.
func NewOutside(name string, vars []*trackable.Variable) *Outside {
	return &Outside{vars: vars, random: &ops.Random{State: vars[2]}, table: name, calls: map[*step]*function.Func[[]*ops.Value, []*ops.Value]{}}
}

// Run runs the program on a number and returns its results: the number that all steps
// contributed to, the list that they pushed to, and the table's size and values.
func (o *Outside) Run(s *ops.Scope, p Steps, x *ops.Value) []*ops.Value {
	list := s.Emit1("EmptyTensorList", graph.Attrs{graph.Type("element_dtype", tensor.Float64)}, ops.ConstOf(s, tensor.Int32, []int{}), ops.ConstOf(s, tensor.Int32, -1))
	list = push(s, push(s, list, x), ops.ConstOf(s, tensor.Float64, 1.0))
	state := o.run(s, p, []*ops.Value{x, list})
	rows := s.Emit1("TensorListStack", graph.Attrs{graph.Type("element_dtype", tensor.Float64)}, state[1], ops.ConstOf(s, tensor.Int32, []int{}))
	out := []*ops.Value{state[0], rows, o.size(s)}
	for key := range 4 {
		out = append(out, o.find(s, key))
	}
	return out
}

func push(s *ops.Scope, list, x *ops.Value) *ops.Value {
	return s.Emit1("TensorListPushBack", nil, list, x)
}

func (o *Outside) handle(s *ops.Scope) *ops.Value {
	return s.Emit1("MutableHashTableV2", graph.Attrs{graph.String("shared_name", o.table),
		graph.Type("key_dtype", tensor.Int64), graph.Type("value_dtype", tensor.Float64)})
}

func (o *Outside) find(s *ops.Scope, key int) *ops.Value {
	return s.Emit1("LookupTableFindV2", nil, o.handle(s), ops.ConstOf(s, tensor.Int64, key), ops.ConstOf(s, tensor.Float64, -1.0))
}

func (o *Outside) size(s *ops.Scope) *ops.Value {
	return ops.Cast(s, s.Emit1("LookupTableSizeV2", nil, o.handle(s)), tensor.Float64)
}

// run runs steps on a number and a list, which are state's values, and returns both.
func (o *Outside) run(s *ops.Scope, p Steps, state []*ops.Value) []*ops.Value {
	for _, st := range p {
		if s.Err() != nil {
			return state
		}
		state = o.step(s, st, state[0], state[1])
	}
	return state
}

// step runs a step on the number x and a list, and returns both.
func (o *Outside) step(s *ops.Scope, st *step, x, list *ops.Value) []*ops.Value {
	type V = *ops.Value
	number := func(i int) V { return ops.ConstOf(s, tensor.Float64, float64(i)/8) }
	mix := func(y V) V { return ops.Add(s, ops.Mul(s, x, 0.5), ops.Sum(s, ops.Reshape(s, y, -1), 0)) }
	v := o.vars[st.pick%2]
	key := st.pick % 4
	switch st.form {
	case "assign":
		y := sine(s, ops.Add(s, x, number(st.pick%9)))
		if st.pick%2 == 1 {
			y = ops.Stack(s, []V{y, x})
		}
		ops.Assign(s, v, y)
	case "add":
		ops.AssignAdd(s, v, ops.Mul(s, ops.OnesLike(s, v), sine(s, x)))
	case "sub":
		ops.AssignSub(s, v, ops.Mul(s, ops.OnesLike(s, v), number(st.pick%5)))
	case "read":
		x = mix(sine(s, ops.ReadVariable(s, v)))
	case "draw":
		x = mix(ops.RandomUniform(s, o.random, tensor.Float64, 1+st.pick%2))
	case "stateful":
		x = mix(s.Emit1("RandomUniform", graph.Attrs{graph.Int("seed", int64(st.pick)), graph.Int("seed2", 3), graph.Type("dtype", tensor.Float64)},
			ops.ConstOf(s, tensor.Int32, []int{2})))
	case "insert":
		s.Emit0("LookupTableInsertV2", nil, o.handle(s), ops.ConstOf(s, tensor.Int64, key), sine(s, x))
	case "find":
		x = mix(o.find(s, key))
	case "size":
		x = mix(ops.Mul(s, o.size(s), 0.125))
	case "remove":
		s.Emit0("LookupTableRemoveV2", nil, o.handle(s), ops.ConstOf(s, tensor.Int64, []int{key}))
	case "push":
		list = push(s, list, sine(s, x))
	case "pop": // the initial and pushed elements are never all removed
		out := s.EmitN(2, "TensorListPopBack", graph.Attrs{graph.Type("element_dtype", tensor.Float64)}, list, ops.ConstOf(s, tensor.Int32, []int{}))
		x, list = mix(out[1]), push(s, push(s, out[0], sine(s, x)), out[1])
	case "set":
		list = s.Emit1("TensorListSetItem", nil, list, ops.ConstOf(s, tensor.Int32, 0), sine(s, x))
	case "if":
		return ops.If(s, ops.Greater(s, x, ops.Add(s, number(st.pick%7), 0.013)),
			func(s *ops.Scope) []V { return o.run(s, st.blocks[0], []V{x, list}) },
			func(s *ops.Scope) []V { return o.run(s, st.blocks[1], []V{x, list}) })
	case "case":
		branch := func(i int) func(s *ops.Scope) []V {
			return func(s *ops.Scope) []V { return o.run(s, st.blocks[i], []V{x, list}) }
		}
		return ops.Case(s, ops.Cast(s, ops.Mul(s, x, 1.987), tensor.Int32), branch(0), branch(1), branch(2))
	case "while":
		out := ops.While(s, []V{ops.Const(s, int32(0)), x, list},
			func(s *ops.Scope, v []V) V {
				if st.pick%3 == 0 { // a condition that writes
					ops.AssignAdd(s, o.vars[0], ops.Mul(s, sine(s, v[1]), 0.25))
				}
				return ops.Less(s, v[0], int32(st.pick%4))
			},
			func(s *ops.Scope, v []V) []V {
				in := o.run(s, st.blocks[0], v[1:])
				return append([]V{ops.Add(s, v[0], int32(1))}, in...)
			})
		return out[1:]
	case "call":
		return o.call(s, st, []V{x, list})
	case "unused": // its result is unused, its effect isn't
		o.call(s, st, []V{x, list})
	}
	return []V{x, list}
}

func sine(s *ops.Scope, x *ops.Value) *ops.Value { return ops.Sin(s, x) }

func (o *Outside) call(s *ops.Scope, st *step, state []*ops.Value) []*ops.Value {
	f := o.calls[st]
	if f == nil {
		f = function.New(func(s *ops.Scope, in []*ops.Value) []*ops.Value { return o.run(s, st.blocks[0], in) })
		o.calls[st] = f
	}
	return f.Apply(s, state)
}
