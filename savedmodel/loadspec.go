package savedmodel

import (
	"context"
	"fmt"
	"slices"

	"github.com/cairnml/cairn/internal/nearest"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// LoadSpec is the data of an object in a model's file, for the class that makes
// it. Its children are made on request, each once.
type LoadSpec struct {
	// Identifier is the class that the file names.
	Identifier string
	// Version is the version of the class that wrote the object. A file without one has
	// version 1.
	Version int
	// Metadata is the text that the class saved.
	Metadata []byte
	// ProtoType and Proto are the message that the class saved besides; "" and nil for
	// none.
	ProtoType string
	Proto     []byte
	// Kind is the object's kind.
	Kind Kind

	r  *restorer
	id int // the object's number in the file
}

// spec returns the spec of a node.
func (r *restorer) spec(id int) *LoadSpec {
	if s := r.specs[id]; s != nil {
		return s
	}
	o := r.meta.Objects[id]
	identifier := o.Identifier
	if o.RegisteredName != "" && (o.Kind != UserObject || r.opts.Classes.lookup(o.RegisteredName, r.opts.Packages) != nil) {
		identifier = o.RegisteredName
	}
	s := &LoadSpec{
		Identifier: identifier, Version: max(o.Version, 1), Metadata: []byte(o.Metadata),
		ProtoType: o.ProtoType, Proto: slices.Clone(o.Proto), Kind: o.Kind, r: r, id: id,
	}
	r.specs[id] = s
	return s
}

// Path returns the path from the root to the object, for people.
func (s *LoadSpec) Path() string { return s.r.path(s.id) }

// Children returns the names of the object's edges, in order.
func (s *LoadSpec) Children() []string {
	var names []string
	for _, e := range s.r.meta.Objects[s.id].Children {
		names = append(names, e.Name)
	}
	return names
}

// Child returns the data of the object to which an edge leads. Nested lists and
// dictionaries are objects whose edges are "0", "1" and so on, or the keys.
func (s *LoadSpec) Child(name string) (*LoadSpec, error) {
	o := s.r.meta.Objects[s.id].Child(name)
	if o == nil {
		names := s.Children()
		return nil, &NotFoundError{Kind: "child", Name: name, Near: nearest.Names(name, names, 5), Note: "of " + s.Path()}
	}
	return s.r.spec(o.ID), nil
}

// Dependencies returns the names of the object's dependencies, in order.
func (s *LoadSpec) Dependencies() []string {
	var names []string
	for _, e := range s.r.meta.Objects[s.id].Dependencies {
		names = append(names, e.Name)
	}
	return names
}

// Dependency returns the data of an object that this one requires. It is often
// a child of this object or of another one, too.
func (s *LoadSpec) Dependency(name string) (*LoadSpec, error) {
	for _, e := range s.r.meta.Objects[s.id].Dependencies {
		if e.Name == name {
			return s.r.spec(e.Object.ID), nil
		}
	}
	names := s.Dependencies()
	return nil, &NotFoundError{Kind: "dependency", Name: name, Near: nearest.Names(name, names, 5), Note: "of " + s.Path()}
}

// Deserialize makes the object: by its class, or as a generic one. A second call returns
// the same object.
func (s *LoadSpec) Deserialize(ctx context.Context) (trackable.Trackable, error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	return s.r.resolve(s.id)
}

// Child makes the object to which an edge of a spec's object leads, and returns it as a
// T. Another type is an error.
func Child[T any](ctx context.Context, spec *LoadSpec, name string) (T, error) {
	var zero T
	child, err := spec.Child(name)
	if err != nil {
		return zero, err
	}
	obj, err := child.Deserialize(ctx)
	if err != nil {
		return zero, err
	}
	if x, ok := obj.(T); ok {
		return x, nil
	}
	return zero, fmt.Errorf("savedmodel: load %s: the object has another type (got %T, want %T)", child.Path(), obj, zero)
}

// Publish makes the spec's object known before its class's Load has returned
// it, for objects below it that lead back to it. Load must return the same
// object.
func (s *LoadSpec) Publish(obj trackable.Trackable) error {
	if have := s.r.objects[s.id]; have != nil && have != obj {
		return fmt.Errorf("savedmodel: load %s: the object was published already", s.Path())
	}
	s.r.objects[s.id] = obj
	return nil
}

// SetCheckpoint sets the objects that receive the values of the spec's object
// and of those below it, if the class's structure differs from the file: root's
// edges are the file's. The class's own object then receives none of them. It
// is an error if an object has no edge in the file. Values without an object
// are listed in [Restored].Unused.
func (s *LoadSpec) SetCheckpoint(root trackable.Trackable) error {
	if root == nil {
		return fmt.Errorf("savedmodel: load %s: SetCheckpoint of nothing", s.Path())
	}
	if _, err := trackable.Walk(root, nil); err != nil {
		return err
	}
	s.r.checkpoints = append(s.r.checkpoints, livePlace{root, s.id})
	return nil
}

// classOf returns the class that makes a node's object; nil for a generic one. Identifiers of TensorFlow's
// and Keras's own structures ("_…", plainIdentifiers) are no unknown classes, so they aren't reported.
func (r *restorer) classOf(id int) (*class, error) {
	o := r.meta.Objects[id]
	if r.opts.Classes == nil {
		return nil, nil
	}
	name := o.Identifier
	x := r.opts.Classes.lookup(name, r.opts.Packages)
	if o.RegisteredName != "" { // the older kind of registration, of objects of any kind
		if y := r.opts.Classes.lookup(o.RegisteredName, r.opts.Packages); y != nil {
			name, x = o.RegisteredName, y
		}
	}
	unknown := func(reason string) {
		r.result.Unknown = append(r.result.Unknown, UnknownClass{r.path(id), name, max(o.Version, 1), reason})
	}
	switch {
	case o.Kind != UserObject && o.RegisteredName == "":
		return nil, nil
	case x == nil:
		if name != "" && name[0] != '_' && !slices.Contains(plainIdentifiers, name) {
			unknown("no class of this identifier is registered in the packages that are used")
		}
		return nil, nil
	case r.foreign.objects[id] != nil:
		unknown("the object has fields that this version of the package doesn't know, which the class could not keep")
		return nil, nil
	case x.load == nil:
		unknown("the class has no Load")
		return nil, nil
	case x.version < o.MinConsumer:
		unknown(fmt.Sprintf("the file asks for version %d of the class, the program has %d", o.MinConsumer, x.version))
		return nil, nil
	case slices.Contains(o.BadConsumers, x.version):
		unknown(fmt.Sprintf("the file refuses version %d of the class", x.version))
		return nil, nil
	}
	return x, nil
}

// plainIdentifiers are those of TensorFlow's own structures, which are generic objects
// here.
var plainIdentifiers = []string{"trackable_list_wrapper", "trackable_dict_wrapper", "trackable_tuple_wrapper", "signature_map", "optimizer"}

// load makes an object by its class.
func (r *restorer) load(id int, x *class) (obj trackable.Trackable, err error) {
	r.loading[id] = true
	defer delete(r.loading, id)
	before := len(r.checkpoints)
	func() {
		defer func() {
			if p := recover(); p != nil {
				err = fmt.Errorf("the class %q panicked: %v", x.id, p)
			}
		}()
		obj, err = x.load(r.ctx, r.spec(id))
	}()
	if err != nil {
		return nil, fmt.Errorf("savedmodel: load %s: %w", r.path(id), err)
	}
	if obj == nil {
		return nil, fmt.Errorf("savedmodel: load %s: the class %q returned no object", r.path(id), x.id)
	}
	if have := r.objects[id]; have != nil && have != obj {
		return nil, fmt.Errorf("savedmodel: load %s: the class %q returned another object than the one that it published", r.path(id), x.id)
	}
	r.objects[id] = obj
	own := slices.ContainsFunc(r.checkpoints[before:], func(p livePlace) bool { return p.id == id })
	if !own {
		r.places = append(r.places, livePlace{obj, id})
	}
	return obj, nil
}

// giveValues assigns the file's values to the objects of SetCheckpoint, and then to those that classes
// made: an object that both reach has the value by SetCheckpoint. After an error some values are
// assigned.
func (r *restorer) giveValues() error {
	for len(r.checkpoints) > 0 || len(r.places) > 0 {
		list := r.checkpoints
		if len(list) == 0 {
			list, r.places = r.places, nil
		} else {
			r.checkpoints = nil
		}
		for _, p := range list {
			if err := r.give(p); err != nil {
				return err
			}
		}
	}
	return nil
}

// give walks an object and the file's object in parallel.
func (r *restorer) give(root livePlace) error {
	seen := map[any]bool{}
	for queue := []livePlace{root}; len(queue) > 0; queue = queue[1:] {
		p := queue[0]
		key := trackable.Identity(p.object)
		if seen[key] {
			continue
		}
		seen[key] = true
		o := r.meta.Objects[p.id]
		if v, ok := p.object.(trackable.VariableLike); ok && o.Kind == VariableObject {
			if err := r.assign(v.AsVariable(), p.id); err != nil {
				return err
			}
		}
		if r.generic[p.id] && r.objects[p.id] == p.object {
			continue // the file's own object, whose edges are the file's
		}
		edges, err := trackable.Children(p.object)
		if err != nil {
			return fmt.Errorf("savedmodel: load %s: %w", r.path(p.id), err)
		}
		for _, e := range edges {
			child := o.Child(e.Name)
			if child == nil {
				if err := r.missing(e, p.id); err != nil {
					return err
				}
				continue
			}
			queue = append(queue, livePlace{e.Child, child.ID})
		}
	}
	return nil
}

// missing refuses a variable of the program for which the file has no value.
func (r *restorer) missing(e trackable.Edge, id int) error {
	if r.opts.AllowMissing {
		return nil
	}
	vars, err := trackable.Variables(e.Child)
	if err != nil || len(vars) == 0 {
		return err
	}
	return fmt.Errorf("savedmodel: load %s: the file has no value for the variables of the object's %q (its edges there are %s); use SetCheckpoint for a class whose structure has changed, or RestoreOptions.AllowMissing",
		r.path(id), e.Name, nearest.Quoted(r.spec(id).Children()))
}

// assign assigns the value of a variable of the file to one of the program.
func (r *restorer) assign(v *trackable.Variable, id int) error {
	if other := r.bound[id]; other != nil && other != v {
		return fmt.Errorf("savedmodel: load %s: two variables of the program correspond to the file's", r.path(id))
	}
	r.bound[id] = v
	if have, ok := r.objects[id].(*trackable.Variable); ok {
		if have == v { // Restore made it with its value
			return nil
		}
	}
	t := r.values[id]
	if t == nil {
		if by, ok := r.registered[id]; ok {
			return r.filledBy(by, id)
		}
		if r.byFunction[id] != nil {
			return r.filledByFunction(id)
		}
		return fmt.Errorf("savedmodel: load %s: the checkpoint has no value for the variable", r.path(id))
	}
	if v.DType() == tensor.Invalid {
		v.Init(t)
		return nil
	}
	if err := v.StoreShared(t); err != nil {
		return fmt.Errorf("savedmodel: load %s: %w", r.path(id), err)
	}
	return nil
}
