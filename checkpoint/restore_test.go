package checkpoint

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
	"github.com/cairnml/cairn/vfs"
)

var ctx = context.Background()

// newCheckpoint calls New, which must succeed.
func newCheckpoint(t testing.TB, root any, o *Options) *Checkpoint {
	t.Helper()
	ck, err := New(root, o)
	if err != nil {
		t.Fatal(err)
	}
	return ck
}

// written writes root's checkpoint "ckpt" to memory.
func written(t testing.TB, root any, o *Options) *vfs.Mem {
	t.Helper()
	dir := vfs.MemDir()
	if err := newCheckpoint(t, root, o).WriteTo(ctx, dir, "ckpt"); err != nil {
		t.Fatal(err)
	}
	return dir
}

func restored(t testing.TB, ck *Checkpoint, fsys fs.FS, o *RestoreOptions) *Report {
	t.Helper()
	r, err := ck.RestoreFS(ctx, fsys, "ckpt", o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func paths(items []Item) []string {
	p := []string{}
	for _, it := range items {
		p = append(p, it.Path)
	}
	return p
}

func wantFloats(t testing.TB, v *trackable.Variable, want ...float32) {
	t.Helper()
	if v == nil {
		t.Fatalf("there is no variable, want %v", want)
	}
	if got := floats(t, v); !slices.Equal(got, want) {
		t.Errorf("value %v, want %v", got, want)
	}
}

// zero sets every variable of a graph to zero.
func zero(t testing.TB, root any, extra any) {
	t.Helper()
	for _, r := range []any{root, extra} {
		if r == nil {
			continue
		}
		if m, ok := r.(map[string]any); ok {
			r = &m
		}
		g, err := trackable.Walk(r, nil)
		if err != nil {
			t.Fatal(err)
		}
		for i := range g.Nodes {
			if v := g.Nodes[i].Variable(); v != nil {
				if err := v.Store(tensor.Must(tensor.Zeros(v.DType(), v.Shape()...))); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}

// values lists a graph's values by path.
func valuesOf(t testing.TB, ck *Checkpoint) map[string]*tensor.Tensor {
	t.Helper()
	g, err := ck.walk()
	if err != nil {
		t.Fatal(err)
	}
	m := map[string]*tensor.Tensor{}
	for i := range g.Nodes {
		n := &g.Nodes[i]
		if v := n.Variable(); v != nil {
			m[n.Path] = v.Load()
		} else if s, ok := n.Object.(trackable.Serializer); ok {
			attrs, err := s.SerializeToTensors()
			if err != nil {
				t.Fatal(err)
			}
			for _, a := range attrs {
				if a.Tensor != nil {
					m[n.Path+" "+a.Name] = a.Tensor
				}
				for _, p := range a.Parts {
					m[n.Path+" "+a.Name+p.Suffix] = p.Tensor
				}
			}
		}
	}
	return m
}

var cmpTensors = cmp.Comparer(func(a, b *tensor.Tensor) bool { return a.Equal(b) })

// TestTensorFlowsFilesRestore checks that files written by TensorFlow fill
// every object, and that no value is left over.
func TestTensorFlowsFilesRestore(t *testing.T) {
	for _, c := range goldens {
		t.Run(c.name, func(t *testing.T) {
			root, o := c.make(t)
			ck := newCheckpoint(t, root, o)
			if !c.write {
				ck.SaveCounter().Set(1)
			}
			want := valuesOf(t, ck)
			var extra any
			if o != nil {
				extra = o.Extra
			}
			zero(t, root, extra)
			if !c.write {
				ck.SaveCounter().Set(0)
			}
			if ts, ok := root.(*tables); ok {
				ts.Table.keys, ts.Inner.T.values, ts.Hash.keys = nil, nil, nil
			}
			restore := ck.RestoreFS
			if c.write {
				restore = ck.ReadFS
			}
			r, err := restore(ctx, os.DirFS(goldenDir), path.Join(c.name, prefixOf(c.write)), nil)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(want, valuesOf(t, ck), cmpTensors); d != "" {
				t.Errorf("values (-want +got):\n%s", d)
			}
			if err := r.AssertConsumed(); err != nil {
				t.Error(err)
			}
			if len(r.Deferred)+len(r.Missing)+len(r.Unused) > 0 {
				t.Errorf("left open: deferred %v, missing %v, unused %v", r.Deferred, r.Missing, r.Unused)
			}
		})
	}
}

// TestSavedModelVariables restores from a SavedModel's directory, its nodes for
// functions and signatures included.
func TestSavedModelVariables(t *testing.T) {
	root := &struct {
		V    *trackable.Variable
		Deep map[string]*trackable.Variable
	}{variable(0, 0, 0), map[string]*trackable.Variable{"w": variable(0)}}
	ck := newCheckpoint(t, root, nil)
	r, err := ck.Restore(ctx, filepath.Join(goldenDir, "saved_model"), nil)
	if err != nil {
		t.Fatal(err)
	}
	wantFloats(t, root.V, 1, 2, 3)
	wantFloats(t, root.Deep["w"], 4)
	if err := r.AssertConsumed(); err != nil {
		t.Error(err)
	}
	if n := ck.SaveCounter().Get(); n != 0 {
		t.Errorf("save_counter %d, want 0: a SavedModel has none", n)
	}

	_, err = ck.Restore(ctx, filepath.Join(goldenDir, "no_such_model"), nil)
	if !errors.Is(err, ErrNotFound) {
		t.Errorf("restore of a missing directory: %v, want ErrNotFound", err)
	}
	_, err = ck.Restore(ctx, t.TempDir(), nil)
	if !errors.Is(err, ErrNotFound) {
		t.Errorf("restore of an empty directory: %v, want ErrNotFound", err)
	}
}

// TestNameBased restores checkpoints of TF1's Saver, in both formats.
func TestNameBased(t *testing.T) {
	for _, version := range []string{"v1", "v2"} {
		t.Run(version, func(t *testing.T) {
			prefix := filepath.Join(goldenDir, "name_based", version)
			root := &struct {
				K *trackable.Variable
				N struct{ B *trackable.Scalar[int64] }
			}{K: variable(0, 0).Named("a/kernel")}
			root.N.B = trackable.NewScalar[int64](0)
			root.N.B.Named("b")
			r, err := newCheckpoint(t, root, nil).Restore(ctx, prefix, nil)
			if err != nil {
				t.Fatal(err)
			}
			wantFloats(t, root.K, 1, 2)
			if got := root.N.B.Get(); got != 3 {
				t.Errorf("b = %d, want 3", got)
			}
			for _, err := range []error{r.AssertConsumed(), r.AssertExistingObjectsMatched(), r.AssertNontrivialMatch()} {
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	prefix := filepath.Join(goldenDir, "name_based", "v2")
	t.Run("strict", func(t *testing.T) {
		root := &struct{ K, X *trackable.Variable }{variable(5, 5).Named("a/kernal"), variable(1).Named("x")}
		_, err := newCheckpoint(t, root, nil).Restore(ctx, prefix, nil)
		var re *RestoreError
		if !errors.As(err, &re) {
			t.Fatalf("error %v, want a RestoreError", err)
		}
		if len(re.Missing) != 2 || len(re.Unused) != 2 || !slices.Contains(re.Missing[0].Nearest, "a/kernel") {
			t.Errorf("missing %v, unused %v", re.Missing, re.Unused)
		}
		wantFloats(t, root.K, 5, 5)
	})
	t.Run("later variables at Sync", func(t *testing.T) {
		root := &struct{ K, L *trackable.Variable }{K: variable(0, 0).Named("a/kernel")}
		ck := newCheckpoint(t, root, nil)
		if _, err := ck.Restore(ctx, prefix, &RestoreOptions{Partial: true}); err != nil {
			t.Fatal(err)
		}
		root.L = trackable.NewVariable(tensor.Scalar[int64](0)).Named("b")
		if err := ck.Sync(ctx); err != nil {
			t.Fatal(err)
		}
		if got, _ := tensor.Item[int64](root.L.Load()); got != 3 {
			t.Errorf("b = %d, want 3", got)
		}
	})
}

func TestRestoreFromScratch(t *testing.T) {
	root := &struct{ V *trackable.Variable }{variable(1)}
	ck := newCheckpoint(t, root, nil)
	r, err := ck.Restore(ctx, "", nil)
	if err != nil || r.Path != "" {
		t.Fatalf("Restore(\"\") = %+v, %v", r, err)
	}
	for name, err := range map[string]error{"consumed": r.AssertConsumed(), "existing": r.AssertExistingObjectsMatched(), "nontrivial": r.AssertNontrivialMatch()} {
		if err == nil {
			t.Errorf("%s: passes though nothing was restored", name)
		}
	}
	r.ExpectPartial()
	if now, err := r.Current(); err != nil || now.Path != "" {
		t.Errorf("Current = %v, %v", now, err)
	}
	wantFloats(t, root.V, 1)
}

// TestStrict checks that mismatches are refused before anything has changed,
// and that the error lists all of them with similar names.
func TestStrict(t *testing.T) {
	type saved struct{ Kernel, Bias, Gone, Shape, Type *trackable.Variable }
	src := written(t, &saved{variable(1), variable(2), variable(3), variable(1, 2), variable(4)}, nil)
	type live struct {
		Kernel, Biass, Shape, Type *trackable.Variable
		Fresh                      *trackable.Variable
	}
	build := func() *live {
		return &live{variable(0), variable(0), variable(0, 0, 0), trackable.NewVariable(tensor.Scalar(0.5)), variable(0)}
	}
	root := build()
	ck := newCheckpoint(t, root, nil)
	_, err := ck.RestoreFS(ctx, src, "ckpt", nil)
	var re *RestoreError
	if !errors.As(err, &re) {
		t.Fatalf("error %v, want a RestoreError", err)
	}
	if d := cmp.Diff([]string{"biass", "fresh"}, paths(re.Missing)); d != "" {
		t.Errorf("missing (-want +got):\n%s", d)
	}
	if d := cmp.Diff([]string{"shape", "type"}, paths(re.Mismatched)); d != "" {
		t.Errorf("mismatched (-want +got):\n%s", d)
	}
	if d := cmp.Diff([]string{"bias", "gone"}, paths(re.Unused)); d != "" {
		t.Errorf("unused (-want +got):\n%s", d)
	}
	if !slices.Contains(re.Missing[0].Nearest, "bias") {
		t.Errorf("biass isn't told of bias: %v", re.Missing[0])
	}
	for _, words := range []string{"nothing was changed", "Partial", "AllowMissing", "float32[3]", "float32[2]", "float64", "similar: bias"} {
		if !strings.Contains(err.Error(), words) {
			t.Errorf("the error doesn't say %q:\n%v", words, err)
		}
	}
	wantFloats(t, root.Kernel, 0)

	// Mismatched values are refused in any case.
	if _, err := ck.RestoreFS(ctx, src, "ckpt", &RestoreOptions{Partial: true, AllowMissing: true}); !errors.As(err, &re) || len(re.Mismatched) != 2 || len(re.Missing)+len(re.Unused) > 0 {
		t.Errorf("error %v, want two mismatched only", err)
	}
	root.Shape, root.Type = variable(0, 0), variable(0)
	r := restored(t, ck, src, &RestoreOptions{Partial: true, AllowMissing: true})
	wantFloats(t, root.Kernel, 1)
	wantFloats(t, root.Biass, 0)
	if d := cmp.Diff([]string{"biass", "fresh"}, paths(r.Missing)); d != "" {
		t.Errorf("missing (-want +got):\n%s", d)
	}
	if d := cmp.Diff([]string{"bias", "gone"}, paths(r.Unused)); d != "" {
		t.Errorf("unused (-want +got):\n%s", d)
	}
	if err := r.AssertExistingObjectsMatched(); err == nil || !strings.Contains(err.Error(), "fresh") {
		t.Errorf("existing objects: %v", err)
	}
	if err := r.AssertConsumed(); err == nil {
		t.Error("consumed passes")
	}
	if err := r.AssertNontrivialMatch(); err != nil {
		t.Error(err)
	}
}

// TestUnusedAttributes checks that an object that no longer is a variable
// leaves the value unused, and that the message contains the path.
func TestUnusedAttributes(t *testing.T) {
	src := written(t, &struct{ V1, V2 *trackable.Variable }{variable(1), variable(2)}, nil)
	root := &struct{ V2 *trackable.Variable }{variable(0)}
	ck := newCheckpoint(t, root, nil)
	_, err := ck.RestoreFS(ctx, src, "ckpt", nil)
	if err == nil || !strings.Contains(err.Error(), "v1") || !strings.Contains(err.Error(), "Partial") {
		t.Errorf("error %v, want one that names v1 and Partial", err)
	}
	r := restored(t, ck, src, &RestoreOptions{Partial: true})
	wantFloats(t, root.V2, 2)
	if err := r.AssertConsumed(); err == nil || !strings.Contains(err.Error(), "nused") || !strings.Contains(err.Error(), "v1") {
		t.Errorf("AssertConsumed: %v", err)
	}
	if err := r.AssertExistingObjectsMatched(); err != nil {
		t.Error(err)
	}
	if err := ck.WriteTo(ctx, vfs.MemDir(), "next"); err != nil {
		t.Errorf("a partial restore keeps the next save from working: %v", err)
	}

	// A node whose object is there, but no variable any more.
	now := &struct {
		V1 *module
		V2 *trackable.Variable
	}{&module{}, variable(0)}
	r = restored(t, newCheckpoint(t, now, nil), src, &RestoreOptions{Partial: true})
	if d := cmp.Diff([]string{"v1"}, paths(r.Unused)); d != "" {
		t.Errorf("unused (-want +got):\n%s", d)
	}
}

// TestAmbiguous: one object of the file is two of the program. The value goes to
// the first; strict restores refuse.
func TestAmbiguous(t *testing.T) {
	type pair struct {
		One, Two *struct{ Var *trackable.Variable }
	}
	dep := &struct{ Var *trackable.Variable }{variable(7)}
	src := written(t, &pair{dep, dep}, nil)
	load := &pair{&struct{ Var *trackable.Variable }{variable(0)}, &struct{ Var *trackable.Variable }{variable(0)}}
	ck := newCheckpoint(t, load, nil)
	_, err := ck.RestoreFS(ctx, src, "ckpt", nil)
	var re *RestoreError
	if !errors.As(err, &re) || len(re.Missing) != 1 || re.Missing[0].Path != "two.var" {
		t.Fatalf("error %v, want two.var missing", err)
	}
	r := restored(t, ck, src, &RestoreOptions{AllowMissing: true})
	wantFloats(t, load.One.Var, 7)
	wantFloats(t, load.Two.Var, 0)
	if r.AssertConsumed() == nil || r.AssertExistingObjectsMatched() == nil {
		t.Error("the assertions pass")
	}
}

// TestCombined checks that one object of the program can be two of the file,
// and gets the values of both.
func TestCombined(t *testing.T) {
	type dep struct {
		trackable.Base
		Var1, Var2 *trackable.Variable
	}
	type pair struct{ One, Two *dep }
	src := written(t, &pair{&dep{Var1: variable(32)}, &dep{Var2: variable(64)}}, nil)
	one := &dep{Var1: variable(0), Var2: variable(0)}
	r := restored(t, newCheckpoint(t, &pair{one, one}, nil), src, nil)
	if err := r.AssertConsumed(); err != nil {
		t.Error(err)
	}
	wantFloats(t, one.Var1, 32)
	wantFloats(t, one.Var2, 64)

	// Two variables of the file are one: the first path wins.
	src = written(t, &struct{ A, B *trackable.Variable }{variable(1), variable(2)}, nil)
	v := variable(0)
	r = restored(t, newCheckpoint(t, &struct{ A, B *trackable.Variable }{v, v}, nil), src, nil)
	if err := r.AssertConsumed(); err != nil {
		t.Error(err)
	}
	wantFloats(t, v, 1)
}

// TestRootAndExtras: one file restores into a root, and into the same objects
// arranged without one.
func TestRootAndExtras(t *testing.T) {
	type extra struct{ Leaf, Other *trackable.Variable }
	r := &rootModule{Z: variable(1), B: variable(2), Child: &module{V: variable(3)}}
	ck := newCheckpoint(t, r, &Options{Extra: &extra{variable(4), variable(5)}})
	dir := vfs.MemDir()
	p, err := ck.SaveTo(ctx, dir, "ckpt")
	if err != nil {
		t.Fatal(err)
	}

	// Without a root.
	type flat struct {
		Z, B, Leaf, Other *trackable.Variable
		Child             *module
	}
	f := &flat{variable(0), variable(0), variable(0), variable(0), &module{V: variable(0)}}
	fck := newCheckpoint(t, f, nil)
	report, err := fck.RestoreFS(ctx, dir, p, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := report.AssertConsumed(); err != nil {
		t.Error(err)
	}
	wantFloats(t, f.Z, 1)
	wantFloats(t, f.Leaf, 4)
	wantFloats(t, f.Child.V.(*trackable.Variable), 3)
	if n := fck.SaveCounter().Get(); n != 1 {
		t.Errorf("save_counter %d, want 1", n)
	}

	// Split differently: an extra becomes the root's own, and the other way round.
	type split struct {
		trackable.Base
		Leaf, B *trackable.Variable
	}
	s := &split{Leaf: variable(0), B: variable(0)}
	ex := map[string]any{"z": variable(0), "other": variable(0), "child": &module{V: variable(0)}}
	report, err = newCheckpoint(t, s, &Options{Extra: ex}).RestoreFS(ctx, dir, p, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := report.AssertConsumed(); err != nil {
		t.Error(err)
	}
	wantFloats(t, s.Leaf, 4)
	wantFloats(t, ex["z"].(*trackable.Variable), 1)

	// The other way round.
	p, err = fck.SaveTo(ctx, dir, "flat")
	if err != nil {
		t.Fatal(err)
	}
	zero(t, r, nil)
	if _, err := ck.RestoreFS(ctx, dir, p, nil); err != nil {
		t.Fatal(err)
	}
	wantFloats(t, r.Z, 1)

	// Clashes.
	if _, err := New(r, &Options{Extra: map[string]any{"z": variable(0)}}); err == nil {
		t.Error("an extra edge with the name of another child is accepted")
	}
	if _, err := New(r, &Options{Extra: map[string]any{"z": r.Z}}); err != nil {
		t.Errorf("the same child twice: %v", err)
	}
	if _, err := New(f, &Options{Extra: map[string]any{"y": r.Z}}); err == nil {
		t.Error("extra edges of a plain struct are accepted")
	}
}

// TestSaveCounter: made at the first save, counted, restored, optional.
func TestSaveCounter(t *testing.T) {
	dir := vfs.MemDir()
	type state struct{ V *trackable.Variable }
	ck := newCheckpoint(t, &state{variable(1)}, nil)
	if err := ck.WriteTo(ctx, dir, "ckpt"); err != nil {
		t.Fatal(err)
	}
	if names := mustOpen(t, dir, "ckpt").Reader().Names(); slices.ContainsFunc(names, func(n string) bool { return strings.HasPrefix(n, "save_counter") }) {
		t.Errorf("Write made a save_counter: %q", names)
	}
	for i, want := range []string{"run/a-1", "run/a-2"} {
		if p, err := ck.SaveTo(ctx, dir, "run/a"); err != nil || p != want {
			t.Errorf("save %d = %q, %v, want %q", i, p, err, want)
		}
	}
	// A file of Write has none: Restore creates it and reports nothing.
	fresh := newCheckpoint(t, &state{variable(0)}, nil)
	r := restored(t, fresh, dir, nil)
	if err := r.AssertConsumed(); err != nil {
		t.Error(err)
	}
	// A file of Save sets it.
	if _, err := fresh.RestoreFS(ctx, dir, "run/a-2", nil); err != nil {
		t.Fatal(err)
	}
	if p, err := fresh.SaveTo(ctx, dir, "run/a"); err != nil || p != "run/a-3" {
		t.Errorf("save after the restore = %q, %v", p, err)
	}
	// Read leaves it alone, and isn't in the way of a save.
	reader := newCheckpoint(t, &state{variable(0)}, nil)
	if _, err := reader.ReadFS(ctx, dir, "run/a-2", nil); err != nil {
		t.Fatal(err)
	}
	if err := reader.WriteTo(ctx, dir, "again"); err != nil {
		t.Error(err)
	}
	// The root may bring its own.
	own := &struct {
		SaveCounter *trackable.Scalar[int64]
		V           *trackable.Variable
	}{trackable.NewScalar[int64](41), variable(0)}
	if p, err := newCheckpoint(t, own, nil).SaveTo(ctx, dir, "own"); err != nil || p != "own-42" {
		t.Errorf("save with a counter of one's own = %q, %v", p, err)
	}
	if _, err := New(&struct{ SaveCounter *trackable.Variable }{variable(0)}, nil); err == nil {
		t.Error("a save_counter that is no int64 scalar is accepted")
	}
}

func mustOpen(t testing.TB, fsys fs.FS, p string) *View {
	t.Helper()
	v, err := OpenFS(ctx, fsys, p, nil)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestStateFile checks that saves without a manager keep the "checkpoint" file,
// which lists only the last one, and that older files restore their values.
func TestStateFile(t *testing.T) {
	folder := t.TempDir()
	type state struct {
		V    *trackable.Variable
		More []*trackable.Variable
	}
	s := &state{V: variable(0)}
	ck := newCheckpoint(t, s, nil)
	for i := range 10 {
		s.V = variable(float32(i + 1))
		s.More = append(s.More, variable(float32(100+i)))
		if _, err := ck.Save(ctx, filepath.Join(folder, "ckpt")); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(filepath.Join(folder, "checkpoint"))
	if err != nil {
		t.Fatal(err)
	}
	if want := "model_checkpoint_path: \"ckpt-10\"\nall_model_checkpoint_paths: \"ckpt-10\"\n"; string(text) != want {
		t.Errorf("state file:\n%s\nwant:\n%s", text, want)
	}
	for i := 1; i <= 10; i++ {
		if _, err := os.Stat(filepath.Join(folder, "ckpt-"+string(rune('0'+i%10))+".index")); i < 10 && err != nil {
			t.Error(err)
		}
	}
	// The directory means its latest.
	if _, err := ck.Restore(ctx, folder, nil); err != nil {
		t.Fatal(err)
	}
	wantFloats(t, s.V, 10)
	// An older one knows less.
	r, err := ck.Restore(ctx, filepath.Join(folder, "ckpt-2"), &RestoreOptions{AllowMissing: true})
	if err != nil {
		t.Fatal(err)
	}
	wantFloats(t, s.V, 2)
	wantFloats(t, s.More[1], 101)
	wantFloats(t, s.More[5], 105)
	if len(r.Missing) != 8 {
		t.Errorf("%d missing, want 8", len(r.Missing))
	}
	if _, err := ck.Save(ctx, filepath.Join(t.TempDir(), "checkpoint")); err != nil {
		t.Errorf("a numbered save with the state file's name as prefix: %v", err)
	}
}

// TestOnWrite: callbacks run in order, after saves and writes.
func TestOnWrite(t *testing.T) {
	var log []string
	note := func(name string) func(context.Context, string) error {
		return func(_ context.Context, p string) error { log = append(log, name+" "+p); return nil }
	}
	o := &Options{OnWrite: []func(context.Context, string) error{note("a"), note("b")}}
	ck := newCheckpoint(t, &struct{ V *trackable.Variable }{variable(1)}, o)
	o.OnWrite[0] = nil // the options were copied
	dir := vfs.MemDir()
	if _, err := ck.SaveTo(ctx, dir, "s"); err != nil {
		t.Fatal(err)
	}
	if err := ck.WriteTo(ctx, dir, "w"); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"a s-1", "b s-1", "a w", "b w"}, log); d != "" {
		t.Errorf("calls (-want +got):\n%s", d)
	}
	failing := newCheckpoint(t, &struct{ V *trackable.Variable }{variable(1)}, &Options{OnWrite: []func(context.Context, string) error{
		func(context.Context, string) error { return errors.New("no room in the log") }}})
	if err := failing.WriteTo(ctx, dir, "f"); err == nil || !strings.Contains(err.Error(), "no room") {
		t.Errorf("error %v", err)
	}
	mustOpen(t, dir, "f")
}

// TestOSPaths: prefixes with directories that don't exist yet, relative ones,
// and files closed after the restore.
func TestOSPaths(t *testing.T) {
	t.Chdir(t.TempDir())
	root := &struct{ V *trackable.Variable }{variable(3)}
	ck := newCheckpoint(t, root, nil)
	for _, prefix := range []string{"here", "./deep/er/ckpt", filepath.Join(t.TempDir(), "x", "abs")} {
		if err := ck.Write(ctx, prefix); err != nil {
			t.Fatal(err)
		}
		for _, p := range []string{prefix, prefix + ".index", prefix + ".data-00000-of-00001"} {
			zero(t, root, nil)
			r, err := ck.Read(ctx, p, nil)
			if err != nil {
				t.Fatal(err)
			}
			wantFloats(t, root.V, 3)
			if err := os.Remove(p); p == prefix+".data-00000-of-00001" && err != nil {
				t.Errorf("a file is still open: %v", err)
			}
			if err := r.AssertConsumed(); err != nil {
				t.Error(err)
			}
			if p == prefix+".index" {
				if err := ck.Write(ctx, prefix); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	// The path is reused.
	root.V = variable(1)
	for _, x := range []float32{1, 2} {
		root.V = variable(x)
		if err := ck.Write(ctx, "again"); err != nil {
			t.Fatal(err)
		}
		if _, err := ck.Read(ctx, "again", nil); err != nil {
			t.Fatal(err)
		}
		wantFloats(t, root.V, x)
	}
}

// TestEmptyContainersIgnored: lists and maps without values are no matter of the
// assertions.
func TestEmptyContainersIgnored(t *testing.T) {
	type state struct {
		V *trackable.Variable
		L []*trackable.Variable
		M map[string]*trackable.Variable
		T *trackable.List[any]
	}
	src := written(t, &state{variable(1), []*trackable.Variable{}, map[string]*trackable.Variable{}, trackable.NewList[any]()}, nil)
	s := &state{V: variable(0)}
	ck := newCheckpoint(t, s, nil)
	r := restored(t, ck, src, nil)
	for _, err := range []error{r.AssertConsumed(), r.AssertNontrivialMatch(), r.AssertExistingObjectsMatched()} {
		if err != nil {
			t.Error(err)
		}
	}
	s.L, s.M, s.T = []*trackable.Variable{}, map[string]*trackable.Variable{}, trackable.NewList[any]()
	if err := r.AssertExistingObjectsMatched(); err != nil {
		t.Error(err)
	}
	if r, err := ck.Restore(ctx, "", nil); err != nil || r.Path != "" {
		t.Error(err)
	}
	// Nothing but the root.
	empty := written(t, &struct{ L []*trackable.Variable }{}, nil)
	r = restored(t, newCheckpoint(t, &struct{ L []*trackable.Variable }{}, nil), empty, nil)
	if err := r.AssertNontrivialMatch(); r.l == nil || err != nil && !strings.Contains(err.Error(), "has no edges yet") {
		t.Error(err)
	}
}
