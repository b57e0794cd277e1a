package saving

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/cairnml/cairn/keras"
	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/keras/config"
	k3 "github.com/cairnml/cairn/keras/internal/keras3"
	"github.com/cairnml/cairn/keras/layers"
	"github.com/cairnml/cairn/trackable"
)

// dialect is the version of Keras whose rules name the objects of a file.
type dialect int

const (
	keras2 dialect = 2
	keras3 dialect = 3
)

// place is an object and the place of its variables in a file.
type place struct {
	path string // "layers/dense", "" for the model
	obj  trackable.Trackable
	vars []*trackable.Variable
}

// placement finds the places of all objects of a model, as the functions _save_state of
// saving_lib.py in the two versions of Keras do. An object that several paths lead to has the first.
// Saves and loads use the same places, so paths and orders must stay.
type placement struct {
	dialect dialect
	classes *config.Classes
	seen    map[any]bool
	places  []place
}

func placesOf(model trackable.Trackable, d dialect, classes *config.Classes) []place {
	p := placement{dialect: d, classes: classes, seen: map[any]bool{}}
	p.visit(model, "")
	return p.places
}

// visit records a layer and the objects below it.
func (p *placement) visit(obj trackable.Trackable, at string) {
	id := trackable.Identity(obj)
	if p.seen[id] {
		return
	}
	p.seen[id] = true
	p.places = append(p.places, place{at, obj, storedVariables(obj)})
	for _, a := range p.attributes(obj) {
		if isLayer(a.Child) {
			p.visit(a.Child, path.Join(at, a.Name))
		} else {
			p.container(a.Child, path.Join(at, a.Name))
		}
	}
}

// container visits the layers in a list or a map. Members are named by their classes.
func (p *placement) container(obj trackable.Trackable, at string) {
	used := map[string]int{}
	unique := func(name string) string {
		n, again := used[name]
		if !again {
			used[name] = 0
			return name
		}
		used[name] = n + 1
		return name + "_" + strconv.Itoa(n+1)
	}
	for _, e := range members(obj) {
		switch {
		case isLayer(e.Child):
			if p.dialect == keras2 && p.seen[trackable.Identity(e.Child)] {
				continue
			}
			p.visit(e.Child, path.Join(at, unique(config.SnakeCase(p.className(e.Child)))))
		case p.dialect == keras3 && isContainer(e.Child):
			p.container(e.Child, path.Join(at, unique("container")))
		}
	}
}

// className returns the name of an object's class in Python.
func (p *placement) className(obj trackable.Trackable) string {
	if c, ok := p.classes.ClassOf(obj); ok {
		if own, ok := obj.(config.Classed); ok {
			c = own.ConfigClass(c, false)
		}
		if p.dialect == keras3 && c.Package == "" {
			return k3.LayerName(c.Name)
		}
		return c.Name
	}
	return goTypeName(obj)
}

// attributes lists the children of a layer in the order in which Keras looks at the
// attributes, and a model's "layers" among them.
func (p *placement) attributes(obj trackable.Trackable) []trackable.Edge {
	var list []trackable.Edge
	listed := false
	for _, e := range edges(obj) {
		if isLayerEdge(obj, e.Name) || strings.HasPrefix(e.Name, "__") || asVariable(e.Child) != nil {
			continue
		}
		if !isLayer(e.Child) && !isContainer(e.Child) {
			continue
		}
		if p.dialect == keras3 {
			e.Name = keras3Attribute(obj, e.Name)
		}
		listed = listed || e.Name == "layers"
		list = append(list, e)
	}
	if base.IsModel(obj) && !listed {
		list = append(list, trackable.Edge{Name: "layers", Child: layerList(layersOf(obj))})
	}
	// Keras 3 looks at private names last, and first at "layers" if the model lists its layers.
	// Keras 2 goes through the names backwards.
	key := func(name string) string { return name }
	if p.dialect == keras3 {
		key = func(name string) string {
			switch {
			case name == "layers" && listsLayers(obj):
				return ""
			case strings.HasPrefix(name, "_"):
				return "~" + name
			}
			return name
		}
	}
	slices.SortStableFunc(list, func(a, b trackable.Edge) int { return strings.Compare(key(a.Name), key(b.Name)) })
	if p.dialect == keras2 {
		slices.Reverse(list)
	}
	return list
}

// keras3Attribute returns the name that an attribute of tf_keras has in Keras 3. An attribute without
// a case here has the same name in both.
func keras3Attribute(obj trackable.Trackable, name string) string {
	if _, ok := obj.(*layers.MultiHeadAttention); ok {
		switch name {
		case "_query_dense", "_key_dense", "_value_dense", "_output_dense":
			return name[1:]
		}
	}
	return name
}

// layerList is a list of layers that is no object of the graph.
type layerList []trackable.Trackable

// members lists the elements of a container.
func members(obj trackable.Trackable) []trackable.Edge {
	if list, ok := obj.(layerList); ok {
		out := make([]trackable.Edge, len(list))
		for i, l := range list {
			out[i] = trackable.Edge{Name: strconv.Itoa(i), Child: l}
		}
		return out
	}
	return edges(obj)
}

// layersOf lists the layers of a model, as model.layers in Python: those of a
// sequential or functional model in their order, otherwise those in fields and in lists.
func layersOf(model trackable.Trackable) []trackable.Trackable {
	var out []trackable.Trackable
	if listsLayers(model) {
		_, sequential := model.(*keras.Sequential)
		for _, e := range edges(model) {
			if strings.HasPrefix(e.Name, "layer-") && isLayerEdge(model, e.Name) && !(sequential && isInput(e.Child)) {
				out = append(out, e.Child)
			}
		}
		return out
	}
	seen := map[any]bool{}
	var collect func(obj trackable.Trackable)
	collect = func(obj trackable.Trackable) {
		for _, e := range edges(obj) {
			if seen[trackable.Identity(e.Child)] {
				continue
			}
			switch {
			case isLayer(e.Child):
				seen[trackable.Identity(e.Child)] = true
				out = append(out, e.Child)
			case isContainer(e.Child):
				seen[trackable.Identity(e.Child)] = true
				collect(e.Child)
			}
		}
	}
	collect(model)
	return out
}

// listsLayers reports whether a model has its layers on the edges layer-0, layer-1 and
// so on.
func listsLayers(model trackable.Trackable) bool {
	f, ok := model.(trackable.FieldTracker)
	return ok && base.IsModel(model) && !f.TracksFields()
}

// isLayerEdge reports whether an edge is layer-N or layer_with_weights-N of a model that lists its
// layers so. Their paths in a file go through the list "layers" instead.
func isLayerEdge(model trackable.Trackable, name string) bool {
	number, ok := strings.CutPrefix(name, "layer-")
	if !ok {
		number, ok = strings.CutPrefix(name, "layer_with_weights-")
	}
	if !ok || !listsLayers(model) {
		return false
	}
	_, err := strconv.ParseUint(number, 10, 32)
	return err == nil
}

// storedVariables lists the variables that a file has for a layer itself.
func storedVariables(obj trackable.Trackable) []*trackable.Variable {
	switch l := obj.(type) {
	case *layers.TextVectorization: // its variables are those of its Lookup, and Lookup has a place too
		if l.Lookup != nil {
			return storedVariables(l.Lookup)
		}
	case *layers.SpectralNormalization: // its inner layer's kernel comes first, and has its own place too
		return append(kernelOf(l.Inner), ownVariables(l)...)
	case *layers.StringLookup:
		return weightsOfTokens(l.IDF)
	case *layers.IntegerLookup:
		return weightsOfTokens(l.IDF)
	}
	return ownVariables(obj)
}

// kernelOf returns the kernel of a layer, or its table.
func kernelOf(obj trackable.Trackable) []*trackable.Variable {
	for _, e := range edges(obj) {
		if v := asVariable(e.Child); v != nil && (e.Name == "kernel" || e.Name == "embeddings") {
			return []*trackable.Variable{v}
		}
	}
	return nil
}

func weightsOfTokens(v *trackable.Variable) []*trackable.Variable {
	if v == nil {
		return nil
	}
	return []*trackable.Variable{v}
}

// adaptVariables lists the variables in which a layer counts documents while it adapts. No
// Keras file has them, so a save doesn't miss them.
func adaptVariables(obj trackable.Trackable) []*trackable.Variable {
	switch l := obj.(type) {
	case *layers.TextVectorization:
		if l.Lookup != nil {
			return adaptVariables(l.Lookup)
		}
	case *layers.StringLookup:
		return weightsOfTokens(l.NumDocuments)
	case *layers.IntegerLookup:
		return weightsOfTokens(l.NumDocuments)
	}
	return nil
}

// weightNames returns the names that a file gives to the variables of an object. If it is
// nil, they are named 0, 1, 2 and so on.
func weightNames(obj trackable.Trackable) []string {
	switch obj.(type) {
	case *layers.TextVectorization, *layers.StringLookup, *layers.IntegerLookup:
		return []string{"idf_weights"}
	}
	return nil
}

// ownVariables lists the variables of a layer itself, those in its lists and maps too: the
// trainable ones first, as tf_keras's save_own_variables.
func ownVariables(obj trackable.Trackable) []*trackable.Variable {
	var trained, others []*trackable.Variable
	seen := map[any]bool{}
	var collect func(obj trackable.Trackable)
	collect = func(obj trackable.Trackable) {
		for _, e := range edges(obj) {
			v := asVariable(e.Child)
			if v == nil && !isContainer(e.Child) || seen[trackable.Identity(e.Child)] {
				continue
			}
			seen[trackable.Identity(e.Child)] = true
			switch {
			case v == nil:
				collect(e.Child)
			case v.Trainable():
				trained = append(trained, v)
			default:
				others = append(others, v)
			}
		}
	}
	collect(obj)
	return append(trained, others...)
}

// edges lists the children of an object. Objects that can't be listed have none here;
// a save of a checkpoint reports their faults.
func edges(obj trackable.Trackable) []trackable.Edge {
	list, err := trackable.Children(obj)
	if err != nil {
		return nil
	}
	return list
}

func isLayer(obj trackable.Trackable) bool {
	_, ok := obj.(base.LayerLike)
	return ok && asVariable(obj) == nil
}

func asVariable(obj trackable.Trackable) *trackable.Variable {
	if v, ok := obj.(trackable.VariableLike); ok {
		return v.AsVariable()
	}
	return nil
}

func isInput(obj trackable.Trackable) bool {
	_, ok := obj.(*layers.InputLayer)
	return ok
}
