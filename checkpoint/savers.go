package checkpoint

import (
	"context"
	"errors"
	"io/fs"
	"iter"

	"github.com/cairnml/cairn/bundle"
	"github.com/cairnml/cairn/trackable"
)

// Saver saves and restores objects in its own way.
type Saver struct {
	// Name is the saver's name; with the package of Register it stands in files.
	Name string
	// Matches reports whether the saver is in charge of an object.
	Matches func(trackable.Trackable) bool
	// Save writes the objects and returns the prefixes of the bundles that it
	// wrote, each beginning with call.Prefix. Nil: saved as by default.
	Save func(ctx context.Context, call *SaveCall) ([]string, error)
	// Restore gives the objects their values. Nil: restored as by default.
	Restore func(ctx context.Context, call *RestoreCall) error
	// Lenient skips objects that Matches refuses at a restore. Default: an error.
	Lenient bool
}

// CheckpointSaver is s.
func (s Saver) CheckpointSaver() Saver { return s }

// Registrable is met by [Saver] and by savers written in other ways.
type Registrable interface{ CheckpointSaver() Saver }

// SaveCall is what a Saver's Save gets.
type SaveCall struct {
	Objects Objects
	Prefix  string // <checkpoint>-<package.name>
	Dir     bundle.Dir
}

// RestoreCall is what a Saver's Restore gets.
type RestoreCall struct {
	Objects Objects
	Prefix  string // the checkpoint's
	FS      fs.FS
}

// Objects maps object prefixes to objects, in the order of the object graph.
type Objects struct{}

// Len is the number of objects.
func (o Objects) Len() int { return 0 }

// All yields prefixes and objects in order.
func (o Objects) All() iter.Seq2[string, trackable.Trackable] {
	return func(func(string, trackable.Trackable) bool) {}
}

// Only yields the objects of type T, in order.
func Only[T trackable.Trackable](o Objects) iter.Seq2[string, T] {
	return func(yield func(string, T) bool) {
		for prefix, obj := range o.All() {
			if x, ok := obj.(T); ok && !yield(prefix, x) {
				return
			}
		}
	}
}

// Savers is a set of registered savers. The zero Savers is empty and ready.
type Savers struct{}

// DefaultSavers is what nil means in Options.
var DefaultSavers = new(Savers)

// Register adds a saver as "pkg.Name".
func (s *Savers) Register(pkg string, saver Registrable) error { return errors.ErrUnsupported }
