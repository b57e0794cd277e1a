package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/cairnml/cairn/bundle"
	"github.com/cairnml/cairn/internal/pb"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
	"github.com/cairnml/cairn/vfs"
)

// manyAttributes returns a checkpoint whose graph has one object with n
// attributes and a value for each.
func manyAttributes(t *testing.T, n int) *vfs.Mem {
	t.Helper()
	node := &pb.TrackableObject{}
	dir := vfs.MemDir()
	w, err := bundle.NewWriter(dir, "ckpt", nil)
	if err != nil {
		t.Fatal(err)
	}
	one := tensor.Scalar[int8](1)
	for i := range n {
		key := fmt.Sprintf("v/.ATTRIBUTES/a%07d", i)
		if err := w.Add(ctx, key, one); err != nil {
			t.Fatal(err)
		}
		node.Attributes = append(node.Attributes, &pb.SerializedTensor{Name: fmt.Sprintf("a%07d", i), CheckpointKey: key})
	}
	graph := marshal(&pb.TrackableObject{Children: []*pb.ObjectReference{child("v", 1)}}, node)
	if err := errors.Join(w.Add(ctx, trackable.ObjectGraphKey, tensor.Scalar(graph)), w.Finish(ctx)); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestManyAttributesTakeTimeInProportion: a restore looks at each attribute a
// fixed number of times, and stops when its context ends.
func TestManyAttributesTakeTimeInProportion(t *testing.T) {
	dir := manyAttributes(t, 200_000)
	begin := time.Now()
	_, err := newCheckpoint(t, &struct{ V *trackable.Variable }{variable(0)}, nil).RestoreFS(ctx, dir, "ckpt", nil)
	var refused *RestoreError
	if !errors.As(err, &refused) || len(refused.Unused) != 200_000 {
		t.Errorf("error %.300v", err)
	}
	// A quadratic walk takes minutes.
	if d := time.Since(begin); d > 20*time.Second {
		t.Errorf("the restore took %v", d)
	} else {
		t.Log(d)
	}

	ended, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := newCheckpoint(t, &struct{ V *trackable.Variable }{variable(0)}, nil).RestoreFS(ended, dir, "ckpt", nil); !errors.Is(err, context.Canceled) {
		t.Errorf("with a context that has ended: %v", err)
	}
}

// TestOneAttributeManyTimesIsRefused: a graph that names one value again and
// again must not have it read as often.
func TestOneAttributeManyTimesIsRefused(t *testing.T) {
	node := &pb.TrackableObject{}
	for range 1000 {
		node.Attributes = append(node.Attributes, value("v/.ATTRIBUTES/VARIABLE_VALUE")...)
	}
	dir := withGraph(t, marshal(&pb.TrackableObject{Children: []*pb.ObjectReference{child("v", 1)}}, node))
	if _, err := newCheckpoint(t, &struct{ V *trackable.Variable }{variable(0)}, nil).RestoreFS(ctx, dir, "ckpt", nil); !errors.Is(err, bundle.ErrCorrupt) {
		t.Errorf("error %v, want ErrCorrupt", err)
	}
}
