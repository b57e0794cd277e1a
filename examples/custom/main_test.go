package main

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/cairnml/cairn/savedmodel"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
	"github.com/cairnml/cairn/vfs"
)

func Example_versions() {
	ctx := context.Background()
	old, err := oldSerializer()
	if err != nil {
		fmt.Println(err)
		return
	}
	ser, err := serializer()
	if err != nil {
		fmt.Println(err)
		return
	}
	dir := vfs.MemDir()
	v1 := &CustomV1{Name: "Obj", Vars: []*trackable.Variable{trackable.NewVariable(tensor.Scalar[float32](5)), trackable.NewVariable(tensor.Scalar[float32](6))}}
	if err := old.SaveFS(ctx, v1, dir, "model", nil); err != nil {
		fmt.Println(err)
		return
	}
	fsys, err := fs.Sub(dir, "model")
	if err != nil {
		fmt.Println(err)
		return
	}
	c, err := savedmodel.LoadAs[*Custom](ctx, ser, fsys)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(c.Name, c.Var1.Load(), c.Var2.Load())
	// Output:
	// Obj 5.0 6.0
}

func TestTheNewVersionIsSavedAndLoaded(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "custom")
	if err := run(context.Background(), dir); err != nil {
		t.Fatal(err)
	}
	// A program that doesn't know the class still finds the object's parts.
	r, err := savedmodel.Restore(context.Background(), os.DirFS(dir), nil)
	if err != nil {
		t.Fatal(err)
	}
	root, ok := r.Root.(*savedmodel.TrackableObject)
	if !ok || root.Traits.Metadata != `{"name":"Obj"}` || root.Child("call") == nil {
		t.Errorf("the root is %v", r.Root)
	}
}
