package checkpoint

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
	"github.com/cairnml/cairn/vfs"
)

// node is an object that anything can be attached to.
type node struct{ trackable.Base }

// never returns an initializer that must not run.
func never(t testing.TB) func() (*tensor.Tensor, error) {
	return func() (*tensor.Tensor, error) {
		t.Error("the initializer ran")
		return tensor.Scalar[float32](-1), nil
	}
}

func attach(t testing.TB, to interface{ Attach(string, any) error }, edge string, child any) {
	t.Helper()
	if err := to.Attach(edge, child); err != nil {
		t.Fatal(err)
	}
}

// addScalar adds a float32 scalar variable with the given first value.
func addScalar(t testing.TB, to *trackable.Base, edge string, x float32) *trackable.Variable {
	t.Helper()
	var v *trackable.Variable
	err := to.AddVariable(&v, edge, trackable.VariableSpec{Init: func() (*tensor.Tensor, error) { return tensor.Scalar(x), nil }})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestVariablesAreMadeWithTheirValues: a variable built after the restore has its value from
// the beginning; the initializer doesn't run.
func TestVariablesAreMadeWithTheirValues(t *testing.T) {
	type layer struct {
		trackable.Base
		Kernel, Bias *trackable.Variable
	}
	src := written(t, &struct{ L1 *layer }{&layer{Kernel: variable(1, 2, 3), Bias: variable(4)}}, nil)
	live := &struct{ L1 *layer }{new(layer)}
	ck := newCheckpoint(t, live, nil)
	r := restored(t, ck, src, nil)
	if d := cmp.Diff([]string{"l1.kernel", "l1.bias"}, paths(r.Deferred)); d != "" {
		t.Fatalf("deferred (-want +got):\n%s", d)
	}
	if err := r.AssertExistingObjectsMatched(); err != nil {
		t.Error(err)
	}
	if err := r.AssertConsumed(); err == nil || !strings.Contains(err.Error(), "l1.kernel") {
		t.Errorf("consumed: %v", err)
	}
	err := live.L1.AddVariable(&live.L1.Kernel, "kernel", trackable.VariableSpec{Shape: tensor.Shape{3}, Init: never(t)})
	if err != nil {
		t.Fatal(err)
	}
	wantFloats(t, live.L1.Kernel, 1, 2, 3)
	now, err := r.Current()
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"l1.bias"}, paths(now.Deferred)); d != "" {
		t.Errorf("deferred now (-want +got):\n%s", d)
	}

	// A value of another shape is an error that names both shapes, and changes
	// nothing.
	err = live.L1.AddVariable(&live.L1.Bias, "bias", trackable.VariableSpec{Shape: tensor.Shape{7}, Init: never(t)})
	var se *trackable.ShapeError
	if !errors.As(err, &se) || live.L1.Bias != nil {
		t.Errorf("error %v, want a ShapeError", err)
	}
	if err := live.L1.AddVariable(&live.L1.Bias, "bias", trackable.VariableSpec{Init: never(t)}); err != nil {
		t.Fatal(err)
	}
	wantFloats(t, live.L1.Bias, 4)
	if err := r.AssertConsumed(); err != nil {
		t.Error(err)
	}
	if err := live.L1.AddVariable(nil, "bias", trackable.VariableSpec{}); err == nil {
		t.Error("a second variable on one edge is accepted")
	}
	// Variables made late are updated and restored as any other.
	zero(t, live, nil)
	restored(t, ck, src, nil)
	wantFloats(t, live.L1.Kernel, 1, 2, 3)
}

// TestGuidesFakeLayer runs the guide's "loading mechanics" and "delayed
// restorations".
func TestGuidesFakeLayer(t *testing.T) {
	type fakeLayer struct{ Bias, Kernel *trackable.Variable }
	type fakeNet struct{ L1 *fakeLayer }
	src := vfs.MemDir()
	if _, err := newCheckpoint(t, newTraining(t), nil).SaveTo(ctx, src, "ckpt"); err != nil {
		t.Fatal(err)
	}
	toRestore := variable(0, 0, 0, 0, 0)
	layer := &fakeLayer{Bias: toRestore}
	root := &struct{ Net *fakeNet }{&fakeNet{layer}}
	ck := newCheckpoint(t, root, nil)
	r, err := ck.RestoreFS(ctx, src, "ckpt-1", &RestoreOptions{Partial: true})
	if err != nil {
		t.Fatal(err)
	}
	wantFloats(t, toRestore, 6, 7, 8, 9, 10)
	if err := r.AssertExistingObjectsMatched(); err != nil {
		t.Error(err)
	}
	if err := r.AssertConsumed(); err == nil {
		t.Error("consumed passes")
	}
	layer.Kernel = matrix(0, 0, 0, 0, 0)
	if err := ck.Sync(ctx); err != nil {
		t.Fatal(err)
	}
	wantFloats(t, layer.Kernel, 1, 2, 3, 4, 5)
}

// TestGuidesLists runs the guide's "list and dictionary tracking".
func TestGuidesLists(t *testing.T) {
	type state struct {
		Listed *trackable.List[*trackable.Variable]
		Mapped *trackable.Map[*trackable.Variable]
	}
	save := &state{trackable.NewList(variable(1)), trackable.NewMap[*trackable.Variable]()}
	if err := save.Listed.Append(variable(2)); err != nil {
		t.Fatal(err)
	}
	for i, k := range []string{"one", "two"} {
		if err := save.Mapped.Set(k, save.Listed.At(i)); err != nil {
			t.Fatal(err)
		}
	}
	src := written(t, save, nil)

	load := &state{Mapped: trackable.NewMap[*trackable.Variable]()}
	v2 := variable(0)
	if err := load.Mapped.Set("two", v2); err != nil {
		t.Fatal(err)
	}
	ck := newCheckpoint(t, load, nil)
	r := restored(t, ck, src, nil)
	wantFloats(t, v2, 2)
	load.Listed = trackable.NewList[*trackable.Variable]()
	if err := ck.Sync(ctx); err != nil {
		t.Fatal(err)
	}
	v1 := variable(0)
	if err := load.Listed.Append(v1); err != nil {
		t.Fatal(err)
	}
	wantFloats(t, v1, 1)
	if err := load.Listed.Append(v2); err != nil {
		t.Fatal(err)
	}
	if err := load.Mapped.Set("one", v1); err != nil {
		t.Fatal(err)
	}
	if err := r.AssertConsumed(); err != nil {
		t.Error(err)
	}
}

// TestPlainFieldsAtSync checks that structs, slices and maps without a node get
// their values at Sync, and at every save.
func TestPlainFieldsAtSync(t *testing.T) {
	type inner struct{ V *trackable.Variable }
	type state struct {
		Ptr   *inner
		Slice []*inner
		Map   map[string]*inner
		Any   any
	}
	full := func(x float32) *state {
		return &state{&inner{variable(x)}, []*inner{{variable(x + 1)}, {variable(x + 2)}}, map[string]*inner{"k": {variable(x + 3)}}, &inner{variable(x + 4)}}
	}
	src := written(t, full(1), nil)
	live := &state{Slice: []*inner{{variable(0)}}}
	ck := newCheckpoint(t, live, nil)
	r, err := ck.ReadFS(ctx, src, "ckpt", nil)
	if err != nil {
		t.Fatal(err)
	}
	wantFloats(t, live.Slice[0].V, 2)
	if d := cmp.Diff([]string{"any.v", "map.k.v", "ptr.v", "slice.1.v"}, sorted(paths(r.Deferred))); d != "" {
		t.Errorf("deferred (-want +got):\n%s", d)
	}
	fresh := full(0)
	live.Ptr, live.Map, live.Any = fresh.Ptr, fresh.Map, fresh.Any
	live.Slice = append(live.Slice, fresh.Slice[1])
	dir := vfs.MemDir()
	if err := ck.WriteTo(ctx, dir, "next"); err != nil { // syncs
		t.Fatal(err)
	}
	wantFloats(t, live.Ptr.V, 1)
	wantFloats(t, live.Slice[1].V, 3)
	wantFloats(t, live.Map["k"].V, 4)
	wantFloats(t, live.Any.(*inner).V, 5)
	if err := r.AssertConsumed(); err != nil {
		t.Error(err)
	}
	if d := cmp.Diff(readFiles(t, src, ".")["ckpt.data-00000-of-00001"], readFiles(t, dir, ".")["next.data-00000-of-00001"]); d != "" {
		t.Errorf("what was saved after Sync differs (-first +second):\n%s", d)
	}
}

func sorted(s []string) []string { slices.Sort(s); return s }

// TestPendingStopsSaves: values that were never delivered can't be overwritten
// by fresh weights.
func TestPendingStopsSaves(t *testing.T) {
	root := new(node)
	src := new(node)
	addScalar(t, &src.Base, "v", 1)
	mem := written(t, src, nil)
	ck := newCheckpoint(t, root, nil)
	r := restored(t, ck, mem, nil)
	err := ck.WriteTo(ctx, vfs.MemDir(), "x")
	var pe *PendingError
	if !errors.As(err, &pe) || len(pe.Deferred) != 1 || pe.Deferred[0].Path != "v" || !strings.Contains(err.Error(), "ExpectPartial") {
		t.Fatalf("error %v, want a PendingError about v", err)
	}
	n := ck.SaveCounter().Get()
	if _, err := ck.SaveTo(ctx, vfs.MemDir(), "x"); !errors.As(err, &pe) || ck.SaveCounter().Get() != n {
		t.Errorf("error %v; save_counter %d, want %d", err, ck.SaveCounter().Get(), n)
	}
	r.ExpectPartial()
	if err := ck.WriteTo(ctx, vfs.MemDir(), "x"); err != nil {
		t.Error(err)
	}
	// It is still delivered.
	wantFloats(t, addScalar(t, &root.Base, "v", 0), 1)

	// A newer restore that doesn't have the value doesn't lose it either.
	ck = newCheckpoint(t, new(node), nil)
	r = restored(t, ck, mem, nil)
	restored(t, ck, written(t, new(node), nil), nil)
	if err := ck.WriteTo(ctx, vfs.MemDir(), "x"); !errors.As(err, &pe) {
		t.Errorf("error %v, want a PendingError", err)
	}
	r.ExpectPartial()
	if err := ck.WriteTo(ctx, vfs.MemDir(), "x"); err != nil {
		t.Error(err)
	}
}

// TestManyPendingRestores: restores that are never delivered are forgotten at
// some point, the latest ones not.
func TestManyPendingRestores(t *testing.T) {
	type state struct{ N *node }
	full := &state{new(node)}
	v := addScalar(t, &full.N.Base, "v", 0)
	root := &state{new(node)}
	ck := newCheckpoint(t, root, nil)
	for i := range 50 {
		if err := v.Store(tensor.Scalar(float32(i))); err != nil {
			t.Fatal(err)
		}
		restored(t, ck, written(t, full, nil), nil)
	}
	if n := len(ck.loads); n > maxPendingRestores {
		t.Errorf("%d restores are kept", n)
	}
	wantFloats(t, addScalar(t, &root.N.Base, "v", -1), 49)
	if err := ck.WriteTo(ctx, vfs.MemDir(), "x"); err != nil {
		t.Error(err)
	}
}

// TestDeliveryThatDoesNotFit: a value that can't be delivered keeps saves from
// working until it is let go.
func TestDeliveryThatDoesNotFit(t *testing.T) {
	type state struct{ V *trackable.Variable }
	live := &state{}
	ck := newCheckpoint(t, live, nil)
	r := restored(t, ck, written(t, &state{variable(1, 2)}, nil), nil)
	live.V = variable(0, 0, 0)
	var re *RestoreError
	for range 2 {
		if err := ck.WriteTo(ctx, vfs.MemDir(), "x"); !errors.As(err, &re) || len(re.Mismatched) != 1 {
			t.Fatalf("error %v, want v mismatched", err)
		}
	}
	wantFloats(t, live.V, 0, 0, 0)
	r.ExpectPartial()
	if err := ck.WriteTo(ctx, vfs.MemDir(), "x"); err != nil {
		t.Error(err)
	}
}

// TestNestedCheckpoints: a Checkpoint in another one is an object like any
// other; its bytes are TensorFlow's.
func TestNestedCheckpoints(t *testing.T) {
	build := func() *struct {
		Table *table
		Inner *Checkpoint
		Hash  *hashTable
	} {
		x := newTables()
		return &struct {
			Table *table
			Inner *Checkpoint
			Hash  *hashTable
		}{x.Table, newCheckpoint(t, x.Inner, nil), x.Hash}
	}
	dir := written(t, build(), nil)
	if d := cmp.Diff(readFiles(t, os.DirFS(goldenDir), "serializer"), readFiles(t, dir, ".")); d != "" {
		t.Errorf("files differ from TensorFlow's (-TensorFlow +ours):\n%s", d)
	}
	live := build()
	live.Inner.Root().(*struct{ T *table }).T.keys = nil
	r := restored(t, newCheckpoint(t, live, nil), dir, nil)
	if err := r.AssertConsumed(); err != nil {
		t.Error(err)
	}
	if got := live.Inner.Root().(*struct{ T *table }).T.keys; !slices.Equal(got, []int64{7}) {
		t.Errorf("keys %v", got)
	}
	// A field that is nil yet.
	inner := newCheckpoint(t, &struct{ T *table }{}, nil)
	live.Inner = inner
	ck := newCheckpoint(t, live, nil)
	if r := restored(t, ck, dir, nil); len(r.Deferred) != 2 {
		t.Errorf("deferred %v", r.Deferred)
	}
	inner.Root().(*struct{ T *table }).T = new(table)
	if err := ck.Sync(ctx); err != nil {
		t.Fatal(err)
	}
	// With a separate root it has an edge to it, and a save_counter.
	rooted := newCheckpoint(t, &module{V: variable(1)}, &Options{Extra: map[string]any{"x": variable(2)}})
	rooted.SaveCounter()
	edges := rooted.TrackableChildren()
	if len(edges) != 3 || edges[0].Name != "root" || edges[1].Name != "x" || edges[2].Name != "save_counter" {
		t.Errorf("edges %v", edges)
	}
}

// closed declares that it accepts no further children.
type closed struct {
	trackable.Base
	V *trackable.Variable
}

func (*closed) AcceptsChild(string) bool { return false }

// TestAcceptedChildren checks that values which no object accepts are unused at once, and
// that an object which knows its edges can reject others.
func TestAcceptedChildren(t *testing.T) {
	src := written(t, &struct {
		C struct{ V, W *trackable.Variable }
	}{struct{ V, W *trackable.Variable }{variable(1), variable(2)}}, nil)
	ck := newCheckpoint(t, &struct{ C *closed }{&closed{}}, nil)
	_, err := ck.RestoreFS(ctx, src, "ckpt", nil)
	var re *RestoreError
	if !errors.As(err, &re) || len(re.Unused) != 1 || re.Unused[0].Path != "c.w" {
		t.Fatalf("error %v, want c.w unused", err)
	}
	r := restored(t, ck, src, &RestoreOptions{Partial: true})
	if d := cmp.Diff([]string{"c.v"}, paths(r.Deferred)); d != "" { // a nil field
		t.Errorf("deferred (-want +got):\n%s", d)
	}
	// Anything can be attached to a node, so its edges are pending; in a partial restore
	// they are only unused, but delivered all the same.
	n := new(node)
	ck = newCheckpoint(t, &struct{ C *node }{n}, nil)
	if r := restored(t, ck, src, nil); len(r.Deferred) != 2 {
		t.Errorf("deferred %v, want two", r.Deferred)
	}
	r = restored(t, ck, src, &RestoreOptions{Partial: true})
	if len(r.Deferred) != 0 || len(r.Unused) != 2 {
		t.Errorf("deferred %v, unused %v, want two unused", r.Deferred, r.Unused)
	}
	wantFloats(t, addScalar(t, &n.Base, "w", 0), 2)
}

// TestLateDependency: an object with a variable is attached after the restore.
func TestLateDependency(t *testing.T) {
	type dep struct {
		trackable.Base
		V *trackable.Variable
	}
	src := written(t, &struct{ Dep *dep }{&dep{V: variable(123)}}, nil)
	for _, order := range []string{"variable first", "dependency first"} {
		t.Run(order, func(t *testing.T) {
			root := new(node)
			r := restored(t, newCheckpoint(t, root, nil), src, nil)
			if r.AssertConsumed() == nil {
				t.Error("consumed passes before the object is there")
			}
			d := new(node)
			var v *trackable.Variable
			if order == "variable first" {
				v = addScalar(t, &d.Base, "v", 1)
				attach(t, root, "dep", d)
			} else {
				attach(t, root, "dep", d)
				v = addScalar(t, &d.Base, "v", 1)
			}
			wantFloats(t, v, 123)
			if err := r.AssertConsumed(); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestOverlappingRestores checks that the later of two restores pending for one object
// wins, whatever the order of attaching.
func TestOverlappingRestores(t *testing.T) {
	files := func(x float32) *vfs.Mem {
		return written(t, &struct {
			Dep struct{ V *trackable.Variable }
		}{struct{ V *trackable.Variable }{variable(x)}}, nil)
	}
	first, second := files(1), files(2)
	setup := func() (a, b, dep *node, ra, rb *Report) {
		a, b, dep = new(node), new(node), new(node)
		ra = restored(t, newCheckpoint(t, a, nil), first, nil)
		rb = restored(t, newCheckpoint(t, b, nil), second, nil)
		return
	}
	t.Run("both pending, then the variable", func(t *testing.T) {
		a, b, dep, ra, rb := setup()
		attach(t, a, "dep", dep)
		attach(t, b, "dep", dep)
		v := addScalar(t, &dep.Base, "v", 0)
		wantFloats(t, v, 2)
		for _, r := range []*Report{ra, rb} {
			if err := r.AssertConsumed(); err != nil {
				t.Error(err)
			}
		}
	})
	t.Run("attached in the other order", func(t *testing.T) {
		a, b, dep, _, _ := setup()
		attach(t, b, "dep", dep)
		attach(t, a, "dep", dep)
		wantFloats(t, addScalar(t, &dep.Base, "v", 0), 2)
	})
	t.Run("the later one is there, the earlier one comes after", func(t *testing.T) {
		a, b, dep, _, _ := setup()
		v := addScalar(t, &dep.Base, "v", 0)
		attach(t, b, "dep", dep)
		wantFloats(t, v, 2)
		attach(t, a, "dep", dep)
		wantFloats(t, v, 2)
	})
	t.Run("a restore of what is there", func(t *testing.T) {
		a, b, dep, _, _ := setup()
		v := addScalar(t, &dep.Base, "v", 0)
		attach(t, a, "dep", dep)
		wantFloats(t, v, 1)
		attach(t, b, "dep", dep)
		wantFloats(t, v, 2)
		// A newer restore sets it again.
		restored(t, newCheckpoint(t, a, nil), first, nil)
		wantFloats(t, v, 1)
	})
	t.Run("two restores of one checkpoint", func(t *testing.T) {
		root := new(node)
		ck := newCheckpoint(t, root, nil)
		restored(t, ck, first, nil)
		restored(t, ck, second, nil)
		dep := new(node)
		attach(t, root, "dep", dep)
		wantFloats(t, addScalar(t, &dep.Base, "v", 0), 2)
	})
}

// TestDependencyLoop: cycles save, and restore at once and later.
func TestDependencyLoop(t *testing.T) {
	build := func(x, y float32) (*node, *node) {
		a, b := new(node), new(node)
		attach(t, a, "second", b)
		attach(t, b, "first", a)
		if x != 0 {
			addScalar(t, &a.Base, "v1", x)
			addScalar(t, &b.Base, "v2", y)
		}
		return a, b
	}
	a, _ := build(3, 4)
	src := written(t, a, nil)

	c, d := build(0, 0)
	r := restored(t, newCheckpoint(t, c, nil), src, nil)
	wantFloats(t, addScalar(t, &c.Base, "v1", 0), 3)
	wantFloats(t, addScalar(t, &d.Base, "v2", 0), 4)
	if err := r.AssertConsumed(); err != nil {
		t.Error(err)
	}
	e, f := build(-1, -1)
	r = restored(t, newCheckpoint(t, e, nil), src, nil)
	if err := r.AssertConsumed(); err != nil {
		t.Error(err)
	}
	wantFloats(t, e.TrackableNode().Edges()[1].Child.(*trackable.Variable), 3)
	wantFloats(t, f.TrackableNode().Edges()[1].Child.(*trackable.Variable), 4)
}

// TestRestoreOnAttach: a variable that exists gets its value when it is
// attached, and again at the next restore.
func TestRestoreOnAttach(t *testing.T) {
	src := written(t, &struct{ V1, V2 *trackable.Variable }{variable(1), variable(2)}, nil)
	root := new(node)
	ck := newCheckpoint(t, root, nil)
	v1, v2 := variable(0), variable(0)
	attach(t, root, "v1", v1)
	restored(t, ck, src, nil)
	wantFloats(t, v1, 1)
	attach(t, root, "v2", v2)
	wantFloats(t, v2, 2)
	attach(t, root, "v2", v2) // the same again
	if err := root.Attach("v2", v1); err == nil {
		t.Error("another object on the same edge is accepted")
	}
	zero(t, root, nil)
	restored(t, ck, src, nil)
	wantFloats(t, v1, 1)
	wantFloats(t, v2, 2)
}

// TestOnlyValuesWait: parts of the file without values aren't kept pending.
func TestOnlyValuesWait(t *testing.T) {
	type deep struct{ Deeper []*trackable.Variable }
	src := written(t, &struct {
		Empty *deep
		Full  *deep
	}{&deep{[]*trackable.Variable{}}, &deep{[]*trackable.Variable{variable(1)}}}, nil)
	root := new(node)
	ck := newCheckpoint(t, root, nil)
	r := restored(t, ck, src, nil)
	if n := len(r.l.pending); n != 1 {
		t.Errorf("%d edges are pending, want 1", n)
	}
	attach(t, root, "full", &deep{[]*trackable.Variable{variable(0)}})
	if r.l.hasPending() {
		t.Error("something is pending after everything is delivered")
	}
	// Then the restore is forgotten at the next one.
	restored(t, ck, src, nil)
	if len(ck.loads) != 1 {
		t.Errorf("%d restores are kept, want 1", len(ck.loads))
	}
}

// TestMirrored: one tensor that goes to two variables, through an object that
// restores itself; at once and delayed.
func TestMirrored(t *testing.T) {
	save := &mirrored{node: new(node), a: variable(5), b: variable(5)}
	src := written(t, &struct{ M *mirrored }{save}, nil)
	m := &mirrored{node: new(node), a: variable(0), b: variable(0)}
	r := restored(t, newCheckpoint(t, &struct{ M *mirrored }{m}, nil), src, nil)
	wantFloats(t, m.a, 5)
	wantFloats(t, m.b, 5)
	if err := r.AssertConsumed(); err != nil {
		t.Error(err)
	}
	live := &struct{ M *mirrored }{}
	ck := newCheckpoint(t, live, nil)
	restored(t, ck, src, nil)
	live.M = &mirrored{node: new(node), a: variable(0), b: variable(0)}
	if err := ck.Sync(ctx); err != nil {
		t.Fatal(err)
	}
	wantFloats(t, live.M.b, 5)
}

type mirrored struct {
	node *node               `cairn:"-"`
	a, b *trackable.Variable `cairn:"-"`
}

func (m *mirrored) SerializeToTensors() ([]trackable.Attribute, error) {
	return []trackable.Attribute{{Name: trackable.VariableValue, Tensor: m.a.Load()}}, nil
}

func (m *mirrored) RestoreFromTensors(ts map[string]*tensor.Tensor) error {
	return errors.Join(m.a.StoreShared(ts[trackable.VariableValue]), m.b.StoreShared(ts[trackable.VariableValue]))
}

// TestKeysAndMetadata: an object with several tensors has a key for each, and
// the object graph lists them; missing ones and unknown ones are reported.
func TestKeysAndMetadata(t *testing.T) {
	src := written(t, newTables(), nil)
	v := mustOpen(t, src, "ckpt")
	want := map[string]string{"keys": "table/.ATTRIBUTES/keys", "some.Svalues": "table/.ATTRIBUTES/some..Svalues"}
	for _, n := range v.Nodes() {
		if n.Path != "table" {
			continue
		}
		got := map[string]string{}
		for _, a := range n.Attributes {
			got[a.Name] = a.Key
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("attributes (-want +got):\n%s", d)
		}
	}
	type other struct{ Table *renamedTable }
	_, err := newCheckpoint(t, &other{&renamedTable{}}, nil).RestoreFS(ctx, src, "ckpt", &RestoreOptions{Partial: true})
	var re *RestoreError
	if !errors.As(err, &re) || len(re.Missing) != 1 || re.Missing[0].Attribute != "keyz" || !slices.Contains(re.Missing[0].Nearest, "keys") {
		t.Errorf("error %v, want keyz missing and keys named", err)
	}
	_, err = newCheckpoint(t, &other{&renamedTable{}}, nil).RestoreFS(ctx, src, "ckpt", &RestoreOptions{AllowMissing: true})
	if !errors.As(err, &re) || !slices.ContainsFunc(re.Unused, func(it Item) bool { return it.Attribute == "keys" }) {
		t.Errorf("error %v, want the attribute keys unused", err)
	}
}

type renamedTable struct{ keyz int64 }

func (x *renamedTable) SerializeToTensors() ([]trackable.Attribute, error) {
	return []trackable.Attribute{{Name: "keyz", Tensor: tensor.Scalar(x.keyz)}, {Name: "some/values", Tensor: tensor.Scalar[float32](0)}}, nil
}

func (x *renamedTable) RestoreFromTensors(map[string]*tensor.Tensor) error { return nil }
