package checkpoint

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/cairnml/cairn/bundle"
	"github.com/cairnml/cairn/internal/pb"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
	"github.com/cairnml/cairn/vfs"
)

func TestListAndLoad(t *testing.T) {
	prefix := filepath.Join(goldenDir, "guide", "ckpt-1")
	list, err := List(ctx, prefix)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, v := range list {
		names = append(names, v.Name)
	}
	want := []string{
		"_CHECKPOINTABLE_OBJECT_GRAPH",
		"net/l1/bias/.ATTRIBUTES/VARIABLE_VALUE",
		"net/l1/bias/.OPTIMIZER_SLOT/optimizer/m/.ATTRIBUTES/VARIABLE_VALUE",
		"net/l1/bias/.OPTIMIZER_SLOT/optimizer/v/.ATTRIBUTES/VARIABLE_VALUE",
		"net/l1/kernel/.ATTRIBUTES/VARIABLE_VALUE",
		"net/l1/kernel/.OPTIMIZER_SLOT/optimizer/m/.ATTRIBUTES/VARIABLE_VALUE",
		"net/l1/kernel/.OPTIMIZER_SLOT/optimizer/v/.ATTRIBUTES/VARIABLE_VALUE",
		"optimizer/beta_1/.ATTRIBUTES/VARIABLE_VALUE",
		"optimizer/beta_2/.ATTRIBUTES/VARIABLE_VALUE",
		"optimizer/decay/.ATTRIBUTES/VARIABLE_VALUE",
		"optimizer/iter/.ATTRIBUTES/VARIABLE_VALUE",
		"optimizer/learning_rate/.ATTRIBUTES/VARIABLE_VALUE",
		"save_counter/.ATTRIBUTES/VARIABLE_VALUE",
		"step/.ATTRIBUTES/VARIABLE_VALUE",
	}
	if d := cmp.Diff(want, names); d != "" {
		t.Errorf("names (-want +got):\n%s", d)
	}
	if v := list[4]; v.DType != tensor.Float32 || !v.Shape.Equal(tensor.Shape{1, 5}) || v.Bytes != 20 {
		t.Errorf("%+v", v)
	}
	x, err := Load(ctx, prefix, "net/l1/kernel/.ATTRIBUTES/VARIABLE_VALUE")
	if err != nil || !slices.Equal(tensor.Values[float32](x), []float32{1, 2, 3, 4, 5}) {
		t.Errorf("Load = %v, %v", x, err)
	}
	_, err = Load(ctx, prefix, "net/l1/kernal/.ATTRIBUTES/VARIABLE_VALUE")
	var nf *bundle.NotFoundError
	if !errors.As(err, &nf) || !slices.Contains(nf.Nearest, "net/l1/kernel/.ATTRIBUTES/VARIABLE_VALUE") {
		t.Errorf("error %v, want the nearest name in it", err)
	}
}

func TestMatchAndDiff(t *testing.T) {
	type leaf struct {
		trackable.Base
		Leaf3, Leaf4 *trackable.Variable
	}
	type simple struct {
		trackable.Base
		AVar, BVar  *trackable.Variable
		Vars        []*trackable.Variable
		Leaf, Leaf1 *leaf
	}
	build := func() *simple {
		return &simple{AVar: variable(5), BVar: variable(4), Vars: []*trackable.Variable{variable(1), variable(2)}}
	}
	saved := build()
	saved.Leaf = &leaf{Leaf3: variable(6), Leaf4: variable(7)}
	dir := vfs.MemDir()
	p, err := newCheckpoint(t, saved, nil).SaveTo(ctx, dir, "ckpt")
	if err != nil {
		t.Fatal(err)
	}
	v := mustOpen(t, dir, p)
	defer v.Close()

	same, err := v.Diff(saved)
	if err != nil {
		t.Fatal(err)
	}
	if len(same.OnlyObjects)+len(same.Mismatched) > 0 || len(same.OnlyCheckpoint) != 1 { // save_counter
		t.Errorf("diff with itself: %+v", same)
	}

	other := build()
	other.Leaf1 = &leaf{Leaf3: variable(6), Leaf4: variable(7)}
	other.BVar = variable(1, 2, 3)
	d, err := v.Diff(other)
	if err != nil {
		t.Fatal(err)
	}
	nodes := v.Nodes()
	var only []string
	for _, id := range d.OnlyCheckpoint {
		only = append(only, nodes[id].Path)
	}
	if d := cmp.Diff([]string{"leaf", "save_counter", "leaf.leaf3", "leaf.leaf4"}, only); d != "" {
		t.Errorf("only in the checkpoint (-want +got):\n%s", d)
	}
	only = nil
	for _, o := range d.OnlyObjects {
		only = append(only, o.Path)
	}
	if d := cmp.Diff([]string{"leaf1", "leaf1.leaf3", "leaf1.leaf4"}, only); d != "" {
		t.Errorf("only in the program (-want +got):\n%s", d)
	}
	if len(d.Mismatched) != 1 || d.Mismatched[0].Path != "b_var" {
		t.Errorf("mismatched %v", d.Mismatched)
	}
	m, err := v.Match(other)
	if err != nil || len(m) != 6 || m[0] != any(other) {
		t.Errorf("Match = %v, %v", m, err)
	}
	wantFloats(t, other.AVar, 5) // nothing was loaded
}

func TestViewOfSlotsAndSavers(t *testing.T) {
	v := mustOpen(t, os.DirFS(goldenDir), "guide/ckpt-1")
	d, err := v.Diff(newCheckpoint(t, newTraining(t), nil))
	if err != nil || len(d.OnlyCheckpoint) != 1 || len(d.OnlyObjects)+len(d.Mismatched) > 0 { // save_counter
		t.Errorf("Diff = %+v, %v", d, err)
	}
	nodes := v.Nodes()
	if n := nodes[13]; !n.IsSlot || n.Path != `optimizer's slot "m" for net.l1.kernel` {
		t.Errorf("slot node %+v", n)
	}
	v = mustOpen(t, os.DirFS(goldenDir), "stacked/ckpt-1")
	if n := v.Nodes()[3]; n.Saver != "Custom.stacks" || n.SaverObject != "stack" {
		t.Errorf("saver node %+v", n)
	}
	v = mustOpen(t, os.DirFS(goldenDir), "name_based/v1")
	if v.ObjectBased() || v.Nodes() != nil || len(v.Values()) != 2 {
		t.Errorf("name-based view: %v %v", v.Nodes(), v.Values())
	}
	if _, err := v.Diff(&struct{ V *trackable.Variable }{}); err == nil || !strings.Contains(err.Error(), "name-based") {
		t.Errorf("Diff of a name-based checkpoint: %v", err)
	}
}

// TestRewrite checks that a file of another writer, with fields unknown to this
// package, is copied unchanged.
func TestRewrite(t *testing.T) {
	// An object graph with unknown fields on every level.
	unknown := func(n protowire.Number) []byte {
		return protowire.AppendString(protowire.AppendTag(nil, n, protowire.BytesType), "what is this")
	}
	g := &pb.TrackableObjectGraph{Unknown: unknown(100), Nodes: []*pb.TrackableObject{
		{Children: []*pb.ObjectReference{{NodeId: 1, LocalName: "v", Unknown: unknown(101)}}, Unknown: unknown(102)},
		{Attributes: []*pb.SerializedTensor{
			{Name: trackable.VariableValue, CheckpointKey: "v/.ATTRIBUTES/VARIABLE_VALUE", FullName: "v", Unknown: unknown(103)},
			{Name: "SOMETHING_NEW", CheckpointKey: "v/.ATTRIBUTES/SOMETHING_NEW"},
			{Name: "NO_VALUE", CheckpointKey: "v/.ATTRIBUTES/NO_VALUE"},
		}},
	}}
	src := vfs.MemDir()
	w, err := bundle.NewWriter(src, "ckpt", nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range []struct {
		name string
		t    *tensor.Tensor
	}{
		{"v/.ATTRIBUTES/VARIABLE_VALUE", tensor.Vector[float32](1, 2)},
		{"v/.ATTRIBUTES/SOMETHING_NEW", tensor.Vector("a", "b")},
		{"unheard of", tensor.Scalar[int8](3)},
		{trackable.ObjectGraphKey, tensor.Scalar(string(g.Marshal()))},
	} {
		if err := w.Add(ctx, e.name, e.t); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Finish(ctx); err != nil {
		t.Fatal(err)
	}
	v := mustOpen(t, src, "ckpt")

	dst := vfs.MemDir()
	if err := v.Rewrite(ctx, dst, "ckpt", nil); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(readFiles(t, src, "."), readFiles(t, dst, ".")); d != "" {
		t.Errorf("rewritten files (-was +is):\n%s", d)
	}
	same := func(s string) string { return s }
	dst = vfs.MemDir()
	if err := v.Rewrite(ctx, dst, "ckpt", &RewriteOptions{Rename: same}); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(readFiles(t, src, "."), readFiles(t, dst, ".")); d != "" {
		t.Errorf("rewritten files with a graph made anew (-was +is):\n%s", d)
	}

	// Renamed, dropped, converted.
	dst = vfs.MemDir()
	err = v.Rewrite(ctx, dst, "new", &RewriteOptions{
		Rename: func(s string) string { return strings.Replace(s, "v/", "w/", 1) },
		Drop:   func(s string) bool { return strings.HasSuffix(s, "SOMETHING_NEW") },
		Convert: func(name string, x *tensor.Tensor) (*tensor.Tensor, error) {
			if x.DType() == tensor.Int8 {
				return tensor.Scalar[int64](3), nil
			}
			return nil, nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	n := mustOpen(t, dst, "new")
	if d := cmp.Diff([]string{"_CHECKPOINTABLE_OBJECT_GRAPH", "unheard of", "w/.ATTRIBUTES/VARIABLE_VALUE"}, n.Reader().Names()); d != "" {
		t.Errorf("names (-want +got):\n%s", d)
	}
	var keys []string
	for _, a := range n.Nodes()[1].Attributes {
		keys = append(keys, a.Key)
	}
	if d := cmp.Diff([]string{"w/.ATTRIBUTES/VARIABLE_VALUE", "v/.ATTRIBUTES/NO_VALUE"}, keys); d != "" {
		t.Errorf("attributes (-want +got):\n%s", d)
	}
	if e, _ := n.Reader().Entry("unheard of"); e.DType != tensor.Int64 {
		t.Errorf("converted entry %+v", e)
	}

	// Restoring it ignores unknown fields, or reports them.
	live := &struct{ V *trackable.Variable }{variable(0, 0)}
	if _, err := newCheckpoint(t, live, nil).RestoreFS(ctx, src, "ckpt", nil); err == nil || !strings.Contains(err.Error(), "SOMETHING_NEW") {
		t.Errorf("strict restore: %v", err)
	}
	restored(t, newCheckpoint(t, live, nil), src, &RestoreOptions{Partial: true})
	wantFloats(t, live.V, 1, 2)
}

// In Keras 3's checkpoints a kernel's key is below the optimizer; people look
// for it in the layer.
func TestViewLoadsByAnyPath(t *testing.T) {
	ctx := t.Context()
	prefix := filepath.Join(t.TempDir(), "c")
	w := trackable.NewVariable(tensor.Vector[float32](1, 2))
	root := &struct {
		Short *trackable.Variable
		Deep  *struct{ Kernel *trackable.Variable }
	}{w, &struct{ Kernel *trackable.Variable }{w}}
	c, err := New(root, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Write(ctx, prefix); err != nil {
		t.Fatal(err)
	}
	v, err := Open(ctx, prefix, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	for _, name := range []string{"short", "deep/kernel", "short/.ATTRIBUTES/VARIABLE_VALUE"} {
		if x, err := v.Load(ctx, name); err != nil || !x.Equal(tensor.Vector[float32](1, 2)) {
			t.Errorf("%s: %v, %v", name, x, err)
		}
	}
	if _, err := v.Load(ctx, "deep"); !errors.Is(err, bundle.ErrNotFound) {
		t.Error(err)
	}
}

// TestRewriteKeepsTablesReadable checks that the key of an attribute with several tensors, such
// as a table's, follows their new names, and that the attribute goes if all of them are dropped.
func TestRewriteKeepsTablesReadable(t *testing.T) {
	type root struct{ T, U *hashTable }
	dir := vfs.MemDir()
	ck, err := New(&root{&hashTable{table{keys: []int64{1, 2}, values: []float32{3, 4}}}, &hashTable{table{keys: []int64{5}, values: []float32{6}}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := ck.WriteTo(ctx, dir, "a"); err != nil {
		t.Fatal(err)
	}
	v := mustOpen(t, dir, "a")
	err = v.Rewrite(ctx, dir, "b", &RewriteOptions{
		Rename: func(name string) string { return strings.Replace(name, "t/", "moved/", 1) },
		Drop:   func(name string) bool { return strings.HasPrefix(name, "u/") },
	})
	if err != nil {
		t.Fatal(err)
	}
	again := &root{T: &hashTable{}}
	if ck, err = New(again, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := ck.RestoreFS(ctx, dir, "b", &RestoreOptions{Partial: true}); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(again.T.keys, []int64{1, 2}) || !slices.Equal(again.T.values, []float32{3, 4}) {
		t.Errorf("the table is %v, %v", again.T.keys, again.T.values)
	}
}
