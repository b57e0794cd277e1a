package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/cairnml/cairn/bundle"
	"github.com/cairnml/cairn/internal/pb"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
	"github.com/cairnml/cairn/vfs"
)

// withGraph writes a checkpoint with one value and the given object graph.
func withGraph(t testing.TB, graph string) *vfs.Mem {
	t.Helper()
	dir := vfs.MemDir()
	w, err := bundle.NewWriter(dir, "ckpt", nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(
		w.Add(ctx, "v/.ATTRIBUTES/VARIABLE_VALUE", tensor.Scalar[float32](1)),
		w.Add(ctx, trackable.ObjectGraphKey, tensor.Scalar(graph)),
		w.Finish(ctx)); err != nil {
		t.Fatal(err)
	}
	return dir
}

func child(name string, id int32) *pb.ObjectReference {
	return &pb.ObjectReference{LocalName: name, NodeId: id}
}

func value(key string) []*pb.SerializedTensor {
	return []*pb.SerializedTensor{{Name: trackable.VariableValue, CheckpointKey: key}}
}

func marshal(nodes ...*pb.TrackableObject) string {
	return string((&pb.TrackableObjectGraph{Nodes: nodes}).Marshal())
}

// TestHostileGraphs: lying, cyclic and deep object graphs are refused or do no
// harm.
func TestHostileGraphs(t *testing.T) {
	const key = "v/.ATTRIBUTES/VARIABLE_VALUE"
	for _, c := range []struct {
		name, graph, want string // want: part of the error, "" for none
	}{
		{"empty", "", "no node"},
		{"garbage", "\xff\xff\xff", "corrupt"},
		{"truncated", marshal(&pb.TrackableObject{Children: []*pb.ObjectReference{child("v", 0)}})[:4], "corrupt"},
		{"child out of range", marshal(&pb.TrackableObject{Children: []*pb.ObjectReference{child("v", 7)}}), `child "v" of node 0 is node 7`},
		{"negative child", marshal(&pb.TrackableObject{Children: []*pb.ObjectReference{child("v", -1)}}), "node -1"},
		{"slot out of range", marshal(&pb.TrackableObject{SlotVariables: []*pb.SlotVariableReference{{SlotName: "m", SlotVariableNodeId: 9}}}), `slot "m"`},
		{"slot's variable out of range", marshal(&pb.TrackableObject{SlotVariables: []*pb.SlotVariableReference{{SlotName: "m", OriginalVariableNodeId: -5}}}), `slot "m"`},
		{"a slot of itself", marshal(&pb.TrackableObject{
			Children:      []*pb.ObjectReference{child("v", 1)},
			SlotVariables: []*pb.SlotVariableReference{{SlotName: "m"}}}, &pb.TrackableObject{Attributes: value(key)}), ""},
		{"cycle", marshal(
			&pb.TrackableObject{Children: []*pb.ObjectReference{child("root", 0), child("v", 1)}},
			&pb.TrackableObject{Children: []*pb.ObjectReference{child("up", 0), child("me", 1)}, Attributes: value(key)}), ""},
		{"one name twice", marshal(
			&pb.TrackableObject{Children: []*pb.ObjectReference{child("v", 1), child("v", 2)}},
			&pb.TrackableObject{Attributes: value(key)}, &pb.TrackableObject{Attributes: value(key)}), ""},
		{"key that isn't there", marshal(
			&pb.TrackableObject{Children: []*pb.ObjectReference{child("v", 1)}},
			&pb.TrackableObject{Attributes: value("other")}), "no such tensor"},
		{"the graph as a variable", marshal(
			&pb.TrackableObject{Children: []*pb.ObjectReference{child("v", 1)}},
			&pb.TrackableObject{Attributes: value(trackable.ObjectGraphKey)}), "incompatible type"},
		{"a saver without a name", marshal(
			&pb.TrackableObject{Children: []*pb.ObjectReference{child("v", 1)}},
			&pb.TrackableObject{Attributes: value(key), RegisteredSaver: &pb.RegisteredSaver{}}), ""},
		{"values that lead nowhere", marshal(
			&pb.TrackableObject{Children: []*pb.ObjectReference{child("v", 1)}},
			&pb.TrackableObject{Attributes: value(key)}, &pb.TrackableObject{Attributes: value(key)}), "nothing leads to"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := withGraph(t, c.graph)
			root := &struct{ V *trackable.Variable }{variable(0)}
			_, err := newCheckpoint(t, root, nil).RestoreFS(ctx, dir, "ckpt", nil)
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Fatalf("error %v, want %q", err, c.want)
			}
			if c.want == "" {
				wantFloats(t, root.V, 1)
				return
			}
			wantFloats(t, root.V, 0)
			if v, err := OpenFS(ctx, dir, "ckpt", nil); err == nil {
				v.Nodes()
				v.Close()
			} else if !errors.Is(err, bundle.ErrCorrupt) {
				t.Errorf("OpenFS: %v, want ErrCorrupt", err)
			}
		})
	}
	t.Run("the graph isn't a string", func(t *testing.T) {
		dir := vfs.MemDir()
		w, err := bundle.NewWriter(dir, "ckpt", nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(w.Add(ctx, trackable.ObjectGraphKey, tensor.Scalar[int32](1)), w.Finish(ctx)); err != nil {
			t.Fatal(err)
		}
		if _, err := OpenFS(ctx, dir, "ckpt", nil); !errors.Is(err, bundle.ErrCorrupt) {
			t.Errorf("error %v, want ErrCorrupt", err)
		}
	})
}

// TestDeepGraph: a chain of 100,000 objects in a file is walked without
// recursion, in little time and memory.
func TestDeepGraph(t *testing.T) {
	const depth = 100_000
	nodes := make([]*pb.TrackableObject, depth)
	for i := range nodes {
		nodes[i] = &pb.TrackableObject{}
		if i < depth-1 {
			nodes[i].Children = []*pb.ObjectReference{child("down", int32(i+1)), child("up", int32(max(i-1, 0)))}
		}
	}
	nodes[depth-1].Attributes = value("v/.ATTRIBUTES/VARIABLE_VALUE")
	dir := withGraph(t, marshal(nodes...))
	nodes = nil
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)

	root := &struct{ Down *node }{new(node)}
	ck := newCheckpoint(t, root, nil)
	r := restored(t, ck, dir, nil)
	if len(r.Deferred) != 1 || !strings.HasPrefix(r.Deferred[0].Path, "….down.down") {
		t.Errorf("deferred %v", r.Deferred)
	}
	mustOpen(t, dir, "ckpt").Nodes()
	runtime.ReadMemStats(&after)
	if used := int64(after.HeapAlloc) - int64(before.HeapAlloc); used > 200<<20 {
		t.Errorf("%d MiB are held", used>>20)
	}
}

// TestManyDeferredDeliveries: 20,000 elements appended to a list with a pending restore take
// time in proportion.
func TestManyDeferredDeliveries(t *testing.T) {
	const n = 20_000
	vars := make([]*trackable.Variable, n)
	for i := range vars {
		vars[i] = variable(float32(i))
	}
	dir := written(t, &struct{ L []*trackable.Variable }{vars}, nil)
	l := trackable.NewList[*trackable.Variable]()
	r := restored(t, newCheckpoint(t, &struct {
		L *trackable.List[*trackable.Variable]
	}{l}, nil), dir, nil)
	for range n {
		if err := l.Append(variable(-1)); err != nil {
			t.Fatal(err)
		}
	}
	wantFloats(t, l.At(n-1), n-1)
	if err := r.AssertConsumed(); err != nil {
		t.Error(err)
	}
}

// TestLongNames: a report of a file whose names multiply along its paths stays
// small, and thousands of missing keys are reported in little time.
func TestLongNames(t *testing.T) {
	long := strings.Repeat("x", 1<<20)
	nodes := []*pb.TrackableObject{{}}
	for i := range 30 {
		nodes[i].Children = []*pb.ObjectReference{child(long, int32(i+1))}
		nodes = append(nodes, &pb.TrackableObject{})
	}
	last := nodes[len(nodes)-1]
	for i := range 1000 {
		last.Children = append(last.Children, child(fmt.Sprint(i), int32(len(nodes))))
		nodes = append(nodes, &pb.TrackableObject{Attributes: value("v/.ATTRIBUTES/VARIABLE_VALUE")})
	}
	dir := withGraph(t, marshal(nodes...))
	nodes = nil
	r := restored(t, newCheckpoint(t, new(node), nil), dir, nil)
	size := 0
	for _, it := range r.Deferred {
		size += len(it.Path)
	}
	if len(r.Deferred) != 1000 || size > 33<<20 {
		t.Errorf("%d deferred, %d bytes of paths", len(r.Deferred), size)
	}

	many := make([]*pb.TrackableObject, 3001)
	many[0] = &pb.TrackableObject{Children: []*pb.ObjectReference{child("l", 1)}}
	many[1] = &pb.TrackableObject{}
	live := &struct{ L []*trackable.Variable }{}
	for i := range 2999 {
		many[1].Children = append(many[1].Children, child(fmt.Sprint(i), int32(i+2)))
		many[i+2] = &pb.TrackableObject{Attributes: value(fmt.Sprint("a key that is nowhere to be found ", i))}
		live.L = append(live.L, variable(0))
	}
	_, err := newCheckpoint(t, live, nil).RestoreFS(ctx, withGraph(t, marshal(many...)), "ckpt", nil)
	var re *RestoreError
	if !errors.As(err, &re) || len(re.Missing) != 2999 || len(err.Error()) > 10_000 {
		t.Errorf("error %.300v", err)
	}
}

func FuzzObjectGraph(f *testing.F) {
	const key = "v/.ATTRIBUTES/VARIABLE_VALUE"
	f.Add(marshal(&pb.TrackableObject{Children: []*pb.ObjectReference{child("v", 1), child("n", 0)}},
		&pb.TrackableObject{Attributes: value(key), HasCheckpointValues: &pb.BoolValue{Value: true}}))
	f.Add(marshal(&pb.TrackableObject{Children: []*pb.ObjectReference{child("v", 1), child("o", 2)}},
		&pb.TrackableObject{Attributes: value(key)},
		&pb.TrackableObject{SlotVariables: []*pb.SlotVariableReference{{SlotName: "m", OriginalVariableNodeId: 1, SlotVariableNodeId: 3}}},
		&pb.TrackableObject{Attributes: value(key), RegisteredSaver: &pb.RegisteredSaver{Name: "a.b", ObjectName: "v"}}))
	f.Add("")
	f.Fuzz(func(t *testing.T, graph string) {
		dir := withGraph(t, graph)
		o := &optimizer{name: "o"}
		o.DeclareSlots("m")
		root := &struct {
			V *trackable.Variable
			N *node
			O *optimizer
		}{variable(0), new(node), o}
		ck := newCheckpoint(t, root, nil)
		r, err := ck.RestoreFS(ctx, dir, "ckpt", &RestoreOptions{Partial: true, AllowMissing: true})
		if err != nil {
			_ = err.Error()
		} else {
			_ = fmt.Sprint(r.AssertConsumed(), r.AssertNontrivialMatch(), r.Restored(), r.Deferred, r.Unused)
			if _, err := r.Current(); err != nil {
				t.Error(err)
			}
			r.ExpectPartial()
			if err := ck.WriteTo(ctx, vfs.MemDir(), "again"); err != nil {
				t.Error(err)
			}
		}
		v, err := OpenFS(ctx, dir, "ckpt", nil)
		if err != nil {
			return
		}
		v.Nodes()
		if _, err := v.Diff(root); err != nil {
			t.Error(err)
		}
		if err := v.Rewrite(ctx, vfs.MemDir(), "x", &RewriteOptions{Rename: func(s string) string { return s + "2" }}); err != nil {
			t.Error(err)
		}
	})
}

// errCounter counts how often its error is asked for.
type errCounter struct {
	context.Context
	n int
}

func (c *errCounter) Err() error {
	c.n++
	return c.Context.Err()
}

// TestJudgingLeftoversHeedsTheContext: values that nothing leads to are looked at
// one by one, and the context with them.
func TestJudgingLeftoversHeedsTheContext(t *testing.T) {
	looks := func(n int) int {
		nodes := []*pb.TrackableObject{{}}
		for range n {
			nodes = append(nodes, &pb.TrackableObject{Attributes: value("v/.ATTRIBUTES/VARIABLE_VALUE")})
		}
		c := &errCounter{Context: ctx}
		root := &struct{ V *trackable.Variable }{variable(0)}
		o := &RestoreOptions{Partial: true, AllowMissing: true}
		if _, err := newCheckpoint(t, root, nil).RestoreFS(c, withGraph(t, marshal(nodes...)), "ckpt", o); err != nil {
			t.Fatal(err)
		}
		return c.n
	}
	if few, many := looks(1), looks(20*checkEvery); many < few+20 {
		t.Errorf("the context is looked at %d times for one leftover value, %d times for %d", few, many, 20*checkEvery)
	}
}
