package hdf5

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/cairnml/cairn/internal/nearest"
)

// An Object is a [*Group], a [*Dataset] or a [*NamedType].
type Object interface {
	// Path returns the names that lead to the object, as "/layers/dense".
	Path() string
	// Attributes returns the object's attributes, sorted by name.
	Attributes() ([]*Attribute, error)
	// Attribute returns one attribute; the error is a [NotFoundError] if there is none.
	Attribute(name string) (*Attribute, error)
}

// object is the part that all objects have.
type object struct {
	f    *File
	path string
	h    *header
}

// Path returns the names that lead to the object.
func (o *object) Path() string { return o.path }

// A Group is a directory of objects.
type Group struct{ object }

// A NamedType is a datatype that is a separate object.
type NamedType struct {
	object
	t Type
}

// Type returns the datatype.
func (t *NamedType) Type() Type { return t.t }

// object returns the object with a header.
func (f *File) object(m *meter, path string, h *header) (Object, error) {
	switch {
	case h.find(msgSymbolTable) != nil || h.find(msgLinkInfo) != nil || h.find(msgGroupInfo) != nil:
		return f.group(path, h)
	case h.find(msgLayout) != nil:
		return f.dataset(m, path, h)
	case h.find(msgDatatype) != nil:
		t, err := f.datatype(m, *h.find(msgDatatype))
		return &NamedType{object{f, path, h}, t}, err
	}
	return nil, &CorruptError{Offset: f.base + int64(h.addr), What: "an object that is no group, dataset or datatype"}
}

// group returns the group with a header.
func (f *File) group(path string, h *header) (*Group, error) {
	if h.find(msgSymbolTable) == nil && h.find(msgLinkInfo) == nil && h.find(msgGroupInfo) == nil {
		return nil, &CorruptError{Offset: f.base + int64(h.addr), What: "the object is no group"}
	}
	return &Group{object{f, path, h}}, nil
}

// Links returns the group's links, sorted by name; they must not be changed.
func (g *Group) Links() ([]Link, error) {
	l, err := g.f.linksOf(g.f.meter(), g.h)
	if err != nil {
		return nil, at(g.path, err)
	}
	return l.list, nil
}

// child returns the object that a link of the group leads to.
func (g *Group) child(m *meter, name string) (Object, error) {
	l, err := g.f.linksOf(m, g.h)
	if err != nil {
		return nil, at(g.path, err)
	}
	i, ok := slices.BinarySearchFunc(l.list, name, func(k Link, name string) int { return cmp.Compare(k.Name, name) })
	if !ok {
		return nil, g.missing(name, "object", l)
	}
	return g.follow(m, l.list[i])
}

// follow returns the object of a link.
func (g *Group) follow(m *meter, k Link) (Object, error) {
	path := join(g.path, k.Name)
	if k.Kind != HardLink {
		kind := "a soft link"
		if k.Kind == ExternalLink {
			kind = "a link to another file"
		}
		return nil, &UnsupportedError{path, fmt.Sprintf("%s (to %.300q)", kind, k.Target)}
	}
	h, err := g.f.header(m, k.addr)
	if err != nil {
		return nil, at(path, err)
	}
	o, err := g.f.object(m, path, h)
	if err != nil {
		return nil, at(path, err)
	}
	return o, nil
}

func join(path, name string) string {
	if path == "/" {
		return path + name
	}
	return path + "/" + name
}

func (g *Group) missing(name, what string, l *links) error {
	e := &NotFoundError{Path: join(g.path, name), What: what}
	names := make([]string, 0, len(l.list))
	for _, k := range l.list {
		names = append(names, k.Name)
	}
	e.Nearest = nearest.Names(name, names, 5)
	return e
}

// maxDepth is how deep groups may be nested. The limit is Cairn's, not the format's.
const maxDepth = 256

// Open returns the object at a path below the group, as "dense/kernel:0"; empty parts of it
// are ignored. The error is a [NotFoundError] if there is none, and an [UnsupportedError] at a
// link that is not followed.
func (g *Group) Open(path string) (Object, error) {
	m := g.f.meter()
	var o Object = g
	depth := 0
	for name := range strings.SplitSeq(path, "/") {
		if name == "" {
			continue
		}
		if depth++; depth > maxDepth {
			return nil, &UnsupportedError{g.path, fmt.Sprintf("paths of more than %d names", maxDepth)}
		}
		in, ok := o.(*Group)
		if !ok {
			return nil, &NotFoundError{Path: o.Path(), What: "group"}
		}
		var err error
		if o, err = in.child(m, name); err != nil {
			return nil, err
		}
	}
	return o, nil
}

// Group returns the group at a path below g, as Open does.
func (g *Group) Group(path string) (*Group, error) {
	o, err := g.Open(path)
	if err != nil {
		return nil, err
	}
	if in, ok := o.(*Group); ok {
		return in, nil
	}
	return nil, &NotFoundError{Path: o.Path(), What: "group"}
}

// Dataset returns the dataset at a path below g, as Open does.
func (g *Group) Dataset(path string) (*Dataset, error) {
	o, err := g.Open(path)
	if err != nil {
		return nil, err
	}
	if d, ok := o.(*Dataset); ok {
		return d, nil
	}
	return nil, &NotFoundError{Path: o.Path(), What: "dataset"}
}

// Walk calls visit for each object below the group, a group before its contents and names in
// their order. An object with several names is visited once, at the first. The walk ends at the
// first error, which it returns; links that are not followed are errors.
func (g *Group) Walk(visit func(Object) error) error {
	return g.walk(map[uint64]bool{g.h.addr: true}, 1, visit)
}

func (g *Group) walk(seen map[uint64]bool, depth int, visit func(Object) error) error {
	list, err := g.Links()
	if err != nil {
		return err
	}
	if depth > maxDepth {
		return &UnsupportedError{g.path, fmt.Sprintf("groups more than %d deep", maxDepth)}
	}
	for _, k := range list {
		if k.Kind == HardLink {
			if seen[k.addr] {
				continue
			}
			seen[k.addr] = true
		}
		o, err := g.follow(g.f.meter(), k)
		if err != nil {
			return err
		}
		if err := visit(o); err != nil {
			return err
		}
		if in, ok := o.(*Group); ok {
			if err := in.walk(seen, depth+1, visit); err != nil {
				return err
			}
		}
	}
	return nil
}
