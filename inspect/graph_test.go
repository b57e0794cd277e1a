package inspect

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairnml/cairn/convert"
	"github.com/cairnml/cairn/inspect/render"
	"github.com/cairnml/cairn/internal/pb"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/tensorfile"
)

// The contents of a node come after its name. A tensor is outside only if no object's
// key, table or registered saver begins its name.
func TestGraphSaysWhatObjectsHold(t *testing.T) {
	ctx := context.Background()
	attribute := func(name, key string) []*pb.SerializedTensor {
		return []*pb.SerializedTensor{{Name: name, CheckpointKey: key}}
	}
	og := &pb.TrackableObjectGraph{Nodes: []*pb.TrackableObject{
		{},
		{Attributes: attribute("VARIABLE_VALUE", "there")},
		{Attributes: attribute("VARIABLE_VALUE", "gone")},
		{Attributes: attribute("TABLE", "table/.ATTRIBUTES/table")},
		{Attributes: attribute("STATE", "iterator")},
		{RegisteredSaver: &pb.RegisteredSaver{Name: "My.saver", ObjectName: "held"}},
		{},
	}}
	for i, name := range []string{"there", "gone", "table", "iterator", "held", "rule"} {
		og.Nodes[0].Children = append(og.Nodes[0].Children, &pb.ObjectReference{NodeId: int32(i + 1), LocalName: name})
	}
	owner := og.Nodes[6]
	for i := range 10 { // slots of one variable, of which eight are named
		og.Nodes = append(og.Nodes, &pb.TrackableObject{})
		owner.SlotVariables = append(owner.SlotVariables, &pb.SlotVariableReference{OriginalVariableNodeId: 1, SlotName: fmt.Sprint("s", i), SlotVariableNodeId: int32(7 + i)})
	}
	x := tensor.Scalar[float32](1.5)
	s := write(t, map[string]*tensor.Tensor{
		tensorfile.GraphKey: tensor.Scalar(string(og.Marshal())), "there": x, "iterator": tensor.Vector[int64](1, 2),
		"table/.ATTRIBUTES/table-keys": x, "table/.ATTRIBUTES/table-values": x,
		"held": x, "held/by the saver": x, "heldby": x, "a": x, "z": x,
	})
	v, err := Graph(ctx, s)
	if err != nil {
		t.Fatal(err)
	}
	var info []string
	for _, n := range v.Nodes[1:7] {
		info = append(info, n.Info)
	}
	if d := cmp.Diff([]string{"float32", "value not in the file", "table", "state int64 [2]", "saved by My.saver",
		"slots s0, s1, s2, s3, s4, s5, s6, s7 of 1 variable"}, info); d != "" {
		t.Errorf("objects (-want +got):\n%s", d)
	}
	var outside []string
	for _, e := range v.Outside {
		outside = append(outside, e.Name)
	}
	if d := cmp.Diff([]string{"a", "held", "heldby", "z"}, outside); d != "" || v.Graph.Outside != 4 {
		t.Errorf("outside, %d (-want +got):\n%s", v.Graph.Outside, d)
	}
	if v.Nodes[1].Kind != render.Variable || v.Nodes[2].Kind != render.Variable || v.Nodes[6].Kind != render.Optimizer || v.Nodes[7].Kind != render.Slot || v.Nodes[1].Value != "1.5" {
		t.Errorf("kinds %v, value %q", v.Nodes, v.Nodes[1].Value)
	}
}

// Damage of a file that is no checkpoint is told tensor by tensor, and how far the look is.
func TestVerifyOfOtherFiles(t *testing.T) {
	ctx := context.Background()
	s := write(t, map[string]*tensor.Tensor{"a": tensor.Vector[float32](1, 2), "b": tensor.Vector[float32](3, 4), "c": tensor.Vector[float64](5, 6)})
	path := filepath.Join(t.TempDir(), "x.npz")
	if _, err := convert.Convert(ctx, s.Prefix, path, &convert.Options{}); err != nil {
		t.Fatal(err)
	}
	var steps [][2]int64
	progress := func(done, total int64) { steps = append(steps, [2]int64{done, total}) }
	if _, faults, err := Verify(ctx, path, &VerifyOptions{Progress: progress}); err != nil || len(faults) > 0 {
		t.Fatalf("%v, %v", faults, err)
	}
	want := [][2]int64{{8, 32}, {16, 32}, {32, 32}}
	if d := cmp.Diff(want, steps); d != "" {
		t.Errorf("progress (-want +got):\n%s", d)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []float32{1, 3} { // an element of a, and of b
		b := tensor.Scalar(x).Bytes()
		i := bytes.LastIndex(raw, b)
		if i < 0 {
			t.Fatalf("the file doesn't hold %v as it is", x)
		}
		raw[i] ^= 1
	}
	if err := os.WriteFile(path, raw, 0o666); err != nil {
		t.Fatal(err)
	}
	_, faults, err := Verify(ctx, path, nil)
	if err != nil {
		t.Fatal(err)
	}
	var said []string
	for _, f := range faults {
		said = append(said, f.Tensor)
		if f.What == "" || !strings.HasSuffix(f.File, "x.npz") {
			t.Errorf("%+v", f)
		}
	}
	if d := cmp.Diff([]string{"a", "b"}, said); d != "" {
		t.Errorf("faults (-want +got):\n%s", d)
	}
}
