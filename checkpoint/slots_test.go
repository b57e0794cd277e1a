package checkpoint

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
	"github.com/cairnml/cairn/vfs"
)

type fit struct {
	Opt  *optimizer
	Var  *trackable.Variable
	More *trackable.Variable
}

func momentum(t testing.TB) *optimizer {
	o := &optimizer{name: "SGD"}
	o.DeclareSlots("momentum")
	o.hyper(t, "iter", tensor.Scalar[int64](0))
	return o
}

func slotFiles(t testing.TB) *vfs.Mem {
	f := &fit{momentum(t), variable(1, 2), variable(3)}
	f.Opt.slot(t, f.Var, "momentum", tensor.Vector[float32](5, 6))
	f.Opt.slot(t, f.More, "momentum", tensor.Scalar[float32](7))
	return written(t, f, nil)
}

// TestSlotsInEveryOrder: slots are restored whichever comes first, the optimizer,
// the variable or the slot itself.
func TestSlotsInEveryOrder(t *testing.T) {
	src := slotFiles(t)
	check := func(t *testing.T, f *fit, r *Report) {
		t.Helper()
		wantFloats(t, f.Opt.Slot(f.Var, "momentum"), 5, 6)
		wantFloats(t, f.Opt.Slot(f.More, "momentum"), 7)
		if err := r.AssertConsumed(); err != nil {
			t.Error(err)
		}
	}
	t.Run("everything is there", func(t *testing.T) {
		f := &fit{momentum(t), variable(0, 0), variable(0)}
		f.Opt.slot(t, f.Var, "momentum", tensor.Vector[float32](0, 0))
		f.Opt.slot(t, f.More, "momentum", tensor.Scalar[float32](0))
		check(t, f, restored(t, newCheckpoint(t, f, nil), src, nil))
	})
	t.Run("slots are made by the restore", func(t *testing.T) {
		f := &fit{momentum(t), variable(0, 0), variable(0)}
		check(t, f, restored(t, newCheckpoint(t, f, nil), src, nil))
		if f.Opt.Slot(f.Var, "momentum").Trainable() {
			t.Error("a slot is trainable")
		}
	})
	t.Run("variables come later", func(t *testing.T) {
		f := &fit{Opt: momentum(t)}
		ck := newCheckpoint(t, f, nil)
		r := restored(t, ck, src, nil)
		if d := cmp.Diff(4, len(r.Deferred)); d != "" {
			t.Errorf("deferred %v, want two variables and two slots", r.Deferred)
		}
		f.Var, f.More = variable(0, 0), variable(0)
		if err := ck.Sync(ctx); err != nil {
			t.Fatal(err)
		}
		check(t, f, r)
	})
	t.Run("the optimizer comes later", func(t *testing.T) {
		f := &fit{Var: variable(0, 0), More: variable(0)}
		ck := newCheckpoint(t, f, nil)
		r := restored(t, ck, src, nil)
		if d := cmp.Diff(3, len(r.Deferred)); d != "" {
			t.Errorf("deferred %v, want iter and two slots", r.Deferred)
		}
		f.Opt = momentum(t)
		if err := ck.Sync(ctx); err != nil {
			t.Fatal(err)
		}
		check(t, f, r)
	})
	t.Run("a layer builds its variable in between", func(t *testing.T) {
		type model struct {
			Layer *node
			Opt   *optimizer
		}
		m := &model{new(node), momentum(t)}
		v := addScalar(t, &m.Layer.Base, "kernel", 1)
		m.Opt.slot(t, v, "momentum", tensor.Scalar[float32](9))
		src := written(t, m, nil)
		m = &model{new(node), momentum(t)}
		r := restored(t, newCheckpoint(t, m, nil), src, nil)
		v = addScalar(t, &m.Layer.Base, "kernel", 0)
		wantFloats(t, m.Opt.Slot(v, "momentum"), 9)
		if err := r.AssertConsumed(); err != nil {
			t.Error(err)
		}
	})
}

// TestSlotsNeedBoth checks that slots are saved if both the variable and the
// optimizer are.
func TestSlotsNeedBoth(t *testing.T) {
	o, a, b := momentum(t), variable(1), variable(2)
	o.slot(t, a, "momentum", tensor.Scalar[float32](10))
	o.slot(t, b, "momentum", tensor.Scalar[float32](20))
	for name, c := range map[string]struct {
		root any
		want []string
	}{
		"optimizer only": {&struct{ Opt *optimizer }{o}, nil},
		"variable only":  {&struct{ A *trackable.Variable }{a}, nil},
		"one variable": {&struct {
			Opt *optimizer
			A   *trackable.Variable
		}{o, a}, []string{`opt's slot "momentum" for a`}},
	} {
		var got []string
		for _, n := range mustOpen(t, written(t, c.root, nil), "ckpt").Nodes() {
			if n.IsSlot {
				got = append(got, n.Path)
			}
		}
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%s: slots (-want +got):\n%s", name, d)
		}
	}
	// A slot that is a dependency as well can't be saved.
	_, err := New(&struct {
		Opt  *optimizer
		A, S *trackable.Variable
	}{o, a, o.Slot(a, "momentum")}, nil)
	if err == nil {
		t.Error("a slot variable that is tracked elsewhere is accepted")
	}
}

// TestSkipSlots leaves slots out, and an optimizer without that slot leaves them
// unused.
func TestSkipSlots(t *testing.T) {
	src := slotFiles(t)
	f := &fit{momentum(t), variable(0, 0), variable(0)}
	r := restored(t, newCheckpoint(t, f, nil), src, &RestoreOptions{SkipSlots: true})
	if f.Opt.Slot(f.Var, "momentum") != nil {
		t.Error("a slot was restored")
	}
	if err := r.AssertConsumed(); err != nil {
		t.Error(err)
	}
	plain := &optimizer{name: "SGD"}
	plain.hyper(t, "iter", tensor.Scalar[int64](0))
	f = &fit{plain, variable(0, 0), variable(0)}
	_, err := newCheckpoint(t, f, nil).RestoreFS(ctx, src, "ckpt", nil)
	var re *RestoreError
	if !errors.As(err, &re) || len(re.Unused) != 2 {
		t.Errorf("error %v, want two unused slots", err)
	}
	// An object in the optimizer's place that is none.
	g := &struct {
		Opt struct{ Iter *trackable.Scalar[int64] }
		Var *trackable.Variable
	}{struct {
		Iter *trackable.Scalar[int64]
	}{trackable.NewScalar[int64](3)}, variable(0, 0)}
	restored(t, newCheckpoint(t, g, nil), src, &RestoreOptions{Partial: true})
	if g.Opt.Iter.Get() != 0 {
		t.Error("iter wasn't restored")
	}
	wantFloats(t, g.Var, 1, 2)
}
