package checkpoint

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cairnml/cairn/trackable"
	"github.com/cairnml/cairn/vfs"
)

type covering struct {
	trackable.Base
	Vars  []*trackable.Variable
	Named map[string]*trackable.Variable
	List  *trackable.List[*trackable.Variable]
	Empty *struct{ V *trackable.Variable }
	Inner *struct{ W *trackable.Variable }
}

func newCovering() *covering {
	return &covering{
		Vars:  []*trackable.Variable{variable(1), variable(2), variable(3)},
		Named: map[string]*trackable.Variable{"a": variable(4)},
		List:  trackable.NewList(variable(5)),
		Empty: &struct{ V *trackable.Variable }{},
		Inner: &struct{ W *trackable.Variable }{variable(6)},
	}
}

// TestAssertionsSeeWhatAppearedSince a restore in which every object found its
// value: in a field, a slice, a map, a list, below a Base, and below a variable.
func TestAssertionsSeeWhatAppearedSince(t *testing.T) {
	dir := vfs.MemDir()
	if err := newCheckpoint(t, newCovering(), nil).WriteTo(ctx, dir, "ck"); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(c *covering) error{
		"nothing":               nil,
		"slice":                 func(c *covering) error { c.Vars = append(c.Vars, variable(0)); return nil },
		"slice's element":       func(c *covering) error { c.Vars[1] = variable(0); return nil },
		"map":                   func(c *covering) error { c.Named["b"] = variable(0); return nil },
		"field":                 func(c *covering) error { c.Inner.W = variable(0); return nil },
		"field of what is bare": func(c *covering) error { c.Empty.V = variable(0); return nil },
		"another object":        func(c *covering) error { c.Inner = &struct{ W *trackable.Variable }{variable(0)}; return nil },
		"list":                  func(c *covering) error { return c.List.Append(variable(0)) },
		"base":                  func(c *covering) error { return c.Attach("more", variable(0)) },
		"variable":              func(c *covering) error { return c.Vars[0].TrackableNode().Attach("more", variable(0)) },
	} {
		t.Run(name, func(t *testing.T) {
			c := newCovering()
			ck := newCheckpoint(t, c, nil)
			report, err := ck.ReadFS(ctx, dir, "ck", &RestoreOptions{AllowMissing: true})
			if err != nil {
				t.Fatal(err)
			}
			if err := report.AssertConsumed(); err != nil {
				t.Fatalf("before: %v", err)
			}
			if report.l.covered == nil {
				t.Error("the match isn't known to be complete")
			}
			if change == nil {
				return
			}
			if err := change(c); err != nil {
				t.Fatal(err)
			}
			for what, err := range map[string]error{"AssertConsumed": report.AssertConsumed(), "AssertExistingObjectsMatched": report.AssertExistingObjectsMatched()} {
				if err == nil || !strings.Contains(err.Error(), "no value from") {
					t.Errorf("%s: %v", what, err)
				}
			}
		})
	}
}

// TestIncompleteMatchesAreWalked checks that objects missing from the file are
// found at any place.
func TestIncompleteMatchesAreWalked(t *testing.T) {
	dir := vfs.MemDir()
	if err := newCheckpoint(t, newCovering(), nil).WriteTo(ctx, dir, "ck"); err != nil {
		t.Fatal(err)
	}
	shared := newCovering()
	shared.Vars[2] = shared.Vars[0]
	more := func(change func(c *covering)) *covering {
		c := newCovering()
		change(c)
		return c
	}
	for want, c := range map[string]*covering{
		"vars.3":        more(func(c *covering) { c.Vars = append(c.Vars, variable(0)) }),
		"named.z":       more(func(c *covering) { c.Named["z"] = variable(0) }),
		"empty.v":       more(func(c *covering) { c.Empty.V = variable(0) }),
		"vars.0.below":  more(func(c *covering) { c.Vars[0].TrackableNode().Attach("below", variable(0)) }),
		"inner.w.below": more(func(c *covering) { c.Inner.W.TrackableNode().Attach("below", variable(0)) }),
		"list.1":        more(func(c *covering) { c.List.Append(variable(0)) }),
	} {
		_, err := newCheckpoint(t, c, nil).ReadFS(ctx, dir, "ck", nil)
		var missing []string
		if refused, ok := err.(*RestoreError); ok {
			for _, it := range refused.Missing {
				missing = append(missing, it.Path)
			}
		}
		if fmt.Sprint(missing) != "["+want+"]" {
			t.Errorf("missing %q, want %s: %v", missing, want, err)
		}
	}
	// One object for two of the file is complete: no object lacks a value.
	report, err := newCheckpoint(t, shared, nil).ReadFS(ctx, dir, "ck", nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := report.AssertConsumed(); err != nil {
		t.Error(err)
	}
}
