package base

import (
	"cmp"
	"reflect"
	"slices"

	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// Trainable lists the variables below obj that an optimizer may change, each
// once, in Keras' order of model.trainable_variables:
//
//   - a struct that embeds [Layer] has its own variables first, then those of
//     the layers in its fields; one that embeds [Model] has its own last;
//   - layers come in the order of fields, lists in theirs, maps by sorted keys;
//   - plain structs have all in the order of fields.
//
// Variables that aren't floating or complex can't be trained and are left out.
// obj is any object of the graph. If the graph can't be walked (an unexported
// field that holds a layer) the result ends there; checkpoint.New reports the
// fault.
func Trainable(obj trackable.Trackable) []*trackable.Variable {
	w := walker{want: func(v *trackable.Variable) bool {
		d := v.DType()
		return v.Trainable() && (d.IsFloating() || d.IsComplex() || d == tensor.Invalid)
	}}
	w.root(obj)
	return w.vars
}

// Variables lists all variables below obj, each once, in Keras' order of
// model.variables: as [Trainable], and each layer's trainable ones before the
// others.
func Variables(obj trackable.Trackable) []*trackable.Variable {
	w := walker{all: true}
	w.root(obj)
	return w.vars
}

// HasVariables reports whether a layer has any variable yet.
func HasVariables(obj trackable.Trackable) bool {
	w := walker{first: true}
	w.root(obj)
	return len(w.vars) > 0
}

// TableHolder is implemented by layers whose weights may include tables, which checkpoints
// store.
type TableHolder interface {
	// HoldsTables reports whether the layer has such a table now.
	HoldsTables() bool
}

// HasWeights reports whether a layer has any variable or table yet.
func HasWeights(obj trackable.Trackable) bool {
	if HasVariables(obj) {
		return true
	}
	found := false
	eachObject(obj, func(obj trackable.Trackable) {
		if h, ok := obj.(TableHolder); ok {
			found = found || h.HoldsTables()
		}
	})
	return found
}

// walker collects variables depth first. The order decides model.weights, the optimizer's
// variables and the places in .h5 files, so it must stay: tf_keras's
// Layer._gather_children_attribute and Model.weights.
type walker struct {
	want  func(*trackable.Variable) bool // nil: any
	all   bool                           // a layer's trainable variables before its others
	first bool                           // one is enough
	vars  []*trackable.Variable
	seen  []any // identities; a map replaces the list if there are many
	many  map[any]bool
}

// few is the number of objects up to which they are looked up in a list. A list beats a map in
// small models, whose step takes microseconds. Any number gives the same result.
const few = 24

func (w *walker) visited(id any) bool {
	if w.many != nil {
		if w.many[id] {
			return true
		}
		w.many[id] = true
		return false
	}
	for _, s := range w.seen {
		if s == id {
			return true
		}
	}
	if w.seen = append(w.seen, id); len(w.seen) > few {
		w.many = make(map[any]bool, 4*few)
		for _, s := range w.seen {
			w.many[s] = true
		}
	}
	return false
}

// root visits the caller's object, which may be nil.
func (w *walker) root(obj trackable.Trackable) {
	if v := reflect.ValueOf(obj); v.Kind() == reflect.Pointer && !v.IsNil() {
		w.visit(obj)
	}
}

func (w *walker) visit(obj trackable.Trackable) {
	if w.first && len(w.vars) > 0 {
		return
	}
	if v := asVariable(obj); v != nil {
		if !w.visited(v) && (w.want == nil || w.want(v)) {
			w.vars = append(w.vars, v)
		}
		return
	}
	if w.visited(trackable.Identity(obj)) {
		return
	}
	edges, err := trackable.Children(obj)
	if err != nil {
		return // checkpoint.New reports the fault
	}
	from := len(w.vars)
	if l, ok := obj.(LayerLike); ok && w.want != nil && l.AsLayer().NotTrainable {
		return
	}
	switch obj.(type) {
	case modelLike:
		w.visitSome(edges, false)
		own := len(w.vars)
		w.visitSome(edges, true)
		w.partition(own)
	case layerLike:
		w.visitSome(edges, true)
		w.visitSome(edges, false)
		w.partition(from)
	case interface{ Keys() []string }: // a trackable.Map, whose edges are in the order of insertion
		slices.SortStableFunc(edges, func(a, b trackable.Edge) int { return cmp.Compare(a.Name, b.Name) })
		w.visitAll(edges)
		w.partition(from)
	default:
		w.visitAll(edges)
		w.partition(from)
	}
}

func (w *walker) visitAll(edges []trackable.Edge) {
	for _, e := range edges {
		w.visit(e.Child)
	}
}

// visitSome visits the children that are variables, or those that aren't.
func (w *walker) visitSome(edges []trackable.Edge, variables bool) {
	for _, e := range edges {
		if (asVariable(e.Child) != nil) == variables {
			w.visit(e.Child)
		}
	}
}

// partition moves the trainable variables from index from on before the others.
func (w *walker) partition(from int) {
	if !w.all {
		return
	}
	part := w.vars[from:]
	slices.SortStableFunc(part, func(a, b *trackable.Variable) int {
		return cmp.Compare(order(a), order(b))
	})
}

func order(v *trackable.Variable) int {
	if v.Trainable() {
		return 0
	}
	return 1
}

// layerLike is implemented by types that embed a Layer, modelLike by those that
// embed a Model.
type (
	layerLike interface{ isLayer() }
	modelLike interface{ isModel() }
)

// IsModel reports whether obj embeds a [Model].
func IsModel(obj any) bool {
	_, ok := obj.(modelLike)
	return ok
}

// IsLayer reports whether obj is a layer or a model.
func IsLayer(obj any) bool {
	_, ok := obj.(LayerLike)
	return ok
}

func (l *Layer) isLayer() {}
func (m *Model) isModel() {}

func asVariable(obj trackable.Trackable) *trackable.Variable {
	if v, ok := obj.(trackable.VariableLike); ok {
		return v.AsVariable()
	}
	return nil
}
