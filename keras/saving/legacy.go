package saving

import (
	"fmt"
	"path"
	"slices"
	"strconv"

	"github.com/cairnml/cairn/keras"
	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/keras/layers"
	"github.com/cairnml/cairn/trackable"
)

// legacyWeights returns the weights of a layer and of the layers below it in the order
// of older .h5 files: layer.trainable_weights, then layer.non_trainable_weights, as tf_keras's
// hdf5_format._legacy_weights. The order must stay, since these files number weights.
func legacyWeights(layer trackable.Trackable) []*trackable.Variable {
	w := legacyWalk{seen: map[any]bool{}}
	trained, others := w.weights(layer, false)
	seen := map[*trackable.Variable]bool{}
	var out []*trackable.Variable
	for _, v := range append(trained, others...) {
		if !seen[v] {
			seen[v] = true
			out = append(out, v)
		}
	}
	return out
}

// legacyWalk guards against objects that contain themselves.
type legacyWalk struct{ seen map[any]bool }

// weights returns the trainable weights of an object and the others. frozen reports
// whether a layer above it is not trainable; all its weights are others then. A layer has its
// own weights before those of layers in it, a model after them.
func (w *legacyWalk) weights(obj trackable.Trackable, frozen bool) (trained, others []*trackable.Variable) {
	id := trackable.Identity(obj)
	if w.seen[id] {
		return nil, nil
	}
	w.seen[id] = true
	defer delete(w.seen, id)
	if l, ok := obj.(base.LayerLike); ok && l.AsLayer().NotTrainable {
		frozen = true
	}
	var ownTrained, ownOthers, below, belowOthers []*trackable.Variable
	for _, v := range ownVariables(obj) {
		if v.Trainable() {
			ownTrained = append(ownTrained, v)
		} else {
			ownOthers = append(ownOthers, v)
		}
	}
	list := sublayers(obj)
	for _, l := range list {
		t, o := w.weights(l, frozen)
		below, belowOthers = append(below, t...), append(belowOthers, o...)
	}
	switch model := base.IsModel(obj); {
	case frozen:
		return nil, join(ownTrained, belowIf(model, belowOthers), ownOthers, belowIf(!model, belowOthers))
	case model:
		return join(below, ownTrained), join(belowOthers, ownOthers)
	}
	return join(ownTrained, below), join(ownOthers, belowOthers)
}

func belowIf(want bool, list []*trackable.Variable) []*trackable.Variable {
	if want {
		return list
	}
	return nil
}

func join(lists ...[]*trackable.Variable) []*trackable.Variable {
	var out []*trackable.Variable
	for _, l := range lists {
		out = append(out, l...)
	}
	return out
}

// sublayers lists the layers that a layer holds in fields, lists and maps.
func sublayers(obj trackable.Trackable) []trackable.Trackable {
	out := layersOf(obj)
	if !listsLayers(obj) {
		return out
	}
	for _, e := range edges(obj) { // further layers of a sequential or functional model
		if !isLayerEdge(obj, e.Name) && isLayer(e.Child) {
			out = append(out, e.Child)
		}
	}
	return out
}

// legacyLayer is a layer of a model, as a .h5 file has it.
type legacyLayer struct {
	name    string
	weights []*trackable.Variable
}

// legacyLayers lists the layers of a model with their names, and the weights of the
// model itself. In Keras 3 a layer's adapted state is a setting, and no weight.
func legacyLayers(model trackable.Trackable, g *trackable.Graph, d dialect) (list []legacyLayer, top []*trackable.Variable, err error) {
	adapted := map[*trackable.Variable]bool{}
	if d == keras3 {
		for _, p := range placesOf(model, d, keras.Classes()) {
			for _, v := range adaptedState(p) {
				adapted[v] = true
			}
		}
	}
	names := map[string]bool{}
	for _, l := range layersOf(model) {
		if n := l.(base.LayerLike).AsLayer().Name; n != "" {
			names[n] = true
		}
	}
	used := map[string]bool{}
	for _, l := range layersOf(model) {
		name := l.(base.LayerLike).AsLayer().Name
		if id, ok := g.ID(l); ok && name == "" && base.HasVariables(l) {
			if scope := g.Scope(id); scope != "" && !listsLayers(l) {
				name = path.Base(scope)
			}
		}
		if name == "" {
			name = automaticName(l, func(n string) bool { return names[n] || used[n] })
		}
		if used[name] {
			return nil, nil, fmt.Errorf("two layers have the name %q; set other names", name)
		}
		used[name] = true
		weights := slices.DeleteFunc(legacyWeights(l), func(v *trackable.Variable) bool { return adapted[v] })
		list = append(list, legacyLayer{name, weights})
	}
	return list, ownVariables(model), nil
}

// adaptedState lists the variables of a layer's adapted state, which Keras 3 stores in the
// layer's config.
func adaptedState(p place) []*trackable.Variable {
	switch p.obj.(type) {
	case *layers.Discretization, *layers.TextVectorization, *layers.StringLookup, *layers.IntegerLookup:
		return append(adaptVariables(p.obj), p.vars...)
	}
	return nil
}

// automaticName returns the first automatic name of a layer that is not taken.
func automaticName(layer trackable.Trackable, taken func(string) bool) string {
	stem := base.AutomaticName(layer)
	name := stem
	for i := 1; taken(name); i++ {
		name = stem + "_" + strconv.Itoa(i)
	}
	return name
}
