package config

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/cairnml/cairn/internal/nearest"
)

// Class describes a type, or a named function, that configs refer to by name. Packages such as
// keras/layers list their classes in classes.go. Modules and names are tf_keras's and must stay.
type Class struct {
	// Module is the Python module that the JSON names, such as "keras.layers".
	Module string
	// Name is the class's or the function's name, such as "Dense" or "relu".
	Name string
	// Package is the package of a registered class ("package>Name"). Default: the
	// class is built in.
	Package string
	// Aliases are further names that a config may use for the class.
	Aliases []string
	// Private makes the new form repeat the class's name as registered_name, as tf_keras
	// does for classes outside its public modules. Default: registered_name is null.
	Private bool
	// New makes the object whose fields a config then sets. Default: a zero value.
	New func() any

	typ   reflect.Type // a struct or a pointer to one; nil for a function
	value any          // the function
}

// Of describes a class whose objects are of type T, a struct or a pointer to one.
func Of[T any](module, name string, aliases ...string) Class {
	return Class{Module: module, Name: name, Aliases: aliases, typ: reflect.TypeFor[T]()}
}

// PrivateOf describes a class as [Of] does, one outside of tf_keras's public modules.
func PrivateOf[T any](module, name string, aliases ...string) Class {
	c := Of[T](module, name, aliases...)
	c.Private = true
	return c
}

// Function describes a named value that a config refers to by a plain string, such as
// the activation "relu".
func Function(module, name string, value any, aliases ...string) Class {
	return Class{Module: module, Name: name, Aliases: aliases, value: value}
}

// Registered describes a program's class of type T, which tf_keras knows as
// pkg>name. Module is "builtins", unless the program sets another one.
func Registered[T any](pkg, name string) Class {
	c := Of[T]("builtins", name)
	c.Package = pkg
	return c
}

// Classed is implemented by objects that choose the class under which they are written,
// if one Go type represents several classes of tf_keras. c is the type's class. legacy
// reports the form {"class_name", "config"}.
type Classed interface {
	ConfigClass(c Class, legacy bool) Class
}

func (c *Class) registeredName() string { return c.Package + ">" + c.Name }

// Classes is an immutable set of classes. The zero value has none.
type Classes struct {
	list   []*Class
	byName map[string][]*Class     // by names, aliases, registered names, and snake case
	byType map[reflect.Type]*Class // classes of types
	byFunc map[any]*Class          // named functions that are comparable

	ctx     context.Context // of the objects that are decoded; nil for the background
	unknown func(class string, config map[string]any) (any, error)
	decoded func(obj any) error
}

// WithUnknown returns a set in which f makes the layers and other objects whose class is
// unknown, if any class is possible there. config is the object's config in the file, and
// may be nil.
func (c *Classes) WithUnknown(f func(class string, config map[string]any) (any, error)) *Classes {
	out := *c
	out.unknown = f
	return &out
}

// WithContext returns a set whose objects are decoded under a context; see [Decoder.Context].
func (c *Classes) WithContext(ctx context.Context) *Classes {
	out := *c
	out.ctx = ctx
	return &out
}

// WithDecoded returns a set with which f is called for each object that is decoded, before
// the object that contains it is complete.
func (c *Classes) WithDecoded(f func(obj any) error) *Classes {
	out := *c
	out.decoded = f
	return &out
}

// New returns the set of all given classes. Two classes of one type, and two of one
// name in one module, are an error.
func New(lists ...[]Class) (*Classes, error) { return new(Classes).With(lists...) }

// Must returns c, and panics if err is not nil. It is for sets of literals.
func Must(c *Classes, err error) *Classes {
	if err != nil {
		panic(err)
	}
	return c
}

// With returns a set that has the classes of lists as well.
func (c *Classes) With(lists ...[]Class) (*Classes, error) {
	out := &Classes{list: slices.Clone(c.list), byName: map[string][]*Class{}, byType: maps.Clone(c.byType), byFunc: maps.Clone(c.byFunc), ctx: c.ctx, unknown: c.unknown, decoded: c.decoded}
	if out.byType == nil {
		out.byType, out.byFunc = map[reflect.Type]*Class{}, map[any]*Class{}
	}
	for name, l := range c.byName {
		out.byName[name] = slices.Clone(l)
	}
	for _, l := range lists {
		for i := range l {
			if err := out.add(l[i]); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

func (c *Classes) add(n Class) error {
	names := append([]string{n.Name}, n.Aliases...)
	switch {
	case n.Name == "":
		return fmt.Errorf("config: a class has no name")
	case n.typ != nil:
		s := n.typ
		if s.Kind() == reflect.Pointer {
			s = s.Elem()
		}
		if s.Kind() != reflect.Struct {
			return fmt.Errorf("config: class %s: %v is neither a struct nor a pointer to one", n.Name, n.typ)
		}
		if p := planOf(s); p.err != nil {
			return p.err
		}
		if other := c.byType[n.typ]; other != nil {
			return fmt.Errorf("config: %v is class %s already (got %s as well)", n.typ, other.Name, n.Name)
		}
		c.byType[n.typ] = &n
	case n.value != nil:
		if reflect.TypeOf(n.value).Comparable() {
			c.byFunc[n.value] = &n
		}
	default:
		return fmt.Errorf("config: class %s has no type; make it with Of, Registered or Function", n.Name)
	}
	if n.Package != "" {
		names = append(names, n.registeredName())
	}
	if n.typ != nil {
		names = append(names, SnakeCase(n.Name))
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		for _, other := range c.byName[name] {
			if other.Module == n.Module && other.Package == n.Package && other.Name == n.Name {
				return fmt.Errorf("config: there are two classes %s in %s", n.Name, n.Module)
			}
		}
		c.byName[name] = append(c.byName[name], &n)
	}
	c.list = append(c.list, &n)
	return nil
}

// Lookup returns the type of the class of a name, nil if it is unknown.
func (c *Classes) Lookup(name string) reflect.Type {
	for _, k := range c.byName[name] {
		if k.typ != nil {
			return k.typ
		}
	}
	return nil
}

// ClassOf returns the class of an object. ok is false if its type is in no class.
func (c *Classes) ClassOf(obj any) (class Class, ok bool) {
	if k := c.byType[reflect.TypeOf(obj)]; k != nil {
		return *k, true
	}
	return Class{}, false
}

// find returns the class of a name whose objects a field of type want can hold. Among
// several it prefers that of the module, then one that has all fields of the config.
func (c *Classes) find(name, module string, want reflect.Type, fields map[string]any) (*Class, error) {
	var found *Class
	best := -1
	for _, k := range c.byName[name] {
		if !k.fits(want) {
			continue
		}
		score := 0
		if k.Module == module {
			score += 2
		}
		if k.has(fields) {
			score++
		}
		if score > best {
			found, best = k, score
		}
	}
	if found != nil {
		return found, nil
	}
	if known := c.byName[name]; known != nil {
		return nil, fmt.Errorf("class %q: it is no %v", name, want)
	}
	var names []string
	for known, l := range c.byName {
		if slices.ContainsFunc(l, func(k *Class) bool { return k.fits(want) }) {
			names = append(names, known)
		}
	}
	slices.Sort(names)
	return nil, &UnknownError{Kind: "class", Name: name, Near: nearest.Names(name, names, 3)}
}

// has reports whether a config of the class can have all the given fields.
func (k *Class) has(fields map[string]any) bool {
	if k.typ == nil {
		return len(fields) == 0
	}
	t := k.typ
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	p := planOf(t)
	for name := range fields {
		if _, ok := p.byName[name]; !ok {
			return false
		}
	}
	return true
}

func (k *Class) fits(want reflect.Type) bool {
	t := k.typ
	if t == nil {
		t = reflect.TypeOf(k.value)
	}
	return t.AssignableTo(want)
}

// UnknownError reports a class or a field of a config that is not known.
type UnknownError struct {
	Kind string   // "class" or "field"
	Of   string   // the class that a field belongs to
	Name string   // the name in the config
	Near []string // known names that are near it
}

// Error returns a text with the unknown name, and the nearest known names.
func (e *UnknownError) Error() string {
	msg := fmt.Sprintf("unknown %s %q", e.Kind, clip(e.Name))
	if e.Of != "" {
		msg = e.Of + ": " + msg
	}
	if len(e.Near) > 0 {
		msg += "; similar names: " + strings.Join(e.Near, ", ")
	}
	return msg
}

// clip shortens a text from a file for an error.
func clip(s string) string {
	if len(s) > 80 {
		return s[:80] + "…"
	}
	return s
}
