package keras

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairnml/cairn/bundle"
	"github.com/cairnml/cairn/checkpoint"
	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/grad"
	"github.com/cairnml/cairn/keras/initializers"
	"github.com/cairnml/cairn/keras/layers"
	"github.com/cairnml/cairn/keras/optimizers"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
	"github.com/cairnml/cairn/vfs"
)

// A mode is a way to run a program's functions. The programs below are written
// once and run in every mode.
type mode struct {
	name string
	// compile makes f callable from outside.
	compile func(f func(*ops.Scope, *ops.Value) *ops.Value) func(context.Context, *ops.Value) (*ops.Value, error)
}

var modes = []mode{
	{"eager", func(f func(*ops.Scope, *ops.Value) *ops.Value) func(context.Context, *ops.Value) (*ops.Value, error) {
		return function.New(f).Call
	}},
	{"traced", func(f func(*ops.Scope, *ops.Value) *ops.Value) func(context.Context, *ops.Value) (*ops.Value, error) {
		return function.New(f, &function.Options{Mode: function.Traced}).Call
	}},
}

func inEveryMode(t *testing.T, program func(t *testing.T, m mode)) {
	for _, m := range modes {
		t.Run(m.name, func(t *testing.T) { program(t, m) })
	}
}

// places is a model with every kind of place that a layer can be put into.
type places struct {
	Model
	Field *layers.Dense
	Any   any
	Slice []*layers.Dense
	Named map[string]*layers.Dense
	List  *trackable.List[*layers.Dense]
	Map   *trackable.Map[*layers.Dense]
}

func (p *places) Call(s *ops.Scope, x ops.Input) *ops.Value {
	v := ops.Const(s, x)
	apply := func(l *layers.Dense) {
		if l != nil {
			v = l.Call(s, v)
		}
	}
	apply(p.Field)
	if l, ok := p.Any.(*layers.Dense); ok {
		apply(l)
	}
	for _, l := range p.Slice {
		apply(l)
	}
	apply(p.Named["a"])
	if p.List != nil {
		for _, l := range p.List.All() {
			apply(l)
		}
	}
	if p.Map != nil {
		for _, l := range p.Map.All() {
			apply(l)
		}
	}
	return v
}

// fills puts a layer into a place, each in its own way.
var fills = map[string]func(p *places) error{
	"field":     func(p *places) error { p.Field = dense(3); return nil },
	"interface": func(p *places) error { p.Any = dense(3); return nil },
	"slice":     func(p *places) error { p.Slice = append(p.Slice, dense(3)); return nil },
	"map":       func(p *places) error { p.Named = map[string]*layers.Dense{"a": dense(3)}; return nil },
	"List":      func(p *places) error { p.List = trackable.NewList(dense(3)); return nil },
	"List appended": func(p *places) error {
		p.List = trackable.NewList[*layers.Dense]()
		return p.List.Append(dense(3))
	},
	"Map": func(p *places) error {
		p.Map = trackable.NewMap[*layers.Dense]()
		return p.Map.Set("a", dense(3))
	},
}

// run is a training run over a model with late layers.
type run struct {
	t         *testing.T
	Step      *trackable.Scalar[int64]
	Optimizer *optimizers.Adam
	Net       *places

	ck   *checkpoint.Checkpoint                                `cairn:"-"`
	step func(context.Context, *ops.Value) (*ops.Value, error) `cairn:"-"`
	out  func(context.Context, *ops.Value) (*ops.Value, error) `cairn:"-"`
}

func newRun(t *testing.T, m mode) *run {
	r := &run{t: t, Step: trackable.NewScalar[int64](0), Optimizer: optimizers.NewAdam(0.1), Net: new(places)}
	var err error
	r.ck, err = checkpoint.New(r, nil)
	must(t, err)
	r.out = m.compile(func(s *ops.Scope, x *ops.Value) *ops.Value { return r.Net.Call(s, x) })
	r.step = m.compile(func(s *ops.Scope, x *ops.Value) *ops.Value {
		rec, tape := grad.Record(s)
		loss := ops.Mean(rec, ops.Abs(rec, ops.Sub(rec, r.Net.Call(rec, x), 1)))
		r.Optimizer.Apply(s, tape.Gradient(loss, Trainable(r.Net)))
		return loss
	})
	return r
}

var batchOf2 = ops.ValueOf(mat(2, 3, 1, 2, 3, 4, 5, 6))

func (r *run) train(steps int) {
	r.t.Helper()
	for range steps {
		_, err := r.step(context.Background(), batchOf2)
		must(r.t, err)
		r.Step.Add(1)
	}
}

func (r *run) restore(dir *vfs.Mem, o *checkpoint.RestoreOptions) *checkpoint.Report {
	r.t.Helper()
	report, err := r.ck.RestoreFS(context.Background(), dir, "ckpt-1", o)
	must(r.t, err)
	return report
}

func (r *run) save() *vfs.Mem {
	r.t.Helper()
	dir := vfs.MemDir()
	r.ck.SaveCounter().Set(0)
	_, err := r.ck.SaveTo(context.Background(), dir, "ckpt")
	must(r.t, err)
	return dir
}

// contents returns the values of a checkpoint by key.
func contents(t *testing.T, dir *vfs.Mem) map[string][]float64 {
	t.Helper()
	r, err := bundle.Open(context.Background(), dir, "ckpt-1", nil)
	must(t, err)
	out := map[string][]float64{}
	for _, name := range r.Names() {
		if name != trackable.ObjectGraphKey {
			x, err := r.Read(context.Background(), name)
			must(t, err)
			out[name] = floats(t, x)
		}
	}
	return out
}

// TestLayersThatComeAfterTheRestoreGoOn checks that a layer that is added after
// the restore trains on from the checkpoint's value. The next checkpoint equals
// that of a run whose layer existed before.
func TestLayersThatComeAfterTheRestoreGoOn(t *testing.T) {
	inEveryMode(t, func(t *testing.T, m mode) {
		for place, fill := range fills {
			t.Run(place, func(t *testing.T) {
				first := newRun(t, m)
				must(t, fill(first.Net))
				first.train(3)
				old := first.save()

				before := newRun(t, m)
				must(t, fill(before.Net))
				before.restore(old, nil)
				before.train(7)

				after := newRun(t, m)
				report := after.restore(old, nil)
				must(t, fill(after.Net))
				after.train(7)
				if d := cmp.Diff(contents(t, before.save()), contents(t, after.save())); d != "" {
					t.Errorf("what is saved (-layer before the restore +after):\n%s", d)
				}
				must(t, report.AssertConsumed())
			})
		}
	})
}

// TestOrdersOfRestoringAndTraining: whatever the order of the calls, training is
// never overwritten, and a value of the file never gets lost without an error.
func TestOrdersOfRestoringAndTraining(t *testing.T) {
	ctx := context.Background()
	inEveryMode(t, func(t *testing.T, m mode) {
		first := newRun(t, m)
		must(t, fills["field"](first.Net))
		first.train(3)
		old := first.save()
		first.train(2)
		newer := first.save()
		kernel := func(dir *vfs.Mem) []float64 {
			return contents(t, dir)["net/field/kernel/.ATTRIBUTES/VARIABLE_VALUE"]
		}
		now := func(r *run) []float64 { return floats(t, r.Net.Field.Kernel.Load()) }
		same := func(t *testing.T, what string, got, want []float64) {
			t.Helper()
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("%s (-want +got):\n%s", what, d)
			}
		}
		saveFails := func(t *testing.T, r *run, want any) {
			t.Helper()
			if err := r.ck.WriteTo(ctx, vfs.MemDir(), "x"); err == nil || !errors.As(err, want) {
				t.Errorf("save: %v, want a %T", err, want)
			}
		}
		infer := func(r *run) error { _, err := r.out(ctx, batchOf2); return err }

		t.Run("restored twice, then filled", func(t *testing.T) {
			r := newRun(t, m)
			r.restore(old, nil)
			r.restore(newer, nil)
			must(t, fills["field"](r.Net))
			must(t, infer(r))
			same(t, "kernel", now(r), kernel(newer))
			r.train(1)
			r.save()
		})
		t.Run("two pending, the older one for more", func(t *testing.T) {
			r := newRun(t, m)
			r.restore(old, nil)
			other := newRun(t, m) // saved before anything was built
			report := r.restore(other.save(), nil)
			if len(report.Deferred) > 0 {
				t.Errorf("deferred %v", report.Deferred)
			}
			saveFails(t, r, new(*checkpoint.PendingError)) // of the first restore
			must(t, fills["field"](r.Net))
			must(t, infer(r))
			same(t, "kernel", now(r), kernel(old))
		})
		t.Run("built and trained before the restore", func(t *testing.T) {
			r := newRun(t, m)
			must(t, fills["field"](r.Net))
			r.train(2)
			r.restore(old, nil)
			same(t, "kernel", now(r), kernel(old))
			r.train(1)
			r.restore(newer, nil)
			same(t, "kernel", now(r), kernel(newer))
		})
		t.Run("trained outside before it is put into place", func(t *testing.T) {
			r := newRun(t, m)
			report := r.restore(old, nil)
			other := newRun(t, m)
			must(t, fills["field"](other.Net))
			other.train(1)
			r.Net.Field = other.Net.Field
			trained := now(r)
			var written *checkpoint.WrittenError
			for range 2 {
				if err := infer(r); !errors.As(err, &written) || !strings.Contains(err.Error(), "net.field.kernel") {
					t.Errorf("call: %v, want a WrittenError about net.field.kernel", err)
				}
				saveFails(t, r, &written)
			}
			same(t, "kernel", now(r), trained)
			report.ExpectPartial()
			must(t, infer(r))
			same(t, "kernel", now(r), trained)
			r.save()
		})
		t.Run("put into place inside the call", func(t *testing.T) {
			r := newRun(t, m)
			r.restore(old, nil)
			lazy := m.compile(func(s *ops.Scope, x *ops.Value) *ops.Value {
				if r.Net.Field == nil {
					r.Net.Field = dense(3)
				}
				return r.Net.Call(s, x)
			})
			var written *checkpoint.WrittenError
			if _, err := lazy(ctx, batchOf2); !errors.As(err, &written) || !written.InStep {
				t.Errorf("the call that made it: %v, want a WrittenError", err)
			}
			_, err := lazy(ctx, batchOf2) // nothing was written, so the value can still come
			must(t, err)
			same(t, "kernel", now(r), kernel(old))
		})
		t.Run("replaced after the restore", func(t *testing.T) {
			r := newRun(t, m)
			must(t, fills["field"](r.Net))
			report := r.restore(old, nil)
			r.train(1)
			r.Net.Field = dense(3)
			var unfilled *checkpoint.UnfilledError
			if err := infer(r); !errors.As(err, &unfilled) || !strings.Contains(err.Error(), "net.field.kernel") {
				t.Errorf("call: %v, want an UnfilledError about net.field.kernel", err)
			}
			saveFails(t, r, &unfilled)
			report.AllowMissing()
			must(t, infer(r))
		})
		t.Run("a layer that the checkpoint doesn't have", func(t *testing.T) {
			for place := range fills {
				if place == "field" {
					continue
				}
				r := newRun(t, m)
				must(t, fills["field"](r.Net))
				r.restore(old, nil)
				err := fills[place](r.Net)
				if err == nil {
					err = infer(r)
				}
				var unfilled *checkpoint.UnfilledError
				if !errors.As(err, &unfilled) || !strings.Contains(err.Error(), "AllowMissing") {
					t.Errorf("%s: %v, want an UnfilledError", place, err)
				}
				r = newRun(t, m)
				must(t, fills["field"](r.Net))
				r.restore(old, &checkpoint.RestoreOptions{AllowMissing: true})
				must(t, fills[place](r.Net))
				r.train(1)
				r.save()
			}
		})
		t.Run("saved before it is built", func(t *testing.T) {
			r := newRun(t, m)
			r.Net.Field = dense(3)
			empty := r.save()
			r = newRun(t, m)
			r.Net.Field = dense(3)
			_, err := r.ck.RestoreFS(ctx, empty, "ckpt-1", nil)
			var refused *checkpoint.RestoreError
			if !errors.As(err, &refused) || len(refused.Missing) != 2 || refused.Missing[0].Path != "net.field.kernel" {
				t.Errorf("restore: %v, want kernel and bias missing", err)
			}
			r.restore(empty, &checkpoint.RestoreOptions{AllowMissing: true})
			r.train(1) // the optimizer begins anew too
			r.save()
		})
		t.Run("an optimizer saved before its first step", func(t *testing.T) {
			r := newRun(t, m)
			must(t, fills["field"](r.Net))
			must(t, infer(r))
			built := r.save()
			for _, late := range []bool{true, false} {
				r = newRun(t, m)
				if !late {
					must(t, fills["field"](r.Net))
				}
				r.restore(built, nil)
				if late {
					must(t, fills["field"](r.Net))
				}
				r.train(2)
				r.save()
			}
		})
		t.Run("partly: what is deferred needn't come", func(t *testing.T) {
			r := newRun(t, m)
			r.restore(old, &checkpoint.RestoreOptions{Partial: true})
			r.save()
			must(t, fills["field"](r.Net))
			must(t, infer(r))
			same(t, "kernel", now(r), kernel(old))
		})
		t.Run("of another size", func(t *testing.T) {
			r := newRun(t, m)
			r.restore(old, nil)
			r.Net.Field = dense(4)
			err := infer(r)
			if err == nil || !strings.Contains(err.Error(), "net.field.kernel") || !strings.Contains(err.Error(), "ckpt-1") || !strings.Contains(err.Error(), "[3,3]") {
				t.Errorf("call: %v, want layer, checkpoint and shapes", err)
			}
			saveFails(t, r, new(*checkpoint.RestoreError))
		})
		t.Run("the same layer on two paths", func(t *testing.T) {
			r := newRun(t, m)
			r.restore(old, nil)
			r.Net.Any = dense(3)
			r.Net.Field = r.Net.Any.(*layers.Dense)
			must(t, infer(r))
			same(t, "kernel", now(r), kernel(old))
			r.train(1)
			r.save()
		})
	})
}

// TestNoInferenceOnWeightsThatAStrictRestoreDidNotFill: a checkpoint that the
// model's layers can't take is refused, by the restore or by the first call.
func TestNoInferenceOnWeightsThatAStrictRestoreDidNotFill(t *testing.T) {
	ctx := context.Background()
	type renamed struct {
		Model
		Layer1 *layers.Dense
	}
	type renamedLate struct {
		trackable.Base
		Layer1 *layers.Dense
	}
	type custom struct {
		Model
		Layer1 *Affine
	}
	saved := func(t *testing.T, root Callable) *vfs.Mem {
		root.Call(scope(t), mat(2, 3, 1, 2, 3, 4, 5, 6))
		ck, err := checkpoint.New(root, nil)
		must(t, err)
		dir := vfs.MemDir()
		must(t, ck.WriteTo(ctx, dir, "ckpt"))
		return dir
	}
	inEveryMode(t, func(t *testing.T, m mode) {
		net := saved(t, &Net{L1: dense(2)})
		cnn := saved(t, NewSequential(&kernel3{}, new(layers.Flatten), dense(2)))
		type program struct {
			file *vfs.Mem
			root any
			call func(s *ops.Scope, x *ops.Value) *ops.Value
			want []string // words of the error
		}
		for name, c := range map[string]program{
			"another field": func() (c program) {
				r := &renamed{Layer1: dense(2)}
				c.file, c.root, c.want = net, r, []string{"layer1.kernel", "layer1.bias", "l1.kernel"}
				c.call = func(s *ops.Scope, x *ops.Value) *ops.Value { return r.Layer1.Call(s, x) }
				return c
			}(),
			"another field, set later": func() (c program) {
				r := &renamedLate{}
				c.file, c.root, c.want = net, r, []string{"layer1.kernel", "l1.kernel", "AllowMissing"}
				c.call = func(s *ops.Scope, x *ops.Value) *ops.Value {
					if r.Layer1 == nil {
						r.Layer1 = dense(2)
					}
					return r.Layer1.Call(s, x)
				}
				return c
			}(),
			"a layer that declares nothing": func() (c program) {
				r := &custom{Layer1: &Affine{Units: 2}}
				c.file, c.root, c.want = net, r, []string{"l1.kernel"}
				c.call = func(s *ops.Scope, x *ops.Value) *ops.Value { return r.Layer1.Call(s, x) }
				return c
			}(),
			"an unrelated sequential model": func() (c program) {
				r := NewSequential(dense(4), dense(2))
				c.file, c.root, c.want = cnn, r, []string{"layer_with_weights-0.kernel", "layer-1.kernel"}
				c.call = func(s *ops.Scope, x *ops.Value) *ops.Value { return r.Call(s, x) }
				return c
			}(),
		} {
			t.Run(name, func(t *testing.T) {
				ck, err := checkpoint.New(c.root, nil)
				must(t, err)
				if _, err = ck.ReadFS(ctx, c.file, "ckpt", nil); err == nil {
					for range 2 {
						if _, err = m.compile(c.call)(ctx, batchOf2); err == nil {
							t.Fatal("inference ran")
						}
					}
				}
				for _, w := range c.want {
					if !strings.Contains(err.Error(), w) {
						t.Errorf("the error doesn't say %q:\n%v", w, err)
					}
				}
			})
		}
	})
}

// kernel3 is a layer with a kernel of three dimensions.
type kernel3 struct {
	Layer
	K *trackable.Variable `cairn:"-"`
}

func (k *kernel3) Call(s *ops.Scope, x ops.Input) *ops.Value {
	v, ok := k.Prepare(s, x, func(s *ops.Scope, in tensor.Shape) error {
		return k.AddWeight(s, &k.K, "kernel", Weight{Shape: tensor.Shape{1, 1, 3}, Init: initializers.Zeros{}})
	})
	if !ok {
		return v
	}
	return ops.Add(s, v, ops.Reshape(s, k.K, 3))
}

// TestNameBasedFilesFillLayersThatAreBuiltLater: a TF1 checkpoint's values are
// deferred for layers that aren't built yet, and are their first values.
func TestNameBasedFilesFillLayersThatAreBuiltLater(t *testing.T) {
	ctx := context.Background()
	file := func(names ...string) *vfs.Mem {
		dir := vfs.MemDir()
		w, err := bundle.NewWriter(dir, "ckpt-1", nil)
		must(t, err)
		for _, n := range names {
			x := mat(3, 3, 1, 2, 3, 4, 5, 6, 7, 8, 9)
			if strings.HasSuffix(n, "bias") {
				x = vec(1, 2, 3)
			}
			must(t, w.Add(ctx, n, x))
		}
		must(t, w.Finish(ctx))
		return dir
	}
	dir := file("places/dense/kernel", "places/dense/bias")
	want := []float64{1, 2, 3, 4, 5, 6, 7, 8, 9}
	inEveryMode(t, func(t *testing.T, m mode) {
		for _, when := range []string{"before", "after"} {
			for place, fill := range fills {
				r := newRun(t, m)
				r.Step = nil
				if when == "before" {
					must(t, fill(r.Net))
				}
				report := r.restore(dir, nil)
				if len(report.Deferred) != 2 || len(report.Unused) != 0 {
					t.Errorf("%s: deferred %v, unused %v, want both deferred", place, report.Deferred, report.Unused)
				}
				var pending *checkpoint.PendingError
				if err := r.ck.WriteTo(ctx, vfs.MemDir(), "x"); !errors.As(err, &pending) {
					t.Errorf("%s: save: %v, want a PendingError", place, err)
				}
				if when == "after" {
					must(t, fill(r.Net))
				}
				_, err := r.out(ctx, batchOf2)
				must(t, err)
				vars := Variables(r.Net)
				if d := cmp.Diff(want, floats(t, vars[0].Load())); d != "" {
					t.Errorf("%s: kernel (-want +got):\n%s", place, d)
				}
				must(t, report.AssertConsumed())
				for range 10 {
					_, err := r.step(ctx, batchOf2)
					must(t, err)
				}
				trained := floats(t, vars[0].Load())
				must(t, r.ck.WriteTo(ctx, vfs.MemDir(), "x"))
				if d := cmp.Diff(trained, floats(t, vars[0].Load())); d != "" || cmp.Equal(trained, want) {
					t.Errorf("%s: the save changed the kernel (-trained +saved):\n%s", place, d)
				}
			}
		}
		// A layer whose name isn't in the file is missing; one that comes later
		// fails the call.
		r := newRun(t, m)
		r.Step = nil
		must(t, fills["field"](r.Net))
		var refused *checkpoint.RestoreError
		if _, err := r.ck.RestoreFS(ctx, file("places/dense/kernel", "places/dense_1/bias"), "ckpt-1", nil); !errors.As(err, &refused) || len(refused.Missing) != 1 {
			t.Errorf("restore: %v, want the bias missing", err)
		}
		r = newRun(t, m)
		r.Step = nil
		r.restore(dir, nil)
		must(t, fills["field"](r.Net))
		must(t, fills["List"](r.Net))
		var unfilled *checkpoint.UnfilledError
		if _, err := r.out(ctx, batchOf2); !errors.As(err, &unfilled) || !strings.Contains(err.Error(), "net.list.0.kernel") {
			t.Errorf("call: %v, want an UnfilledError about net.list.0.kernel", err)
		}
	})
}

// TestOtherModelsCallsGoOn checks that a fault of one model's restore is
// reported by that model's variables, not by every call of the process.
func TestOtherModelsCallsGoOn(t *testing.T) {
	inEveryMode(t, func(t *testing.T, m mode) {
		first := newRun(t, m)
		must(t, fills["field"](first.Net))
		first.train(1)
		old := first.save()
		r := newRun(t, m)
		r.restore(old, nil)
		r.Net.Field = dense(4)
		if _, err := r.out(context.Background(), batchOf2); err == nil {
			t.Error("the misfit ran")
		}
		other := newRun(t, m)
		must(t, fills["List"](other.Net))
		other.train(2)
		other.save()
	})
}

// TestManyGoroutinesBuildARestoredModel: the first calls may come at once, while
// values are pending for layers and fields.
func TestManyGoroutinesBuildARestoredModel(t *testing.T) {
	inEveryMode(t, func(t *testing.T, m mode) {
		first := newRun(t, m)
		for place, fill := range fills {
			if !strings.HasPrefix(place, "List") {
				must(t, fill(first.Net))
			}
		}
		first.train(1)
		old := first.save()
		want, err := first.out(context.Background(), batchOf2)
		must(t, err)
		r := newRun(t, m)
		for place, fill := range fills {
			if !strings.HasPrefix(place, "List") && place != "slice" {
				must(t, fill(r.Net))
			}
		}
		r.restore(old, nil)
		must(t, fills["slice"](r.Net))
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				got, err := r.out(context.Background(), batchOf2)
				if err != nil {
					t.Error(err)
				} else if d := cmp.Diff(floats(t, data(t, want)), floats(t, data(t, got))); d != "" {
					t.Errorf("output (-saved +restored):\n%s", d)
				}
			})
		}
		wg.Wait()
	})
}
