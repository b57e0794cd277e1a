package savedmodel

import (
	"context"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/cairnml/cairn/trackable"
	"github.com/cairnml/cairn/vfs"
)

// Serializer saves and loads models with the classes of a package, and those of the
// global package, "", whose classes every save and load uses. A package here is the prefix
// of a class's identifier, not a Go package. Classes of other packages are not asked. The zero
// Serializer uses no classes.
//
// The names follow TensorFlow's RFC "Building Custom SavedModels". docs/savedmodels.md has
// examples. [Save] and [Rewrite] use a zero Serializer; package keras/models, programs with
// classes and package savedmodeltest use others.
type Serializer struct {
	// Package is the package whose classes are used. Default: "", only the global one.
	Package string
	// With are more packages whose classes are used, for models with classes of several
	// frameworks. Default: none.
	With []string
	// Classes are the registered classes. Default: none.
	Classes *Classes
}

// packages returns the packages whose classes are used; a nil Serializer has none.
func (z *Serializer) packages() []string {
	if z == nil {
		return nil
	}
	list := z.With
	if z.Package != "" {
		list = append([]string{z.Package}, list...)
	}
	return list
}

func (z *Serializer) classes() *Classes {
	if z == nil {
		return nil
	}
	return z.Classes
}

// Save saves like the function [Save]. For an object of a class, the class decides
// the identifier, version, metadata and children.
func (z *Serializer) Save(ctx context.Context, root trackable.Trackable, dir string, opts *SaveOptions) error {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return &SaveError{Err: err}
	}
	return z.SaveFS(ctx, root, vfs.OSDir(filepath.Dir(abs)), filepath.ToSlash(filepath.Base(abs)), opts)
}

// SaveFS saves like [Serializer.Save], for the directory called name of dir.
func (z *Serializer) SaveFS(ctx context.Context, root trackable.Trackable, dir vfs.Dir, name string, opts *SaveOptions) error {
	if opts == nil {
		opts = new(SaveOptions)
	}
	s, err := newSaver(ctx, root, z, opts)
	if err != nil {
		return err
	}
	return s.write(ctx, dir, name)
}

// Load restores like [Restore], with the serializer's classes and packages in place of
// those in opts. The root is [Restored].Root.
func (z *Serializer) Load(ctx context.Context, fsys fs.FS, opts *RestoreOptions) (*Restored, error) {
	o := RestoreOptions{}
	if opts != nil {
		o = *opts
	}
	o.Classes, o.Packages = z.classes(), z.packages()
	return Restore(ctx, fsys, &o)
}

// Serialize returns the data that a save writes for an object: its class's, or
// its edges. A class that changes its edges can start from this list.
func (z *Serializer) Serialize(ctx context.Context, obj trackable.Trackable) (*SaveSpec, error) {
	sc := &SaveContext{ctx: ctx, opts: new(SaveOptions), cache: map[any]any{}}
	if x := z.classes().of(obj, z.packages()); x != nil {
		return x.specOf(sc, obj)
	}
	return sc.Default(obj)
}

// LoadAs loads a model whose root is a T. Another type is an error, and so is a root whose
// class is not registered.
func LoadAs[T any](ctx context.Context, z *Serializer, fsys fs.FS) (T, error) {
	var zero T
	r, err := z.Load(ctx, fsys, nil)
	if err != nil {
		return zero, err
	}
	if x, ok := r.Root.(T); ok {
		return x, nil
	}
	for _, u := range r.Unknown {
		if u.Path == "(root)" {
			return zero, fmt.Errorf("savedmodel: load: the root is of the class %q, version %d: %s", u.Identifier, u.Version, u.Reason)
		}
	}
	return zero, fmt.Errorf("savedmodel: load: the root has another type (got %T, want %T)", r.Root, zero)
}
