package keras

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairnml/cairn/bundle"
	"github.com/cairnml/cairn/checkpoint"
	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/grad"
	"github.com/cairnml/cairn/internal/pb"
	"github.com/cairnml/cairn/keras/activations"
	"github.com/cairnml/cairn/keras/internal/optimizertest"
	"github.com/cairnml/cairn/keras/layers"
	"github.com/cairnml/cairn/keras/optimizers"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
	"github.com/cairnml/cairn/vfs"
)

// Net is the guide's model.
type Net struct {
	Model
	L1 *layers.Dense
}

func (n *Net) Call(s *ops.Scope, x ops.Input) *ops.Value { return n.L1.Call(s, x) }

type training struct {
	Step      *trackable.Scalar[int32]
	Optimizer optimizers.Optimizer
	Net       *Net
}

func newTraining(o optimizers.Optimizer) *training {
	return &training{trackable.NewScalar[int32](1), o, &Net{L1: &layers.Dense{Units: 5}}}
}

// toy returns the guide's data.
func toy() (x, y *tensor.Tensor) {
	a, b := make([]float32, 10), make([]float32, 50)
	for i := range a {
		a[i] = float32(i)
		for j := range 5 {
			b[5*i+j] = 5*a[i] + float32(j)
		}
	}
	return mat(10, 1, a...), mat(10, 5, b...)
}

// train takes a step on the mean absolute error.
func train(t testing.TB, model Callable, o optimizers.Optimizer, x, y *tensor.Tensor) float32 {
	t.Helper()
	f := function.New(func(s *ops.Scope, _ struct{}) *ops.Value {
		s = s.WithTraining(true)
		loss, tape := grad.Of(s, func(s *ops.Scope) *ops.Value {
			return ops.Mean(s, ops.Abs(s, ops.Sub(s, model.Call(s, x), y)))
		})
		o.Apply(s, tape.Gradient(loss, Trainable(model)))
		return loss
	})
	v, err := f.Call(context.Background(), struct{}{})
	must(t, err)
	l, err := ops.Item[float32](v)
	must(t, err)
	return l
}

// listing saves root and describes the object graph as gen_keras.py does.
func listing(t testing.TB, root any) []string {
	t.Helper()
	ctx := context.Background()
	ck, err := checkpoint.New(root, nil)
	must(t, err)
	dir := vfs.MemDir()
	path, err := ck.SaveTo(ctx, dir, "ckpt")
	must(t, err)
	r, err := bundle.Open(ctx, dir, path, nil)
	must(t, err)
	defer r.Close()
	raw, err := r.Read(ctx, trackable.ObjectGraphKey)
	must(t, err)
	text, err := tensor.Item[string](raw)
	must(t, err)
	var g pb.TrackableObjectGraph
	must(t, g.Unmarshal([]byte(text)))
	var out []string
	for i, n := range g.Nodes {
		head := fmt.Sprint(i)
		if n.HasCheckpointValues == nil || !n.HasCheckpointValues.Value {
			head += " no values"
		}
		out = append(out, head)
		for _, c := range n.Children {
			out = append(out, fmt.Sprintf("  %s -> %d", c.LocalName, c.NodeId))
		}
		for _, a := range n.Attributes {
			e, ok := r.Entry(a.CheckpointKey)
			if !ok {
				t.Errorf("no value at %s", a.CheckpointKey)
			}
			out = append(out, fmt.Sprintf("  %s %s %s %v%v", a.Name, a.FullName, a.CheckpointKey, e.DType, e.Shape))
		}
		for _, s := range n.SlotVariables {
			out = append(out, fmt.Sprintf("  slot %s of %d -> %d", s.SlotName, s.OriginalVariableNodeId, s.SlotVariableNodeId))
		}
	}
	return out
}

// sections cuts listings.txt at its headings.
func sections(t testing.TB) map[string][]string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(fixtures, "listings.txt"))
	must(t, err)
	all := map[string][]string{}
	name := ""
	for line := range strings.Lines(string(b)) {
		line = strings.TrimSuffix(line, "\n")
		if h, ok := strings.CutPrefix(line, "# "); ok {
			name = h
			continue
		}
		all[name] = append(all[name], line)
	}
	return all
}

// TestOptimizersLieInTheObjectGraphAsInTensorFlow compares the whole object
// graph: nodes, edges, slots, keys, full names, types, shapes, which nodes have
// values, and the order of it all.
func TestOptimizersLieInTheObjectGraphAsInTensorFlow(t *testing.T) {
	want := sections(t)
	x, y := toy()
	for name, mk := range optimizertest.Makes {
		for _, steps := range []int{0, 2} {
			key := fmt.Sprintf("optimizer %s after %d steps", name, steps)
			t.Run(key, func(t *testing.T) {
				tr := newTraining(mk())
				tr.Net.Call(scope(t), x)
				for range steps {
					train(t, tr.Net, tr.Optimizer, x, y)
				}
				if diff := cmp.Diff(want[key], listing(t, tr)); diff != "" {
					t.Errorf("object graph (-TensorFlow +Cairn):\n%s", diff)
				}
			})
		}
	}
}

type Deep struct {
	Model
	Flat   *layers.Flatten
	Hidden []*layers.Dense
	Drop   *layers.Dropout
	Heads  map[string]*layers.Dense
	Scale  *trackable.Variable
	Last   *layers.Dense
}

func (d *Deep) Call(s *ops.Scope, x ops.Input) *ops.Value {
	v := d.Flat.Call(s, x)
	for _, h := range d.Hidden {
		v = h.Call(s, v)
	}
	v = d.Drop.Call(s, v)
	return ops.Mul(s, d.Last.Call(s, ops.Add(s, d.Heads["a"].Call(s, v), d.Heads["b"].Call(s, v))), d.Scale)
}

type Own struct {
	Model
	Flat   *layers.Flatten
	Affine *Affine
	Seq    *Sequential
}

func (o *Own) Call(s *ops.Scope, x ops.Input) *ops.Value {
	return o.Seq.Call(s, o.Affine.Call(s, o.Flat.Call(s, x)))
}

type plain struct{ D1, D2 *layers.Dense }

func (p *plain) Call(s *ops.Scope, x ops.Input) *ops.Value {
	return p.D2.Call(s, p.D1.Call(s, ops.Reshape(s, x, 2, 4)))
}

type Block struct {
	Model
	D, E *layers.Dense
}

func (b *Block) Call(s *ops.Scope, x ops.Input) *ops.Value { return b.E.Call(s, b.D.Call(s, x)) }

type TopNet struct {
	Model
	F      *layers.Flatten
	B1, B2 *Block
}

func (n *TopNet) Call(s *ops.Scope, x ops.Input) *ops.Value {
	return n.B2.Call(s, n.B1.Call(s, n.F.Call(s, x)))
}

func dense(units int) *layers.Dense { return &layers.Dense{Units: units} }

var makeModels = map[string]func() Callable{
	"sequential": func() Callable {
		return NewSequential(&layers.Flatten{}, &layers.Dense{Units: 4, Activation: activations.Relu}, &layers.Dropout{Rate: 0.5}, dense(3))
	},
	"functional": func() Callable {
		s := Symbolic(context.Background())
		x := Input(s, tensor.Shape{4}, nil)
		h := (&layers.Dense{Units: 4, Activation: activations.Relu}).Call(s, (&layers.Flatten{}).Call(s, x))
		m, err := NewModel(x, dense(3).Call(s, (&layers.Dropout{Rate: 0.5}).Call(s, h)), nil)
		if err != nil {
			panic(err)
		}
		return m
	},
	"deep": func() Callable {
		return &Deep{
			Flat: &layers.Flatten{}, Hidden: []*layers.Dense{dense(4), dense(4)}, Drop: &layers.Dropout{Rate: 0.5},
			Heads: map[string]*layers.Dense{"a": dense(3), "b": dense(3)},
			Scale: trackable.NewVariable(tensor.Scalar[float32](2)).Named("scale"),
			Last:  Named("final", &layers.Dense{Units: 3, NoBias: true}),
		}
	},
	"own": func() Callable {
		o := &Own{Flat: &layers.Flatten{}, Affine: &Affine{Units: 3, Inner: dense(2)}, Seq: NewSequential(dense(3), dense(3))}
		o.SetName("own_model")
		return o
	},
	"plain": func() Callable { return &plain{dense(4), dense(3)} },
	"nested": func() Callable {
		return &TopNet{F: &layers.Flatten{}, B1: &Block{D: dense(3), E: dense(3)}, B2: &Block{D: dense(3), E: dense(3)}}
	},
}

// TestModelsLieInTheObjectGraphAsInTensorFlow compares models of every kind
// after a step, and the order of their variables.
func TestModelsLieInTheObjectGraphAsInTensorFlow(t *testing.T) {
	want := sections(t)
	x := tensor.Must(tensor.New([]float32{0, 1, 2, 3, 4, 5, 6, 7}, 2, 2, 2))
	y := mat(2, 3, 1, 1, 1, 1, 1, 1)
	for name, mk := range makeModels {
		t.Run(name, func(t *testing.T) {
			w := want["model "+name]
			if len(w) < 2 {
				t.Fatal("not in listings.txt")
			}
			model, o := mk(), optimizers.NewAdam(0.1)
			train(t, model, o, x, y)
			root := &struct {
				Optimizer *optimizers.Adam
				Net       Callable
			}{o, model}
			got := listing(t, root)
			g, err := trackable.Walk(root, &trackable.WalkOptions{SortRoot: true})
			must(t, err)
			for _, part := range []struct {
				word string
				vars []*trackable.Variable
			}{{"trainable", Trainable(model)}, {"variables", Variables(model)}} {
				line := part.word
				for _, v := range part.vars {
					id, _ := g.ID(v)
					line += " " + g.Nodes[id].FullName
				}
				got = append(got, line)
			}
			if diff := cmp.Diff(w, got); diff != "" {
				t.Errorf("object graph and orders (-TensorFlow +Cairn):\n%s", diff)
			}
		})
	}
}

// TestVariablesOfAMapComeByKey: a map keeps the order of insertion in files and
// names, but its variables are listed by sorted keys, as in Keras.
func TestVariablesOfAMapComeByKey(t *testing.T) {
	type heads struct {
		Model
		Heads *trackable.Map[*layers.Dense]
	}
	m := &heads{Heads: trackable.NewMap[*layers.Dense]()}
	for _, key := range []string{"b", "a"} {
		d := &layers.Dense{Units: 1, NoBias: true}
		must(t, m.Heads.Set(key, d))
		d.Call(scope(t), mat(1, 1, 1))
	}
	b, _ := m.Heads.Get("b")
	a, _ := m.Heads.Get("a")
	if diff := cmp.Diff([]string{name(t, m, a.Kernel), name(t, m, b.Kernel)}, []string{"heads/dense_1/kernel", "heads/dense/kernel"}); diff != "" {
		t.Errorf("full names (-want +got):\n%s", diff)
	}
	if got := Trainable(m); len(got) != 2 || got[0] != a.Kernel || got[1] != b.Kernel {
		t.Errorf("Trainable doesn't go by sorted keys")
	}
	if got := Trainable(nil); got != nil {
		t.Errorf("Trainable(nil) is %v", got)
	}
}

func name(t *testing.T, root any, v *trackable.Variable) string {
	t.Helper()
	g, err := trackable.Walk(root, nil)
	must(t, err)
	id, ok := g.ID(v)
	if !ok {
		t.Fatal("the variable isn't in the graph")
	}
	return g.Nodes[id].FullName
}
