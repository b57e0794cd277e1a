package trackable

import "github.com/cairnml/cairn/tensor"

// The names of interfaces and methods must stay: programs implement them, and so do
// packages function, dataset and lookup and those of keras. Packages checkpoint and
// savedmodel call them.

// Trackable is any value that can be a node of the object graph: a pointer to a
// struct, a [Variable], a [List], a [Map]. The interface is empty because plain
// Go structs need no method to be tracked; [Children] lists the exceptions.
type Trackable = any

// Edge is a named reference from an object to one that it depends on.
type Edge struct {
	Name  string // the local name, not escaped
	Child Trackable
}

// Parent is implemented by objects that list their edges themselves; their
// fields aren't read. The order is the order in files. A struct that embeds a
// Parent adds its own fields after the embedded edges, unless it has its own
// TrackableChildren method. Listing may make children of the object itself;
// otherwise it changes nothing.
type Parent interface{ TrackableChildren() []Edge }

// SavedModelParent is implemented by objects whose edges in a SavedModel differ from
// those in a checkpoint. The rules are those of [Parent].
type SavedModelParent interface{ SavedModelChildren() []Edge }

// Noder is implemented by structs that embed [Base].
type Noder interface{ TrackableNode() *Node }

// VariableLike is implemented by *[Variable] and by structs that embed one.
type VariableLike interface{ AsVariable() *Variable }

// Attribute is a named tensor of an object that saves several; see [Serializer].
type Attribute struct {
	// Name is the part of the key after ".ATTRIBUTES/".
	Name string
	// Tensor is the value; nil writes none.
	Tensor *tensor.Tensor
	// Parts are values under Name and a suffix, for an attribute that the object
	// graph lists once though it is several tensors: a hash table's "table" is
	// "table-keys" and "table-values".
	Parts []AttributePart
}

// AttributePart is one tensor of an [Attribute] that has several.
type AttributePart struct {
	Suffix string // as in the key, such as "-keys"
	Tensor *tensor.Tensor
}

// Serializer is implemented by objects whose saved tensors aren't the single value of
// a variable: tables, iterators, random generators. The results of
// SerializeToTensors are written under "<path>/.ATTRIBUTES/<name>";
// RestoreFromTensors gets the tensors by those names, suffixes included. A
// restore also calls SerializeToTensors, to compare names before it reads a
// value.
type Serializer interface {
	SerializeToTensors() ([]Attribute, error)
	RestoreFromTensors(map[string]*tensor.Tensor) error
}

// RestoreChecker is implemented by a [Serializer] that can check, before anything
// has changed, whether RestoreFromTensors would accept these tensors. A restore
// that it refuses changes nothing.
type RestoreChecker interface {
	CheckRestore(map[string]*tensor.Tensor) error
}

// ChildAccepter is implemented by objects that know which edges they may still get:
// a layer that isn't built yet accepts "kernel" and "bias". A checkpoint's values
// for an edge that no object accepts are reported at once as unused. Objects with a
// [Base] that aren't ChildAccepters accept any edge; objects without one only the
// names of their nil fields. [FieldTracker] is a third rule.
type ChildAccepter interface{ AcceptsChild(edge string) bool }

// FieldTracker is implemented by objects that hold their children in fields, as Keras
// models do: they accept the names of their nil fields, and the edges that a
// [ChildAccepter] in a field accepts. TracksFields reports whether the object does so. If it
// is false, the object attaches its children, and the rules of [ChildAccepter] apply.
type FieldTracker interface{ TracksFields() bool }

// Declarer is implemented by objects that know which variables they are going to make.
// A layer that isn't built yet declares "kernel" and "bias". If a checkpoint lacks one, or
// has another type or shape, the restore fails, not only the layer's first call.
type Declarer interface {
	// DeclareVariables lists the variables that don't exist yet. inFile reports
	// whether the checkpoint has an edge, for objects that name their variables as
	// the file does.
	DeclareVariables(inFile func(edge string) bool) []Declared
}

// SelfDeclarer is a [Declarer] and a [ChildAccepter] for a type that other types embed:
// self is the object that embeds it. It lets the embedded part answer from the fields
// and methods of the whole, as the base of Keras's layers does.
type SelfDeclarer interface {
	// DeclareVariablesOf lists the variables that self is going to make.
	DeclareVariablesOf(self Trackable, inFile func(edge string) bool) []Declared
	// AcceptsChildOf reports whether self can still get a child on edge.
	AcceptsChildOf(self Trackable, edge string) bool
}

// SelfPreparer is implemented by a type that other types embed. It makes the children of
// self, the object that embeds it, before they are listed. The base of Keras's metrics does
// so, since a metric's variables depend on its fields.
type SelfPreparer interface{ PrepareChildren(self Trackable) }

// declare returns the variables that obj is going to make, as its [Declarer] or
// [SelfDeclarer] lists them. ok is false if it is neither.
func declare(obj Trackable, inFile func(edge string) bool) (list []Declared, ok bool) {
	switch d := obj.(type) {
	case Declarer:
		return d.DeclareVariables(inFile), true
	case SelfDeclarer:
		return d.DeclareVariablesOf(obj, inFile), true
	}
	return nil, false
}

// declares reports whether obj is a [Declarer] or a [SelfDeclarer].
func declares(obj Trackable) bool {
	switch obj.(type) {
	case Declarer, SelfDeclarer:
		return true
	}
	return false
}

// Declared is a variable that an object is going to make.
type Declared struct {
	Edge string
	// Name is its part of the full name. Default: the edge.
	Name string
	// DType is its type, tensor.Invalid if unknown.
	DType tensor.DType
	// Shape is its shape, -1 for unknown sizes; nil if it is entirely unknown.
	Shape tensor.Shape
}

// Untracked is implemented by objects that aren't part of the object graph, although
// their fields contain trackable ones: functions, caches.
type Untracked interface{ NotTracked() }

// SavedModelOnly is implemented by objects that are [Untracked] in checkpoints and nodes
// of the object graph of a SavedModel: functions.
type SavedModelOnly interface {
	Untracked
	// SavedModelOnly marks the type.
	SavedModelOnly()
}

// Scoped is implemented by objects that assign automatic full names to the
// variables below them, as Keras models and layers do: a variable's name is the
// scopes on its first path, then its own part. An empty name means the type's in
// snake case, made unique depth first ("dense", "dense_1"). A name with a leading
// "/" drops the scopes above, so "/" alone means no scope at all, as in a
// functional or sequential Keras model. The name "." adds no scope to those
// above.
type Scoped interface{ ScopeName() string }
