package passes_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/engine/internal/enginetest"
	"github.com/cairnml/cairn/engine/passes"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/kernel"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// held is a variable of a function that is being written, with the nodes that the
// next ones wait for.
type held struct {
	handle graph.Output
	write  *graph.Node
	reads  []*graph.Node
}

// stepper writes functions that change variables, in order as TensorFlow's
// functions have it.
type stepper struct {
	*network
	vars []*held
	d    tensor.DType
}

func newStepper(t testing.TB, r *rand.Rand, d tensor.DType, variables int, dims ...int) *stepper {
	s := &stepper{network: &network{Builder: enginetest.Build(t, "step"), r: r}, d: d}
	for range variables {
		h, err := s.F.AddArg("", graph.Fact{DType: tensor.Resource, Handle: []graph.Content{{DType: d, Shape: graph.ShapeOf(dims...)}}})
		if err != nil {
			t.Fatal(err)
		}
		s.vars = append(s.vars, &held{handle: h})
	}
	return s
}

func (s *stepper) input(dims ...int) graph.Output {
	o, err := s.F.AddArg("", graph.Fact{DType: s.d, Shape: graph.ShapeOf(dims...)})
	if err != nil {
		s.T.Fatal(err)
	}
	return o
}

func (s *stepper) read(v *held) graph.Output {
	n := s.inferred("ReadVariableOp", graph.Attrs{graph.Type("dtype", s.d)}, v.handle)
	if v.write != nil {
		n.Control = []*graph.Node{v.write}
	}
	v.reads = append(v.reads, n)
	return n.Output(0)
}

func (s *stepper) change(op string, v *held, x graph.Output) {
	n := s.Node(op, graph.Attrs{graph.Type("dtype", s.d)}, v.handle, x)
	n.Control = v.reads
	if v.write != nil {
		n.Control = append(n.Control, v.write)
	}
	v.write, v.reads = n, nil
}

// done returns the function; all changes happen.
func (s *stepper) done(results ...graph.Output) *graph.Function {
	for _, v := range s.vars {
		if v.write != nil {
			s.F.Control = append(s.F.Control, graph.ControlResult{Name: v.write.Name, Node: v.write})
		}
	}
	return s.Return(results...)
}

// randomStep returns a function that changes three variables of one shape at
// random, with values of other shapes between.
func randomStep(t testing.TB, r *rand.Rand, d tensor.DType, dims []int) *graph.Function {
	s := newStepper(t, r, d, 3, dims...)
	values := []graph.Output{s.input(dims...), s.input(dims[len(dims)-1])}
	some := []string{"AddV2", "Sub", "Mul", "Maximum", "Square", "Abs", "SquaredDifference"}
	var results []graph.Output
	for range 4 + r.IntN(24) {
		v := s.vars[r.IntN(len(s.vars))]
		pick := func() graph.Output {
			if r.IntN(3) > 0 {
				return values[len(values)-1]
			}
			return values[r.IntN(len(values))]
		}
		full := func() graph.Output {
			for {
				if x := values[r.IntN(len(values))]; x.Fact().Shape.Rank() == len(dims) {
					return x
				}
			}
		}
		switch r.IntN(8) {
		case 0, 1:
			values = append(values, s.read(v))
		case 2:
			s.change("AssignAddVariableOp", v, full())
		case 3:
			s.change("AssignSubVariableOp", v, full())
		case 4:
			if r.IntN(3) == 0 { // leaves the shape
				axes := make([]int32, len(dims))
				for i := range axes {
					axes[i] = int32(i)
				}
				values = append(values, s.do("Mean", pick(), s.Value(tensor.Vector(axes[:1]...))))
				break
			}
			fallthrough
		default:
			op := some[r.IntN(len(some))]
			x := pick()
			if op == "Square" || op == "Abs" {
				values = append(values, s.do(op, x))
			} else if y := full(); r.IntN(2) == 0 {
				values = append(values, s.do(op, x, y))
			} else {
				values = append(values, s.do(op, y, x))
			}
		}
		if r.IntN(12) == 0 {
			results = append(results, values[len(values)-1])
		}
	}
	return s.done(append(results, s.read(s.vars[0]))...)
}

// outcome executes a function twice on new variables and returns its results
// and the final values of the variables.
func outcome(t *testing.T, f *graph.Function, d tensor.DType, seed uint64, o *engine.CompileOptions) (all []engine.Value, p *engine.Plan) {
	t.Helper()
	p, err := engine.Compile(f, o)
	if err != nil {
		t.Fatalf("%v\n%v", err, f)
	}
	r := rand.New(rand.NewPCG(seed, 8))
	var args []engine.Value
	var vars []*trackable.Variable
	for _, a := range f.Args {
		shape := a.Out[0].Shape
		if a.Out[0].DType == tensor.Resource {
			shape = a.Out[0].Handle[0].Shape
		}
		dims, _ := shape.Tensor()
		v := enginetest.Floats(r, dims...)
		if seed%2 == 0 {
			v = sprinkled(r, specials[seed/2%uint64(len(specials))], dims...)
		}
		x := tensor.Must(tensor.Cast(v.Tensor, d))
		if a.Out[0].DType != tensor.Resource {
			args = append(args, engine.ValueOf(x))
			continue
		}
		vars = append(vars, trackable.NewVariable(x))
		args = append(args, engine.HandleOf(vars[len(vars)-1]))
	}
	first := slices.Clone(vars[0].Load().Bytes())
	before := vars[0].Load()
	for range 2 {
		all = append(all, enginetest.Run(t, p, nil, args...)...)
	}
	if !slices.Equal(before.Bytes(), first) {
		t.Error("a value that was loaded before a step changes by it")
	}
	for _, v := range vars {
		all = append(all, engine.ValueOf(v.Load()))
	}
	return all, p
}

func TestUpdatesHaveTheBitsOfTheirOps(t *testing.T) {
	fused := 0
	for seed := range uint64(120) {
		r := rand.New(rand.NewPCG(seed, 4))
		dims := [][]int{{4, 7}, {3, 1500}, {2500, 3}, {1, 1}, {64, 2100}}[seed%5]
		d := tensor.Float32
		if seed%4 == 3 {
			d = tensor.Float64
		}
		f := randomStep(t, r, d, dims)
		want, _ := outcome(t, f, d, seed, &engine.CompileOptions{Kernels: kernel.All(), Passes: passes.Without(passes.Default(), "variable updates", "elementwise chains")})
		set, count := kernels(t)
		got, _ := outcome(t, f, d, seed, &engine.CompileOptions{Kernels: set})
		sameNumbers(t, f.String(), got, want)
		if count[passes.UpdateOp] > 0 {
			fused++
		}
	}
	if fused < 60 {
		t.Errorf("only %d of 120 functions have updates", fused)
	}
}

// An optimizer's step becomes one op for each variable. A value that another
// node uses stays, and so do changes of other shapes.
func TestWhatUpdatesAreMadeOf(t *testing.T) {
	for _, c := range []struct {
		name  string
		write func(s *stepper) []graph.Output
		want  map[string]int
	}{
		{"momentum", func(s *stepper) []graph.Output {
			g, v, m := s.input(3, 4), s.vars[0], s.vars[1]
			s.change("AssignAddVariableOp", m, s.do("Sub", g, s.read(m)))
			s.change("AssignSubVariableOp", v, s.do("Mul", s.read(m), s.input()))
			return nil
		}, map[string]int{passes.UpdateOp: 1, "AssignAddVariableOp": 0, "AssignSubVariableOp": 0, "ReadVariableOp": 0, "Mul": 0, "Sub": 0}},
		{"the moment is read by others too", func(s *stepper) []graph.Output {
			g, v, m := s.input(3, 4), s.vars[0], s.vars[1]
			s.change("AssignAddVariableOp", m, s.do("Sub", g, s.read(m)))
			x := s.read(m)
			s.change("AssignSubVariableOp", v, s.do("Mul", x, s.input()))
			return []graph.Output{x}
		}, map[string]int{passes.UpdateOp: 2, "ReadVariableOp": 1}},
		{"a sum comes between", func(s *stepper) []graph.Output {
			g, v, m := s.input(3, 4), s.vars[0], s.vars[1]
			s.change("AssignAddVariableOp", m, s.do("Sub", g, s.read(m)))
			sum := s.do("Sum", s.read(m), s.Value(tensor.Vector[int32](0, 1)))
			s.change("AssignSubVariableOp", v, s.do("Mul", s.read(m), sum))
			return nil
		}, map[string]int{"AssignSubVariableOp": 1, "Sum": 1}},
		{"a change alone", func(s *stepper) []graph.Output {
			s.change("AssignAddVariableOp", s.vars[0], s.input(3, 4))
			return nil
		}, map[string]int{passes.UpdateOp: 0, "AssignAddVariableOp": 1}},
		{"changes one after the other", func(s *stepper) []graph.Output {
			v, x := s.vars[0], s.input(3, 4)
			s.change("AssignAddVariableOp", v, s.do("Square", x))
			s.change("AssignAddVariableOp", v, s.do("Abs", s.read(v)))
			return nil
		}, map[string]int{passes.UpdateOp: 2}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newStepper(t, rand.New(rand.NewPCG(1, 1)), tensor.Float32, 2, 3, 4)
			f := s.done(c.write(s)...)
			want, _ := outcome(t, f, tensor.Float32, 1, &engine.CompileOptions{Kernels: kernel.All(), Passes: []passes.Pass{}})
			set, count := kernels(t)
			got, _ := outcome(t, f, tensor.Float32, 1, &engine.CompileOptions{Kernels: set})
			sameNumbers(t, f.String(), got, want)
			for op, n := range c.want {
				if count[op] != n {
					t.Errorf("%d × %s, want %d", count[op], op, n)
				}
			}
		})
	}
}

// Two handles may be one variable's: then the changes follow each other.
func TestUpdatesOfOneVariableUnderTwoHandles(t *testing.T) {
	s := newStepper(t, rand.New(rand.NewPCG(1, 1)), tensor.Float32, 2, 3)
	s.change("AssignAddVariableOp", s.vars[1], s.do("Square", s.input(3)))
	s.change("AssignAddVariableOp", s.vars[0], s.do("Abs", s.read(s.vars[1])))
	v := trackable.NewVariable(tensor.Vector[float32](1, -2, 3))
	enginetest.Run(t, plan(t, s.done()), nil, engine.HandleOf(v), engine.HandleOf(v), engine.ValueOf(tensor.Vector[float32](1, 1, 2)))
	if got := tensor.Values[float32](v.Load()); !slices.Equal(got, []float32{4, 0, 14}) {
		t.Errorf("the variable holds %v, want [4 0 14]", got)
	}
}
