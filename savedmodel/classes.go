package savedmodel

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/cairnml/cairn/trackable"
)

// Class is a Go type with an identifier in SavedModels. It decides which data
// its objects save besides their edges, and makes objects of saved data. T is a
// pointer type, unless Matches is set.
type Class[T trackable.Trackable] struct {
	// Package is the package of the class, Name its name; "Package.Name" is the
	// identifier in files. Default: "" is the global package, whose classes every save
	// and load uses, and whose identifiers are the names alone.
	Package, Name string
	// Version is the version that Save writes. Default: 1.
	Version int
	// MinConsumer is the oldest version of this class's code that can read the
	// data that Save returns. Default: 1.
	MinConsumer int
	// BadConsumers are versions of this class's code that can't read the data
	// that Save returns. Default: none.
	BadConsumers []int
	// AlternateIDs are other identifiers under which files name the class. Default:
	// none.
	AlternateIDs []string
	// Registered writes the identifier as the objects' registered name too, by which
	// TensorFlow finds a Python class of register_serializable. Default: only objects that
	// are no user objects, such as variables and resources, have a registered name.
	Registered bool
	// Matches reports whether the class is that of an object. Default: the object's type
	// is T. The class registered last is asked first.
	Matches func(obj trackable.Trackable) bool
	// Save returns the data to save for an object. Default: the result of the
	// object's method SavedModelSpec if it is a [Specifier], and its edges
	// otherwise.
	Save func(sc *SaveContext, obj T) (*SaveSpec, error)
	// Load makes an object of saved data. Default: objects load as generic
	// ones.
	Load func(ctx context.Context, spec *LoadSpec) (T, error)
}

// Specifier is an object that returns its own data to save; see [Class].
type Specifier interface {
	SavedModelSpec(sc *SaveContext) (*SaveSpec, error)
}

// The rules of registration are those of TensorFlow's RFC on registered SavedModel classes and of
// registration.py: identifiers, versions, and the order in which classes are asked.

// class is a Class without its type.
type class struct {
	pkg, name, id string
	alternates    []string
	version, min  int
	bad           []int
	registered    bool
	matches       func(trackable.Trackable) bool
	save          func(*SaveContext, trackable.Trackable) (*SaveSpec, error)
	load          func(context.Context, *LoadSpec) (trackable.Trackable, error)
}

// Classes is a set of registered classes. The zero Classes is empty and ready; it may be
// used from many goroutines.
type Classes struct {
	mu   sync.RWMutex
	list []*class
	byID map[string]*class
}

// reservedPackage is the package of TensorFlow's own classes.
const reservedPackage = "tf"

// tensorFlowClasses are the names in that package that TensorFlow allows.
var tensorFlowClasses = []string{"StaticHashTable", "TrackableConstant"}

// Register adds a class. Errors are an identifier that is taken (also as an alternate
// of another class), a class without a name, and a name in package "tf" that
// TensorFlow's list lacks. Negative versions, a MinConsumer above Version, and a T that is
// no pointer without Matches are errors too.
func Register[T trackable.Trackable](classes *Classes, c Class[T]) error {
	x := &class{
		pkg: c.Package, name: c.Name, id: identifier(c.Package, c.Name), alternates: slices.Clone(c.AlternateIDs),
		version: max(c.Version, 1), min: max(c.MinConsumer, 1), bad: slices.Clone(c.BadConsumers), registered: c.Registered, matches: c.Matches,
	}
	t := reflect.TypeFor[T]()
	switch {
	case c.Name == "":
		return fmt.Errorf("savedmodel: register %v: the class of package %q has no name", t, c.Package)
	case c.Version < 0 || c.MinConsumer < 0:
		return fmt.Errorf("savedmodel: register %q: versions are positive (got %d and %d)", x.id, c.Version, c.MinConsumer)
	case c.Package == reservedPackage && !slices.Contains(tensorFlowClasses, c.Name):
		return fmt.Errorf("savedmodel: register %q: the package %q is TensorFlow's own; choose another", x.id, reservedPackage)
	case x.min > x.version:
		return fmt.Errorf("savedmodel: register %q: the class writes version %d, which asks for readers of version %d", x.id, x.version, x.min)
	case t.Kind() != reflect.Pointer && c.Matches == nil:
		return fmt.Errorf("savedmodel: register %q: a class is a pointer type (got %v), or has Matches", x.id, t)
	}
	if x.matches == nil {
		x.matches = func(obj trackable.Trackable) bool { return reflect.TypeOf(obj) == t }
	}
	if c.Save != nil {
		x.save = func(sc *SaveContext, obj trackable.Trackable) (*SaveSpec, error) { return c.Save(sc, obj.(T)) }
	}
	if c.Load != nil {
		x.load = func(ctx context.Context, spec *LoadSpec) (trackable.Trackable, error) { return c.Load(ctx, spec) }
	}
	classes.mu.Lock()
	defer classes.mu.Unlock()
	for _, id := range append([]string{x.id}, x.alternates...) {
		if other := classes.byID[id]; other != nil {
			return fmt.Errorf("savedmodel: register %q: the identifier %q is that of the class %q already", x.id, id, other.id)
		}
	}
	if classes.byID == nil {
		classes.byID = map[string]*class{}
	}
	for _, id := range append([]string{x.id}, x.alternates...) {
		classes.byID[id] = x
	}
	classes.list = append(classes.list, x)
	return nil
}

// identifier returns a class's identifier in files.
func identifier(pkg, name string) string {
	if pkg == "" {
		return name
	}
	return pkg + "." + name
}

// Identifiers returns the identifiers of the classes, in the order of registration.
func (c *Classes) Identifiers() []string {
	if c == nil {
		return nil
	}
	c.mu.RLock()
	defer c.mu.RUnlock()
	var out []string
	for _, x := range c.list {
		out = append(out, x.id)
	}
	return out
}

// enabled reports whether a class is of one of the packages, or of the global one.
func (x *class) enabled(packages []string) bool {
	return x.pkg == "" || slices.Contains(packages, x.pkg)
}

// of returns the class of an object among those of the packages; nil for none. Classes
// of packages are asked before those of the global one.
func (c *Classes) of(obj trackable.Trackable, packages []string) *class {
	if c == nil {
		return nil
	}
	c.mu.RLock()
	defer c.mu.RUnlock()
	var global *class
	for _, x := range slices.Backward(c.list) {
		if !x.enabled(packages) || !x.matches(obj) {
			continue
		}
		if x.pkg != "" {
			return x
		}
		if global == nil {
			global = x
		}
	}
	return global
}

// lookup returns the class of an identifier; nil for none.
func (c *Classes) lookup(id string, packages []string) *class {
	if c == nil {
		return nil
	}
	c.mu.RLock()
	defer c.mu.RUnlock()
	if x := c.byID[id]; x != nil && x.enabled(packages) {
		return x
	}
	return nil
}

// A VersionError reports a version of an object that its class can't load. The Load of a
// program's class may return it; this package doesn't.
type VersionError struct {
	Identifier string
	// Got is the version in the file.
	Got int
	// Max is the newest version that the class takes; 0 if the file itself forbids
	// this class's version.
	Max int
}

// Error returns the versions.
func (e *VersionError) Error() string {
	if e.Max == 0 {
		return fmt.Sprintf("savedmodel: the file's %q of version %d can't be read by this version of the class", e.Identifier, e.Got)
	}
	return fmt.Sprintf("savedmodel: %q has version %d, the newest that is known is %d; update the program", e.Identifier, e.Got, e.Max)
}

// SaveSpec is the data to save for an object.
type SaveSpec struct {
	// Metadata is text that the class's Load gets back, UTF-8, such as JSON. Default:
	// none.
	Metadata []byte
	// Children are the object's edges, in order. A child may be a slice or a map with
	// string keys of children, which become TensorFlow's lists and dictionaries.
	// Nil means the edges that the object has; an empty list means none.
	Children []trackable.Edge
	// ProtoType and Proto are the type's URL and the encoded bytes of a message that is
	// saved besides. Default: none.
	ProtoType string
	Proto     []byte
	// Dependencies lead to the objects that the class's Load needs to make the
	// object, by names that the class chooses. Each is also a child of a saved
	// object. A cycle of dependencies is an error of the save. Default: none.
	Dependencies []trackable.Edge
}

// Child returns the child that an edge leads to; nil if there is none.
func (s *SaveSpec) Child(name string) trackable.Trackable {
	for _, e := range s.Children {
		if e.Name == name {
			return e.Child
		}
	}
	return nil
}

// SetChild makes an edge lead to child; a new edge comes after the others.
func (s *SaveSpec) SetChild(name string, child trackable.Trackable) {
	for i, e := range s.Children {
		if e.Name == name {
			s.Children[i].Child = child
			return
		}
	}
	s.Children = append(s.Children, trackable.Edge{Name: name, Child: child})
}

// RemoveChild removes an edge. Removing a variable that a function captures is an error
// of the save.
func (s *SaveSpec) RemoveChild(name string) {
	s.Children = slices.DeleteFunc(s.Children, func(e trackable.Edge) bool { return e.Name == name })
}

// SaveContext is the context of a save for a class's Save.
type SaveContext struct {
	ctx   context.Context
	opts  *SaveOptions
	cache map[any]any
}

// Context returns the context of the save.
func (sc *SaveContext) Context() context.Context { return sc.ctx }

// Options returns the options of the save; they must not be changed.
func (sc *SaveContext) Options() *SaveOptions { return sc.opts }

// Cached returns the value that is stored under key during this save. If there
// is none, it calls make and stores the result. Use it for objects that are
// made for a save, such as a function that calls a layer: all objects that need
// one share it, and it is stored once.
func (sc *SaveContext) Cached(key any, make func() (any, error)) (any, error) {
	if v, ok := sc.cache[key]; ok {
		return v, nil
	}
	v, err := make()
	if err == nil {
		sc.cache[key] = v
	}
	return v, err
}

// Default returns the edges that an object has: fields, attached objects and functions.
// It doesn't ask the object's class. The caller may change the list.
func (sc *SaveContext) Default(obj trackable.Trackable) (*SaveSpec, error) {
	edges, err := trackable.SavedModelChildren(obj)
	if err != nil {
		return nil, err
	}
	if edges == nil {
		edges = []trackable.Edge{}
	}
	return &SaveSpec{Children: slices.Clone(edges)}, nil
}

// specOf returns the data that a class saves for an object. Its list of
// children is not nil.
func (x *class) specOf(sc *SaveContext, obj trackable.Trackable) (spec *SaveSpec, err error) {
	defer func() {
		if p := recover(); p != nil {
			spec, err = nil, fmt.Errorf("the class %q panicked: %v", x.id, p)
		}
	}()
	switch s, ok := obj.(Specifier); {
	case x.save != nil:
		spec, err = x.save(sc, obj)
	case ok:
		spec, err = s.SavedModelSpec(sc)
	default:
		spec, err = sc.Default(obj)
	}
	if err != nil {
		return nil, fmt.Errorf("the class %q: %w", x.id, err)
	}
	if spec == nil {
		spec = &SaveSpec{}
	}
	if !validText(spec.Metadata) {
		return nil, fmt.Errorf("the class %q: the metadata is not UTF-8; save bytes as a message (SaveSpec.Proto)", x.id)
	}
	out := *spec
	if out.Children == nil {
		all, err := sc.Default(obj)
		if err != nil {
			return nil, err
		}
		out.Children = all.Children
	}
	for i, e := range out.Children {
		if out.Children[i].Child, err = nested(e.Child); err != nil {
			return nil, fmt.Errorf("the class %q: child %q: %w", x.id, e.Name, err)
		}
	}
	for _, e := range out.Dependencies {
		if e.Child == nil || reflect.ValueOf(e.Child).Kind() != reflect.Pointer || reflect.ValueOf(e.Child).IsNil() {
			return nil, fmt.Errorf("the class %q: dependency %q: it is a %T, want a pointer to an object", x.id, e.Name, e.Child)
		}
	}
	return &out, nil
}

// validText reports whether b is UTF-8, which a string field of a message must be.
func validText(b []byte) bool { return strings.ToValidUTF8(string(b), "") == string(b) }

// nested returns a child that is a slice or a map as an object.
func nested(child trackable.Trackable) (trackable.Trackable, error) {
	v := reflect.ValueOf(child)
	switch v.Kind() {
	case reflect.Slice, reflect.Map:
		p := reflect.New(v.Type())
		p.Elem().Set(v)
		return p.Interface(), nil
	case reflect.Pointer:
		if v.IsNil() {
			return nil, fmt.Errorf("it is nil")
		}
		return child, nil
	}
	return nil, fmt.Errorf("it is a %T, which is no object; use a pointer, a slice or a map", child)
}
