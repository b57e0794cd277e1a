// Package checkpointtest helps the tests of programs that keep checkpoints:
// [Keys] freezes the names of values in files, [Check] checks that custom
// trackable types behave as package checkpoint expects.
package checkpointtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cairnml/cairn/checkpoint"
	"github.com/cairnml/cairn/internal/restoring"
	"github.com/cairnml/cairn/trackable"
	"github.com/cairnml/cairn/vfs"
)

// UpdateEnv is the environment variable that makes [Keys] write its golden file
// instead of comparing with it, if it is set to any value.
const UpdateEnv = "CHECKPOINTTEST_UPDATE"

// Keys fails t if a checkpoint of root would hold other keys, types or shapes
// than the golden file lists: a field was renamed, a layer is built otherwise.
// Checkpoints that users have would no longer restore.
//
// The golden file is text, a line for each tensor: name, type and shape. Run the test
// with CHECKPOINTTEST_UPDATE=1 to write it.
func Keys(t testing.TB, root any, golden string) {
	t.Helper()
	got, err := keys(root)
	if err != nil {
		t.Errorf("checkpointtest: %v", err)
		return
	}
	if os.Getenv(UpdateEnv) != "" {
		if err := os.MkdirAll(filepath.Dir(golden), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(golden, []byte(strings.Join(got, "\n")+"\n"), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	text, err := os.ReadFile(golden)
	if errors.Is(err, fs.ErrNotExist) {
		t.Errorf("checkpointtest: there is no golden file %s yet; write it with %s=1 go test", golden, UpdateEnv)
		return
	} else if err != nil {
		t.Errorf("checkpointtest: %v", err)
		return
	}
	want := strings.Split(strings.TrimRight(strings.ReplaceAll(string(text), "\r\n", "\n"), "\n"), "\n")
	for _, line := range want {
		if !slices.Contains(got, line) {
			t.Errorf("checkpointtest: %s has %q, a checkpoint made now has not: older checkpoints won't restore", golden, line)
		}
	}
	for _, line := range got {
		if !slices.Contains(want, line) {
			t.Errorf("checkpointtest: a checkpoint made now has %q, %s has not (after a change that is meant, write it anew with %s=1 go test)", line, golden, UpdateEnv)
		}
	}
}

func keys(root any) ([]string, error) {
	_, dir, err := write(root)
	if err != nil {
		return nil, err
	}
	v, err := checkpoint.OpenFS(context.Background(), dir, prefix, nil)
	if err != nil {
		return nil, err
	}
	defer v.Close()
	var lines []string
	for _, x := range v.Values() {
		if x.Name != trackable.ObjectGraphKey {
			lines = append(lines, fmt.Sprintf("%s %v%v", x.Name, x.DType, x.Shape))
		}
	}
	return lines, nil
}

const prefix = "ckpt"

func write(root any) (*checkpoint.Checkpoint, *vfs.Mem, error) {
	ck, err := checkpoint.New(root, nil)
	if err != nil {
		return nil, nil, err
	}
	dir := vfs.MemDir()
	return ck, dir, ck.WriteTo(context.Background(), dir, prefix)
}

// Check fails t if objects of a type can't be checkpointed as they should be.
// build makes a fresh, built object graph each time; the values may differ from
// call to call, the structure may not. It checks that
//
//   - the graph can be walked, and walking it again returns the same;
//   - two graphs that build makes have the same keys, so that one can restore
//     the checkpoint of the other;
//   - a checkpoint restores into another graph, with nothing left over on
//     either side, and saving it again produces the same bytes;
//   - no object accepts an edge that it has already.
func Check(t testing.TB, build func() any) {
	t.Helper()
	ctx := context.Background()
	first, second := build(), build()
	if first == nil || first == second {
		t.Errorf("checkpointtest: build must make a new object each time")
		return
	}
	g, err := trackable.Walk(first, nil)
	if err != nil {
		t.Errorf("checkpointtest: %v", err)
		return
	}
	again, err := trackable.Walk(first, nil)
	if err != nil {
		t.Errorf("checkpointtest: walking it again: %v", err)
		return
	}
	if len(g.Nodes) != len(again.Nodes) {
		t.Errorf("checkpointtest: a second walk finds %d objects, the first found %d; are children made on every call?", len(again.Nodes), len(g.Nodes))
		return
	}
	for id := range g.Nodes {
		n := &g.Nodes[id]
		if trackable.Identity(n.Object) != trackable.Identity(again.Nodes[id].Object) {
			t.Errorf("checkpointtest: %s is another object at the second walk; keep children, don't make them on every call", g.Human(id))
		}
		for _, e := range n.Edges {
			if internals.Accepts(n.Object, e.Name) == restoring.AcceptYes {
				t.Errorf("checkpointtest: %s (%T) declares that it may still get %q, which it has", g.Human(id), n.Object, e.Name)
			}
		}
	}

	_, dir, err := write(first)
	if err != nil {
		t.Errorf("checkpointtest: saving: %v", err)
		return
	}
	ck, err := checkpoint.New(second, nil)
	if err != nil {
		t.Errorf("checkpointtest: %v", err)
		return
	}
	r, err := ck.ReadFS(ctx, dir, prefix, nil)
	if err != nil {
		t.Errorf("checkpointtest: restoring into another graph: %v", err)
		return
	}
	if err := r.AssertConsumed(); err != nil {
		t.Errorf("checkpointtest: %v", err)
		return
	}
	copied := vfs.MemDir()
	if err := ck.WriteTo(ctx, copied, prefix); err != nil {
		t.Errorf("checkpointtest: saving the restored objects: %v", err)
		return
	}
	for _, name := range dir.Names() {
		a, errA := dir.ReadFile(name)
		b, errB := copied.ReadFile(name)
		if errA != nil || errB != nil || !bytes.Equal(a, b) {
			t.Errorf("checkpointtest: %s differs after a save, a restore and a save (%v, %v): a value wasn't restored, or serializing isn't deterministic", name, errA, errB)
		}
	}
}
