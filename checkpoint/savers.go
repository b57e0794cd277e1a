package checkpoint

import (
	"context"
	"fmt"
	"io/fs"
	"iter"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/cairnml/cairn/bundle"
	"github.com/cairnml/cairn/trackable"
	"github.com/cairnml/cairn/vfs"
)

// Saver saves and restores objects in its own way: objects that share state, or
// that are written together. It is registered with [Savers.Register].
type Saver struct {
	// Name is the saver's name. Files contain it with the package passed to
	// Register.
	Name string
	// Matches reports whether the saver is in charge of an object. It is asked
	// for every object of the graph.
	Matches func(trackable.Trackable) bool
	// Save writes the objects and returns the prefixes of the bundles that it
	// wrote to call.Dir, each beginning with call.Prefix; none is fine. It runs
	// between training steps. Default (nil): the objects are saved as if there
	// were no saver.
	Save func(ctx context.Context, call *SaveCall) ([]string, error)
	// Check checks whether Restore can succeed, before anything is changed. An
	// error refuses the whole restore with a *[RestoreError]. It gets the same call
	// as Restore, and must not change the objects. Default (nil): the restore only
	// checks that the saver is registered and accepts the objects, and that all
	// files of the checkpoint exist.
	Check func(ctx context.Context, call *RestoreCall) error
	// Restore sets the values of the objects, after the default restores. Default
	// (nil): the values are read from the keys of a default save.
	Restore func(ctx context.Context, call *RestoreCall) error
	// Lenient skips, at a restore, objects that Matches refuses though they were
	// saved with this saver. Default: that is an error.
	Lenient bool
	// Traced is the saver as functions of TensorFlow's ops, for a SavedModel that is to
	// restore the objects by itself: a savedmodel.TracedSaver. Default (nil): objects
	// that the saver is in charge of can't be saved in a SavedModel.
	Traced any
}

// CheckpointSaver returns s: a Saver can be registered as it is.
func (s Saver) CheckpointSaver() Saver { return s }

// Registrable is implemented by [Saver] and by savers that are written in another
// way and turn into one.
type Registrable interface{ CheckpointSaver() Saver }

// SaveCall is the argument of a Saver's Save.
type SaveCall struct {
	// Objects are the objects that Matches accepts, by their prefixes.
	Objects Objects
	// Prefix is "<checkpoint>-<package.name>", a path in Dir.
	Prefix string
	// Dir is the directory for the bundles.
	Dir vfs.Dir
}

// NewWriter starts the bundle Prefix in Dir.
func (c *SaveCall) NewWriter(o *bundle.WriterOptions) (*bundle.Writer, error) {
	return bundle.NewWriter(c.Dir, c.Prefix, o)
}

// RestoreCall is the argument of a Saver's Restore.
type RestoreCall struct {
	// Objects are the objects to restore, by the prefixes under which they were
	// saved.
	Objects Objects
	// Prefix is the checkpoint's, a path in FS.
	Prefix string
	// FS is the file system of the checkpoint.
	FS fs.FS
	// Reader reads the checkpoint.
	Reader *bundle.Reader
}

// Object is an object and the prefix that names it in a checkpoint.
type Object struct {
	Prefix string // its escaped path
	Object trackable.Trackable
}

// Objects maps object prefixes to objects, in the order of the object graph.
type Objects struct{ list []Object }

// MakeObjects returns a map of the given objects, for savers' tests.
func MakeObjects(list ...Object) Objects { return Objects{list: slices.Clone(list)} }

// Len returns the number of objects.
func (o Objects) Len() int { return len(o.list) }

// All yields prefixes and objects in order.
func (o Objects) All() iter.Seq2[string, trackable.Trackable] {
	return func(yield func(string, trackable.Trackable) bool) {
		for _, x := range o.list {
			if !yield(x.Prefix, x.Object) {
				return
			}
		}
	}
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

// Savers is a set of registered savers. The zero Savers is empty and ready; it
// may be used from many goroutines.
type Savers struct {
	mu      sync.RWMutex
	byName  map[string]*Saver
	names   []string // in the order of registration
	allowed []string // nil: all

	count atomic.Int32 // of names, for those who ask once an object
}

// DefaultSavers are the savers if those of [Options] are nil.
var DefaultSavers = new(Savers)

// reservedPackage is TensorFlow's own; names in it would be taken for its.
const reservedPackage = "tf"

// Register adds a saver under "pkg.Name"; an empty pkg means "Custom", as in
// TensorFlow. The same name twice, the package "tf", a saver without a name or
// without Matches, and a name that [Savers.Allow] doesn't list are errors. If
// several savers match an object, the one registered last is used.
func (s *Savers) Register(pkg string, saver Registrable) error {
	if saver == nil {
		return fmt.Errorf("checkpoint: there is no saver to register")
	}
	x := saver.CheckpointSaver()
	if pkg == "" {
		pkg = "Custom"
	}
	name := pkg + "." + x.Name
	switch {
	case x.Name == "":
		return fmt.Errorf("checkpoint: a saver of package %q has no name", pkg)
	case pkg == reservedPackage:
		return fmt.Errorf("checkpoint: saver %q: the package %q is TensorFlow's own; choose another", name, pkg)
	case strings.ContainsAny(name, "/\\"):
		return fmt.Errorf("checkpoint: saver %q: the name becomes part of file names and can't hold a slash", name)
	case x.Matches == nil:
		return fmt.Errorf("checkpoint: saver %q has no Matches", name)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, dup := s.byName[name]; dup {
		return fmt.Errorf("checkpoint: a saver %q is registered already", name)
	}
	if s.allowed != nil && !slices.Contains(s.allowed, name) {
		return fmt.Errorf("checkpoint: saver %q isn't on the list of allowed ones, %q", name, s.allowed)
	}
	if s.byName == nil {
		s.byName = map[string]*Saver{}
	}
	s.byName[name] = &x
	s.names = append(s.names, name)
	s.count.Store(int32(len(s.names)))
	return nil
}

// Allow limits the savers that can be registered from now on to these full
// names ("package.name"); further calls add to them. Default: all are allowed.
func (s *Savers) Allow(names ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.allowed == nil {
		s.allowed = []string{}
	}
	s.allowed = append(s.allowed, names...)
}

// Names returns the full names in the order of registration.
func (s *Savers) Names() []string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return slices.Clone(s.names)
}

// Lookup finds a saver by its full name.
func (s *Savers) Lookup(name string) (Saver, bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if x, ok := s.byName[name]; ok {
		return *x, true
	}
	return Saver{}, false
}

// Find returns the saver in charge of obj: the last registered whose Matches
// accepts it.
func (s *Savers) Find(obj trackable.Trackable) (name string, saver Saver, ok bool) {
	name, x := s.find(obj, func(*Saver) bool { return true })
	if x == nil {
		return "", Saver{}, false
	}
	return name, *x, true
}

// none reports whether no saver is registered.
func (s *Savers) none() bool { return s.count.Load() == 0 }

func saves(s *Saver) bool    { return s.Save != nil }
func restores(s *Saver) bool { return s.Restore != nil }

// find returns the saver that handles obj, if can accepts it.
func (s *Savers) find(obj trackable.Trackable, can func(*Saver) bool) (string, *Saver) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, name := range slices.Backward(s.names) {
		if x := s.byName[name]; x.Matches(obj) {
			if !can(x) {
				return "", nil
			}
			return name, x
		}
	}
	return "", nil
}

// saverObjects groups objects by their savers, in the order in which the savers
// first appear.
type saverObjects struct {
	list   []*saverGroup
	byName map[string]*saverGroup
}

type saverGroup struct {
	name    string
	saver   *Saver
	objects []Object
}

// add puts obj into the group of the saver called name. prefix is the object's name for the saver.
func (s *saverObjects) add(name string, saver *Saver, prefix string, obj any) {
	g := s.byName[name]
	if g == nil {
		g = &saverGroup{name: name, saver: saver}
		if s.byName == nil {
			s.byName = map[string]*saverGroup{}
		}
		s.byName[name] = g
		s.list = append(s.list, g)
	}
	g.objects = append(g.objects, Object{prefix, obj})
}
