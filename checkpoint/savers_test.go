package checkpoint

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairnml/cairn/bundle"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
	"github.com/cairnml/cairn/vfs"
)

func always(trackable.Trackable) bool { return true }

func TestRegister(t *testing.T) {
	s := new(Savers)
	for _, c := range []struct {
		pkg  string
		sv   Registrable
		want string // part of the error, "" for none
	}{
		{"", Saver{Name: "a", Matches: always}, ""},
		{"P", Saver{Name: "a", Matches: always}, ""},
		{"P", Saver{Name: "a", Matches: always}, "registered already"},
		{"Custom", Saver{Name: "a", Matches: always}, "registered already"},
		{"tf", Saver{Name: "a", Matches: always}, "TensorFlow's own"},
		{"P", Saver{Matches: always}, "no name"},
		{"P", Saver{Name: "b"}, "no Matches"},
		{"P", Saver{Name: "b/c", Matches: always}, "slash"},
		{"P", nil, "no saver"},
	} {
		err := s.Register(c.pkg, c.sv)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("Register(%q, %+v) = %v, want %q", c.pkg, c.sv, err, c.want)
		}
	}
	if d := cmp.Diff([]string{"Custom.a", "P.a"}, s.Names()); d != "" {
		t.Errorf("names (-want +got):\n%s", d)
	}
	s.Allow("P.z")
	if err := s.Register("P", Saver{Name: "y", Matches: always}); err == nil || !strings.Contains(err.Error(), "P.z") {
		t.Errorf("a saver that isn't allowed: %v", err)
	}
	if err := s.Register("P", Saver{Name: "z", Matches: always}); err != nil {
		t.Error(err)
	}
	if _, ok := s.Lookup("P.none"); ok {
		t.Error("Lookup finds what isn't there")
	}
	none := new(Savers)
	none.Allow()
	if err := none.Register("P", Saver{Name: "z", Matches: always}); err == nil {
		t.Error("an empty list allows a saver")
	}
}

// TestLaterSaversFirst: of several savers that match, the last registered is in
// charge.
func TestLaterSaversFirst(t *testing.T) {
	s := new(Savers)
	for _, name := range []string{"all", "scalars", "none"} {
		matches := map[string]func(trackable.Trackable) bool{
			"all":     always,
			"scalars": func(o trackable.Trackable) bool { _, ok := o.(*trackable.Scalar[int32]); return ok },
			"none":    func(trackable.Trackable) bool { return false },
		}[name]
		if err := s.Register("P", Saver{Name: name, Matches: matches}); err != nil {
			t.Fatal(err)
		}
	}
	if name, _, _ := s.Find(trackable.NewScalar[int32](0)); name != "P.scalars" {
		t.Errorf("a scalar's saver is %q", name)
	}
	if name, _, _ := s.Find(variable(0)); name != "P.all" {
		t.Errorf("a variable's saver is %q", name)
	}
}

// TestStackedParts: the document's example, there and back.
func TestStackedParts(t *testing.T) {
	o := &Options{Savers: stackSavers(t)}
	src := written(t, newStacks(), o)
	live := newStacks()
	zero(t, live, nil)
	r := restored(t, newCheckpoint(t, live, o), src, nil)
	wantFloats(t, &live.Stack.Parts[2].Variable, 5, 6)
	wantFloats(t, &live.Other.Parts[0].Variable, 7, 8)
	wantFloats(t, live.Plain, 9)
	if err := r.AssertConsumed(); err != nil {
		t.Error(err)
	}
	if got := readFiles(t, src, "."); len(got) != 3 {
		t.Errorf("files %v, want an index and two shards", slices.Collect(mapKeys(got)))
	}
	v := mustOpen(t, src, "ckpt")
	if n := v.Reader().Header().NumShards; n != 2 {
		t.Errorf("%d shards, want 2", n)
	}
	if e, _ := v.Reader().Entry("stack/value"); e.Shard != 0 {
		t.Errorf("the saver's values are in shard %d, want 0", e.Shard)
	}
	if left := src.Names(); slices.ContainsFunc(left, func(n string) bool { return strings.Contains(n, "Custom") || strings.Contains(n, "_temp") }) {
		t.Errorf("files left over: %q", left)
	}
}

func mapKeys(m map[string]string) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// TestAbsentSaver checks that the error names the saver that a checkpoint
// needs, and that nothing changes.
func TestAbsentSaver(t *testing.T) {
	src := written(t, newStacks(), &Options{Savers: stackSavers(t)})
	live := newStacks()
	zero(t, live, nil)
	_, err := newCheckpoint(t, live, &Options{Savers: new(Savers)}).RestoreFS(ctx, src, "ckpt", nil)
	var se *SaverError
	if !errors.As(err, &se) || se.Saver != "Custom.stacks" || !strings.Contains(err.Error(), "register it") {
		t.Errorf("error %v, want a SaverError that names Custom.stacks", err)
	}
	wantFloats(t, live.Plain, 0)

	// Strict about the predicate.
	refuse := stackedSaver
	refuse.Matches = func(o trackable.Trackable) bool { _, ok := o.(*part); return ok }
	for _, lenient := range []bool{false, true} {
		refuse.Lenient = lenient
		s := new(Savers)
		if err := s.Register("Custom", refuse); err != nil {
			t.Fatal(err)
		}
		_, err := newCheckpoint(t, live, &Options{Savers: s}).RestoreFS(ctx, src, "ckpt", nil)
		if lenient && err != nil {
			t.Errorf("lenient: %v", err)
		}
		if !lenient && (!errors.As(err, &se) || se.Refused == "") {
			t.Errorf("strict: %v", err)
		}
	}
}

// TestShardNames checks that names returned by a saver must begin with the
// prefix it was given, and that it may return none.
func TestShardNames(t *testing.T) {
	type state struct {
		P *part
		V *trackable.Variable
	}
	var prefix string
	save := func(returns func(string) []string, write bool) *Options {
		s := new(Savers)
		err := s.Register("Pkg", Saver{Name: "x", Matches: func(o trackable.Trackable) bool { _, ok := o.(*part); return ok },
			Save: func(ctx context.Context, call *SaveCall) ([]string, error) {
				prefix = call.Prefix
				names := returns(call.Prefix)
				for _, n := range names {
					if !write {
						break
					}
					w, err := bundle.NewWriter(call.Dir, n, nil)
					if err != nil {
						return nil, err
					}
					for p, x := range Only[*part](call.Objects) {
						if err := w.Add(ctx, p+"/"+n, x.Load()); err != nil {
							return nil, err
						}
					}
					if err := w.Finish(ctx); err != nil {
						return nil, err
					}
				}
				return names, nil
			},
			Restore: func(context.Context, *RestoreCall) error { return nil }})
		if err != nil {
			t.Fatal(err)
		}
		return &Options{Savers: s}
	}
	root := &state{newPart(1, 2), variable(3)}
	dir := vfs.MemDir()
	err := newCheckpoint(t, root, save(func(string) []string { return []string{"elsewhere"} }, false)).WriteTo(ctx, dir, "run/ckpt")
	if err == nil || !strings.Contains(err.Error(), "elsewhere") {
		t.Errorf("a shard outside the prefix: %v", err)
	}
	if prefix != "run/ckpt-Pkg.x" {
		t.Errorf("the saver got the prefix %q", prefix)
	}
	none := save(func(string) []string { return nil }, false)
	if err := newCheckpoint(t, root, none).WriteTo(ctx, dir, "none"); err != nil {
		t.Fatal(err)
	}
	if n := mustOpen(t, dir, "none").Reader().Header().NumShards; n != 1 {
		t.Errorf("%d shards without one of the saver's, want 1", n)
	}
	two := save(func(p string) []string { return []string{p + "-b", p + "-a"} }, true)
	if err := newCheckpoint(t, root, two).WriteTo(ctx, dir, "two"); err != nil {
		t.Fatal(err)
	}
	v := mustOpen(t, dir, "two")
	for name, shard := range map[string]int{"p/two-Pkg.x-b": 0, "p/two-Pkg.x-a": 1, "v/.ATTRIBUTES/VARIABLE_VALUE": 2} {
		if e, ok := v.Reader().Entry(name); !ok || e.Shard != shard {
			t.Errorf("%s: entry %v in shard %d, want %d", name, ok, e.Shard, shard)
		}
	}
}

// TestHalfSavers: without Save, or without Restore, the default runs.
func TestHalfSavers(t *testing.T) {
	type state struct{ P *part }
	match := func(o trackable.Trackable) bool { _, ok := o.(*part); return ok }
	with := func(s Saver) *Options {
		s.Name, s.Matches = "half", match
		set := new(Savers)
		if err := set.Register("Pkg", s); err != nil {
			t.Fatal(err)
		}
		return &Options{Savers: set}
	}
	t.Run("no Save", func(t *testing.T) {
		var got []string
		o := with(Saver{Restore: func(ctx context.Context, call *RestoreCall) error {
			for p, x := range Only[*part](call.Objects) {
				got = append(got, p)
				t, err := call.Reader.Read(ctx, p)
				if err != nil {
					return err
				}
				if err := x.Store(t); err != nil {
					return err
				}
			}
			return nil
		}})
		src := written(t, &state{newPart(1, 2)}, o)
		live := &state{newPart(0, 0)}
		restored(t, newCheckpoint(t, live, o), src, nil)
		// The default wrote it, so the name is the default's key, as in TensorFlow.
		if d := cmp.Diff([]string{"p/.ATTRIBUTES/VARIABLE_VALUE"}, got); d != "" {
			t.Errorf("objects (-want +got):\n%s", d)
		}
		wantFloats(t, &live.P.Variable, 1, 2)
	})
	t.Run("no Restore", func(t *testing.T) {
		o := with(Saver{Save: func(ctx context.Context, call *SaveCall) ([]string, error) {
			w, err := call.NewWriter(nil)
			if err != nil {
				return nil, err
			}
			for p, x := range Only[*part](call.Objects) {
				if err := w.Add(ctx, trackable.AttributeKey(p, trackable.VariableValue), x.Load()); err != nil {
					return nil, err
				}
			}
			return []string{call.Prefix}, w.Finish(ctx)
		}})
		src := written(t, &state{newPart(1, 2)}, o)
		live := &state{newPart(0, 0)}
		r := restored(t, newCheckpoint(t, live, o), src, nil)
		wantFloats(t, &live.P.Variable, 1, 2)
		if err := r.AssertConsumed(); err != nil {
			t.Error(err)
		}
	})
	t.Run("an error of Save", func(t *testing.T) {
		o := with(Saver{Save: func(context.Context, *SaveCall) ([]string, error) { return nil, errors.New("no ink") }})
		err := newCheckpoint(t, &state{newPart(1)}, o).WriteTo(ctx, vfs.MemDir(), "x")
		if err == nil || !strings.Contains(err.Error(), "no ink") || !strings.Contains(err.Error(), "Pkg.half") {
			t.Errorf("error %v", err)
		}
		// Files written before the failure are removed.
		o = with(Saver{Save: func(ctx context.Context, call *SaveCall) ([]string, error) {
			w, err := call.NewWriter(nil)
			if err != nil {
				return nil, err
			}
			return nil, errors.Join(w.Finish(ctx), errors.New("no ink"))
		}})
		dir := vfs.MemDir()
		err = newCheckpoint(t, &state{newPart(1)}, o).WriteTo(ctx, dir, "run/x")
		if err == nil || len(dir.Names()) > 0 {
			t.Errorf("error %v, files left over %q", err, dir.Names())
		}
	})
}

// TestDelayedSaver: objects that a saver has in charge may come later, too.
func TestDelayedSaver(t *testing.T) {
	o := &Options{Savers: stackSavers(t)}
	src := written(t, newStacks(), o)
	live := &stacks{Plain: variable(0)}
	ck := newCheckpoint(t, live, o)
	r := restored(t, ck, src, nil)
	if len(r.Deferred) == 0 {
		t.Error("nothing is deferred")
	}
	if err := ck.WriteTo(ctx, vfs.MemDir(), "x"); err == nil {
		t.Error("a save passes while the stacks are pending")
	}
	live.Stack, live.Other = newStacks().Stack, newStacks().Other
	zero(t, live, nil)
	if err := ck.Sync(ctx); err != nil {
		t.Fatal(err)
	}
	wantFloats(t, &live.Stack.Parts[0].Variable, 1, 2)
	wantFloats(t, &live.Other.Parts[0].Variable, 7, 8)
}

// TestObjectsWithoutAParent: a saver gets objects from all over the graph, in
// its order.
func TestObjectsWithoutAParent(t *testing.T) {
	var got []string
	s := new(Savers)
	err := s.Register("P", Saver{Name: "x", Matches: func(o trackable.Trackable) bool { _, ok := o.(*part); return ok },
		Save: func(_ context.Context, call *SaveCall) ([]string, error) {
			for p := range call.Objects.All() {
				got = append(got, p)
			}
			return nil, nil
		}})
	if err != nil {
		t.Fatal(err)
	}
	written(t, &struct {
		B *part
		A struct {
			Deep []*part
			X    *part
		}
	}{newPart(1), struct {
		Deep []*part
		X    *part
	}{[]*part{newPart(2)}, newPart(3)}}, &Options{Savers: s})
	if d := cmp.Diff([]string{"b", "a/x", "a/deep/0"}, got); d != "" {
		t.Errorf("objects (-want +got):\n%s", d)
	}
	if n := MakeObjects(Object{"a", tensor.Float32}).Len(); n != 1 {
		t.Error(n)
	}
}

// The directory that the default values' shards pass through is gone in the
// end.
func TestSaverLeavesNoFolder(t *testing.T) {
	dir := t.TempDir()
	ck := newCheckpoint(t, newStacks(), &Options{Savers: stackSavers(t)})
	if _, err := ck.Save(t.Context(), filepath.Join(dir, "ckpt")); err != nil {
		t.Fatal(err)
	}
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range list {
		names = append(names, e.Name())
	}
	want := []string{"checkpoint", "ckpt-1.data-00000-of-00002", "ckpt-1.data-00001-of-00002", "ckpt-1.index"}
	if !slices.Equal(names, want) {
		t.Errorf("the directory holds %q, want %q", names, want)
	}
}

// TestWhatASaverCanKnowIsCheckedBeforeAnythingChanges checks that a missing or
// short file, or an error of the saver's own Check, leaves the program
// unchanged.
func TestWhatASaverCanKnowIsCheckedBeforeAnythingChanges(t *testing.T) {
	o := &Options{Savers: stackSavers(t)}
	refused := errors.New("the stack is too high")
	checking := stackedSaver
	checking.Check = func(ctx context.Context, call *RestoreCall) error {
		if call.Objects.Len() == 0 || call.Reader == nil || call.Prefix != "ckpt" {
			t.Errorf("Check gets %d objects, the reader %v and the prefix %q", call.Objects.Len(), call.Reader, call.Prefix)
		}
		return refused
	}
	strict := new(Savers)
	if err := strict.Register("Custom", checking); err != nil {
		t.Fatal(err)
	}
	first := "ckpt.data-00000-of-00002" // the saver's
	for name, c := range map[string]struct {
		options *Options
		spoil   func(src *vfs.Mem)
		want    error
	}{
		"a missing file":    {o, func(src *vfs.Mem) { src.Remove(first) }, bundle.ErrCorrupt},
		"a short file":      {o, func(src *vfs.Mem) { src.WriteFile(first, nil) }, bundle.ErrCorrupt},
		"the saver's check": {&Options{Savers: strict}, func(*vfs.Mem) {}, refused},
	} {
		t.Run(name, func(t *testing.T) {
			src := written(t, newStacks(), o)
			c.spoil(src)
			live := newStacks()
			zero(t, live, nil)
			ck := newCheckpoint(t, live, c.options)
			if _, err := ck.RestoreFS(ctx, src, "ckpt", nil); !errors.Is(err, c.want) {
				t.Fatalf("error %v, want %v", err, c.want)
			}
			wantFloats(t, live.Plain, 0)
			if err := ck.WriteTo(ctx, vfs.MemDir(), "again"); err != nil {
				t.Errorf("a save after a restore that changed nothing: %v", err)
			}
		})
	}
}
