// Package savedmodeltest tests classes that programs register for SavedModels. The RFC
// "Building Custom SavedModels" plans a base test class with these checks:
//
//	func TestCustom(t *testing.T) {
//		savedmodeltest.Run(t, &savedmodeltest.Class[*Custom]{
//			Serializer: serializer,
//			New:        func() *Custom { return NewCustom("Obj") },
//			Outputs:    func(ctx context.Context, c *Custom) ([]*tensor.Tensor, error) { … },
//		})
//	}
package savedmodeltest

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"testing"

	"github.com/cairnml/cairn/savedmodel"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
	"github.com/cairnml/cairn/vfs"
)

// Class is a class that [Run] tests.
type Class[T trackable.Trackable] struct {
	// Serializer has the class among its classes.
	Serializer *savedmodel.Serializer
	// New returns an object that can be saved: its variables have values, and the
	// functions that are to be saved were traced.
	New func() T
	// Outputs returns the results of the object for inputs that the test
	// chooses. Loaded objects must return the same as the saved one. Default:
	// nothing is compared.
	Outputs func(ctx context.Context, obj T) ([]*tensor.Tensor, error)
	// Options are the options of each save, except that of a generic object. Default:
	// none.
	Options *savedmodel.SaveOptions
	// Identifier is the identifier that files must have. Default: any that is not
	// empty.
	Identifier string
	// Version is the version that files must have. Default (0): any.
	Version int
}

// Run checks, in subtests, that
//
//   - two saves of one object write the same bytes;
//   - a saved object loads as a T that computes the same;
//   - a loaded object can be saved and loaded again;
//   - a program that doesn't know the class loads a generic object with the class's
//     identifier, version and metadata, and saves it so that the class loads it again.
func Run[T trackable.Trackable](t *testing.T, c *Class[T]) {
	ctx := context.Background()
	obj := c.New()
	want, err := c.outputs(ctx, obj)
	if err != nil {
		t.Fatalf("the outputs of a new object: %v", err)
	}
	saved, err := save(ctx, c.Serializer, obj, c.Options)
	if err != nil {
		t.Fatalf("saving a new object: %v", err)
	}
	t.Run("the same object gives the same bytes", func(t *testing.T) {
		again, err := save(ctx, c.Serializer, obj, c.Options)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range saved.Names() {
			a, errA := saved.ReadFile(name)
			b, errB := again.ReadFile(name)
			if errA != nil || errB != nil || !bytes.Equal(a, b) {
				t.Errorf("%s differs between two saves%s", name, firstDifference(a, b))
			}
		}
		if a, b := len(saved.Names()), len(again.Names()); a != b {
			t.Errorf("the saves wrote %d and %d files", a, b)
		}
	})
	t.Run("it loads and computes the same", func(t *testing.T) { c.check(ctx, t, saved, want) })
	t.Run("what was loaded is saved and loaded again", func(t *testing.T) {
		loaded, err := c.load(ctx, saved)
		if err != nil {
			t.Fatal(err)
		}
		again, err := save(ctx, c.Serializer, loaded, c.Options)
		if err != nil {
			t.Fatal(err)
		}
		c.check(ctx, t, again, want)
	})
	t.Run("a program without the class keeps it", func(t *testing.T) {
		fsys, err := fs.Sub(saved, directory)
		if err != nil {
			t.Fatal(err)
		}
		r, err := savedmodel.Restore(ctx, fsys, nil)
		if err != nil {
			t.Fatal(err)
		}
		root, ok := r.Root.(*savedmodel.TrackableObject)
		if !ok {
			t.Fatalf("the root is a %T, want a generic object", r.Root)
		}
		switch traits := root.Traits; {
		case traits.Identifier == "" || c.Identifier != "" && traits.Identifier != c.Identifier:
			t.Errorf("the identifier is %q, want %q", traits.Identifier, c.Identifier)
		case c.Version != 0 && traits.Version != c.Version:
			t.Errorf("the version is %d, want %d", traits.Version, c.Version)
		}
		again, err := save(ctx, new(savedmodel.Serializer), root, nil)
		if err != nil {
			t.Fatal(err)
		}
		c.check(ctx, t, again, want)
	})
}

// directory is the name of the model's directory.
const directory = "model"

func save(ctx context.Context, z *savedmodel.Serializer, obj trackable.Trackable, opts *savedmodel.SaveOptions) (*vfs.Mem, error) {
	dir := vfs.MemDir()
	return dir, z.SaveFS(ctx, obj, dir, directory, opts)
}

func (c *Class[T]) load(ctx context.Context, dir fs.FS) (T, error) {
	fsys, err := fs.Sub(dir, directory)
	if err != nil {
		var zero T
		return zero, err
	}
	return savedmodel.LoadAs[T](ctx, c.Serializer, fsys)
}

func (c *Class[T]) outputs(ctx context.Context, obj T) ([]*tensor.Tensor, error) {
	if c.Outputs == nil {
		return nil, nil
	}
	return c.Outputs(ctx, obj)
}

// check loads a model and compares its results.
func (c *Class[T]) check(ctx context.Context, t *testing.T, dir fs.FS, want []*tensor.Tensor) {
	t.Helper()
	obj, err := c.load(ctx, dir)
	if err != nil {
		t.Fatal(err)
	}
	got, err := c.outputs(ctx, obj)
	if err != nil {
		t.Fatalf("the outputs of the loaded object: %v", err)
	}
	if len(got) != len(want) {
		t.Fatalf("the loaded object returns %d outputs, the saved one %d", len(got), len(want))
	}
	for i := range got {
		if !got[i].Equal(want[i]) {
			t.Errorf("output %d is %v, of the saved object %v", i, got[i], want[i])
		}
	}
}

// firstDifference describes the first place where two files differ.
func firstDifference(a, b []byte) string {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return fmt.Sprintf(", from byte %d", i)
		}
	}
	return fmt.Sprintf(": %d and %d bytes", len(a), len(b))
}
