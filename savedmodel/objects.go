package savedmodel

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/internal/nearest"
	"github.com/cairnml/cairn/internal/pb"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// Kind is the kind of an object.
type Kind uint8

// The kinds of objects.
const (
	// Nothing is an object that the file doesn't describe, or a kind that this
	// package doesn't know.
	Nothing Kind = iota
	// UserObject is an object of a Python class: a module, a layer, a list.
	UserObject
	// AssetObject is a file.
	AssetObject
	// FunctionObject is a tf.function with its traces.
	FunctionObject
	// VariableObject is a variable.
	VariableObject
	// BareFunction is one trace, called by itself.
	BareFunction
	// ConstantObject is a tensor that functions capture.
	ConstantObject
	// ResourceObject is a table or another resource that functions make.
	ResourceObject
	// CapturedTensor is an intermediate tensor of one function that another one
	// captures.
	CapturedTensor
)

var kindNames = [...]string{"object", "user object", "asset", "function", "variable", "concrete function", "constant", "resource", "captured tensor"}

// String returns the kind in words.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return fmt.Sprintf("kind(%d)", uint8(k))
}

// Object is a node of the object graph.
type Object struct {
	// ID is the object's number: its index in [MetaGraph].Objects, and in the file.
	ID int
	// Kind decides which of the fields below are set.
	Kind Kind
	// Children are the named edges in order; several may lead to one object.
	Children []Edge
	// Variable describes a VariableObject.
	Variable *VariableInfo
	// Function describes a FunctionObject or BareFunction.
	Function *FunctionInfo
	// Details are properties that few objects have, or that many share. They
	// are never nil.
	*Details
}

// Details are an object's properties besides its children, its variable and its
// function. Objects with equal properties share them.
type Details struct {
	// Dependencies are the objects that have to be made before this one. Those
	// of a function are its captures, among others.
	Dependencies []Edge
	// Traits are the rest. They are never nil.
	*Traits
}

// Traits are an object's properties besides its edges, its variable and its
// function. Objects with equal properties share them.
type Traits struct {
	// Slots are the slot variables that an optimizer keeps.
	Slots []Slot
	// RegisteredName is the class under which the object was registered,
	// RegisteredSaver the saver of its values; "" for most.
	RegisteredName, RegisteredSaver string
	// ProtoType and Proto are a message of the user's, encoded, and its type.
	ProtoType string
	Proto     []byte
	// Requires leads from a live object to those that have to be made before it. A save
	// writes them as dependencies. [Details].Dependencies has those of a file.
	Requires []trackable.Edge
	// Savers are functions that save and restore parts of the object, by name.
	Savers map[string]Saver

	// Identifier, Version, MinConsumer and Metadata are those of a UserObject:
	// "_tf_keras_layer", 1, 1, JSON.
	Identifier           string
	Version, MinConsumer int
	Metadata             string
	// BadConsumers are versions of the class that can't read the object.
	BadConsumers []int
	// Asset is the file of an AssetObject.
	Asset *Asset
	// Constant is the node of the graph that holds a ConstantObject's value.
	Constant string
	// Tensor and InFunction are the names of a CapturedTensor and of the
	// function that has it.
	Tensor, InFunction string
	// Device is the one that a ResourceObject asks for.
	Device string

	unknown *pb.SavedObject // the message, of a live object, if it has unknown fields
}

// user is the key by which the traits of most objects are shared.
type user struct {
	identifier, metadata string
	version, minConsumer int
}

// shared returns details equal to an object's dependencies and traits. If it
// can, it returns those of an earlier object.
func (r *objectReader) shared(dependencies []Edge, t *Traits) *Details {
	if t.Slots != nil || t.RegisteredName != "" || t.RegisteredSaver != "" || t.ProtoType != "" || t.Proto != nil ||
		t.Savers != nil || t.BadConsumers != nil || t.Asset != nil || t.Constant != "" || t.Tensor != "" || t.InFunction != "" || t.Device != "" {
		own := *t
		return &Details{dependencies, &own}
	}
	key := user{t.Identifier, t.Metadata, t.Version, t.MinConsumer}
	have := r.details[key]
	if have == nil {
		have = &Details{Traits: &Traits{Identifier: t.Identifier, Metadata: t.Metadata, Version: t.Version, MinConsumer: t.MinConsumer}}
		r.details[key] = have
	}
	if dependencies != nil {
		return &Details{dependencies, have.Traits}
	}
	return have
}

// Edge leads to a child.
type Edge struct {
	Name   string
	Object *Object
}

// Slot is a slot variable, such as an optimizer's momentum of a weight.
type Slot struct {
	Name           string
	Original, Slot *Object
}

// Saver is a pair of functions that save and restore an object.
type Saver struct{ Save, Restore *Object }

// VariableInfo describes a variable.
type VariableInfo struct {
	// Name is the variable's name in TensorFlow; not always unique.
	Name      string
	DType     tensor.DType
	Shape     graph.PartialShape
	Trainable bool
	Device    string
	// Synchronization and Aggregation control how replicas synchronize the
	// variable: "AUTO", "NONE", "ON_WRITE", "ON_READ"; "NONE", "SUM", "MEAN",
	// "ONLY_FIRST_REPLICA".
	Synchronization, Aggregation string
	// Components are the parts of a distributed variable.
	Components []*VariableInfo
}

// Child returns the object that the edge called name leads to, or nil.
func (o *Object) Child(name string) *Object {
	for _, e := range o.Children {
		if e.Name == name {
			return e.Object
		}
	}
	return nil
}

// IsResource reports whether functions of the object make it: a table, or the like.
func (o *Object) IsResource() bool {
	return o.Kind == ResourceObject || o.Child("_create_resource") != nil
}

// Object returns the object to which path leads from the root: edges joined by
// "/" or ".". A name that holds one of these may be written as it is. The empty
// path is the root.
func (g *MetaGraph) Object(path string) (*Object, error) {
	if len(g.Objects) == 0 {
		return nil, &NotFoundError{Kind: "object", Name: path, Note: "the MetaGraph has no objects: it is one of TensorFlow 1, which has signatures only"}
	}
	type place struct {
		o  *Object
		at int
	}
	if path == "" {
		return g.Objects[0], nil
	}
	seen := map[place]bool{}
	queue := []place{{g.Objects[0], 0}}
	deepest := queue[0]
	for ; len(queue) > 0; queue = queue[1:] {
		p := queue[0]
		if p.at > deepest.at {
			deepest = p
		}
		for _, e := range p.o.Children {
			rest, found := strings.CutPrefix(path[p.at:], e.Name)
			switch {
			case !found || e.Name == "":
				continue
			case rest == "":
				return e.Object, nil
			case rest[0] != '/' && rest[0] != '.':
				continue
			}
			next := place{e.Object, len(path) - len(rest) + 1}
			if !seen[next] {
				seen[next] = true
				queue = append(queue, next)
			}
		}
	}
	var names []string
	for _, e := range deepest.o.Children {
		names = append(names, path[:deepest.at]+e.Name)
	}
	near := nearest.Names(path, names, 5)
	if len(near) == 0 && len(names) <= 20 {
		near = names
	}
	return nil, &NotFoundError{Kind: "object", Name: path, Near: near}
}

// Paths returns the shortest path to each object that the root reaches, by the
// object's number. A path is the names of its edges, joined by "/"; that of the root
// is "". Of several paths with as few edges it is the first. Each call makes a new map.
func (g *MetaGraph) Paths() map[int]string {
	paths := map[int]string{}
	if len(g.Objects) == 0 {
		return paths
	}
	paths[0] = ""
	for queue := []*Object{g.Objects[0]}; len(queue) > 0; queue = queue[1:] {
		at := queue[0]
		for _, e := range at.Children {
			if _, seen := paths[e.Object.ID]; seen {
				continue
			}
			p := e.Name
			if base := paths[at.ID]; base != "" {
				p = base + "/" + e.Name
			}
			if len(p) > maxPath {
				p = fmt.Sprintf("…%d/%s", at.ID, e.Name)
			}
			paths[e.Object.ID] = p
			queue = append(queue, e.Object)
		}
	}
	return paths
}

// maxPath is the length in bytes of the longest path that is whole; others lack their beginning. A graph
// may be so deep that all paths together would fill any memory. The number is Cairn's and may change.
const maxPath = 512

// Variables returns the variables in the order of their numbers.
func (g *MetaGraph) Variables() []*Object {
	var out []*Object
	for _, o := range g.Objects {
		if o.Kind == VariableObject {
			out = append(out, o)
		}
	}
	return out
}

// TrainableVariables returns the variables that training changes.
func (g *MetaGraph) TrainableVariables() []*Object {
	return slices.DeleteFunc(g.Variables(), func(o *Object) bool { return !o.Variable.Trainable })
}
