package checkpoint

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/cairnml/cairn/trackable"
	"github.com/cairnml/cairn/vfs"
)

// orderPart has one variable, orderModel places for such parts.
type orderPart struct{ V *trackable.Variable }

type orderModel struct {
	F, G *orderPart
	L    *trackable.List[*orderPart]
}

// TestOrdersOfRestoresAreTensorFlows checks the values of objects after restores
// and assignments in every order. The expected ones are TensorFlow 2.21's,
// except in the cases in which it overwrites written values.
func TestOrdersOfRestoresAreTensorFlows(t *testing.T) {
	of := func(x float32) *orderPart { return &orderPart{variable(x)} }
	a := written(t, &struct{ Net *orderModel }{&orderModel{F: of(1), G: of(1.5)}}, nil)
	b := written(t, &struct{ Net *orderModel }{&orderModel{F: of(2)}}, nil)
	list := written(t, &struct{ Net *orderModel }{&orderModel{L: trackable.NewList(of(3))}}, nil)
	for name, c := range map[string]struct {
		program func(m *orderModel, restore func(*vfs.Mem)) *orderPart
		want    float32
		err     string // of the next save
	}{
		"restored twice, then filled": {func(m *orderModel, restore func(*vfs.Mem)) *orderPart {
			restore(a)
			restore(b)
			m.F, m.G = of(9), of(9)
			return m.F
		}, 2, ""},
		"two restores, the older one has more": {func(m *orderModel, restore func(*vfs.Mem)) *orderPart {
			restore(a)
			restore(b)
			m.F, m.G = of(9), of(9)
			return m.G
		}, 1.5, ""},
		"replaced": {func(m *orderModel, restore func(*vfs.Mem)) *orderPart {
			m.F, m.G = of(9), of(9)
			restore(a)
			m.F.V = variable(7)
			return m.F
		}, 7, ""},
		"restored after it is built": {func(m *orderModel, restore func(*vfs.Mem)) *orderPart {
			m.F, m.G = of(9), of(9)
			_ = m.F.V.Store(variable(5).Load())
			restore(a)
			return m.F
		}, 1, ""},
		"written between two restores": {func(m *orderModel, restore func(*vfs.Mem)) *orderPart {
			m.F, m.G = of(9), of(9)
			restore(a)
			_ = m.F.V.Store(variable(5).Load())
			restore(a)
			return m.F
		}, 1, ""},
		"one object in two places": {func(m *orderModel, restore func(*vfs.Mem)) *orderPart {
			restore(b)
			m.F = of(9)
			m.G = m.F
			return m.F
		}, 2, ""},
		"a list that was nil": {func(m *orderModel, restore func(*vfs.Mem)) *orderPart {
			restore(list)
			m.L = trackable.NewList[*orderPart]()
			p := of(9)
			if err := m.L.Append(p); err != nil {
				t.Error(err)
			}
			return p
		}, 3, ""},
		"written before it is put into place": {func(m *orderModel, restore func(*vfs.Mem)) *orderPart {
			restore(b)
			m.F = of(9)
			_ = m.F.V.Store(variable(10).Load())
			return m.F
		}, 10, "net.f.v"}, // TensorFlow: 2
	} {
		t.Run(name, func(t *testing.T) {
			root := &struct{ Net *orderModel }{new(orderModel)}
			ck := newCheckpoint(t, root, nil)
			p := c.program(root.Net, func(dir *vfs.Mem) {
				if _, err := ck.ReadFS(ctx, dir, "ckpt", nil); err != nil {
					t.Fatal(err)
				}
			})
			err := trackable.Step(ctx, func(ctx context.Context) error { return nil })
			if err != nil {
				t.Error(err)
			}
			wantFloats(t, p.V, c.want)
			err = ck.WriteTo(ctx, vfs.MemDir(), "x")
			var late *WrittenError
			if c.err == "" && err != nil || c.err != "" && (!errors.As(err, &late) || !strings.Contains(err.Error(), c.err)) {
				t.Errorf("save: %v, want an error about %q", err, c.err)
			}
			if c.err != "" && internals.VariableFault(p.V) == nil {
				t.Error("the variable doesn't tell")
			}
			wantFloats(t, p.V, c.want)
		})
	}
}

// TestAssertionsCountWhatIsAssignedSince checks that an object assigned to a field after
// the restore has its value when the report is asked, as in TensorFlow, where the
// assignment delivers.
func TestAssertionsCountWhatIsAssignedSince(t *testing.T) {
	file := written(t, &struct{ Net *orderModel }{&orderModel{F: &orderPart{variable(1)}, G: &orderPart{variable(2)}}}, nil)
	for name, ask := range map[string]func(r *Report) error{
		"existing":   (*Report).AssertExistingObjectsMatched,
		"nontrivial": (*Report).AssertNontrivialMatch,
		"current": func(r *Report) error {
			now, err := r.Current()
			if err == nil && len(now.Missing)+len(now.Unused) > 0 {
				t.Errorf("the report is %v", now)
			}
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			net := new(orderModel)
			r := restored(t, newCheckpoint(t, &struct{ Net *orderModel }{net}, nil), file, nil)
			net.F = &orderPart{variable(9)}
			if err := ask(r); err != nil {
				t.Fatal(err)
			}
			wantFloats(t, net.F.V, 1)
			if err := r.AssertConsumed(); err == nil || !strings.Contains(err.Error(), "net.g.v") {
				t.Errorf("with one object of two: %v", err)
			}
			net.G = &orderPart{variable(9)}
			if err := r.AssertConsumed(); err != nil {
				t.Error(err)
			}
			wantFloats(t, net.G.V, 2)
		})
	}
	t.Run("written", func(t *testing.T) {
		net := new(orderModel)
		r := restored(t, newCheckpoint(t, &struct{ Net *orderModel }{net}, nil), file, nil)
		net.F = &orderPart{variable(9)}
		if err := net.F.V.Store(variable(5).Load()); err != nil {
			t.Fatal(err)
		}
		var lost *WrittenError
		if err := r.AssertExistingObjectsMatched(); !errors.As(err, &lost) {
			t.Errorf("after a write: %v", err)
		}
		wantFloats(t, net.F.V, 5)
	})
}

// TestASaveAfterAReadCountsOn: Read leaves the file's save_counter for later, and who
// makes the counter then begins with it, as in TensorFlow.
func TestASaveAfterAReadCountsOn(t *testing.T) {
	dir := vfs.MemDir()
	net := func(x float32) any { return &struct{ Net *orderModel }{&orderModel{F: &orderPart{variable(x)}}} }
	first := newCheckpoint(t, net(1), nil)
	var path string
	for range 3 {
		var err error
		if path, err = first.SaveTo(ctx, dir, "ckpt"); err != nil {
			t.Fatal(err)
		}
	}
	read := func(t *testing.T, partial bool) *Checkpoint {
		ck := newCheckpoint(t, net(2), nil)
		if _, err := ck.ReadFS(ctx, dir, path, &RestoreOptions{Partial: partial}); err != nil {
			t.Fatal(err)
		}
		return ck
	}
	for _, partial := range []bool{false, true} {
		if got, err := read(t, partial).SaveTo(ctx, vfs.MemDir(), "next"); got != "next-4" || err != nil {
			t.Errorf("Save: %q, %v", got, err)
		}
	}
	if n := read(t, false).SaveCounter().Get(); n != 3 {
		t.Errorf("the counter is %d", n)
	}
	m, err := NewManager(read(t, false), "managed", &ManagerOptions{Dir: vfs.MemDir()})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := m.Save(ctx); got != "managed/ckpt-4" || err != nil {
		t.Errorf("Manager.Save: %q, %v", got, err)
	}
	later := read(t, false)
	restored(t, later, written(t, net(5), nil), nil) // has no counter
	if got, err := later.SaveTo(ctx, vfs.MemDir(), "next"); got != "next-4" || err != nil {
		t.Errorf("after a second Read: %q, %v", got, err)
	}
}
