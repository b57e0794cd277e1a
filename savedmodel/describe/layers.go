package describe

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/savedmodel"
)

// Layer is a layer of a Keras model, in the order of the model.
type Layer struct {
	Depth      int    `json:"depth"` // 0 for the model itself
	Path       string `json:"path"`
	Name       string `json:"name"`
	Class      string `json:"class"`
	Output     string `json:"output,omitempty"` // the types of a call's results, in short
	Parameters int64  `json:"parameters"`
	Trainable  int64  `json:"trainable"`
}

// maxLayerDepth bounds the depth to which models within models are followed. It may change.
const maxLayerDepth = 16

// layers lists the model and its layers; none if Keras 2 has not written the
// model.
func layers(g *savedmodel.MetaGraph, paths map[int]string) ([]Layer, error) {
	list, err := g.Keras()
	if err != nil || len(list) == 0 {
		return nil, err
	}
	w := &layerWalk{about: map[*savedmodel.Object]*savedmodel.KerasObject{}, paths: paths, seen: map[*savedmodel.Object]bool{}}
	for i, k := range list {
		if strings.HasPrefix(k.Identifier, "_tf_keras_") && k.Identifier != "_tf_keras_metric" {
			w.about[k.Object] = &list[i]
		}
	}
	w.walk(g.Objects[0], 0)
	return w.out, nil
}

// layerWalk lists the layers below the root.
type layerWalk struct {
	about map[*savedmodel.Object]*savedmodel.KerasObject // Keras's metadata of layers and models
	paths map[int]string                                 // by the objects' IDs
	seen  map[*savedmodel.Object]bool
	out   []Layer
}

// walk lists o, if it is a layer, and those below it. A layer to which several edges lead is listed once.
// Children that are neither layers nor lists of them have none below.
func (w *layerWalk) walk(o *savedmodel.Object, depth int) {
	if w.seen[o] || depth > maxLayerDepth {
		return
	}
	w.seen[o] = true
	if k := w.about[o]; k != nil {
		l := Layer{Depth: depth, Path: w.paths[o.ID], Name: k.Name, Class: k.Class, Output: outputOf(o, k)}
		l.Parameters, l.Trainable = parameters(o)
		w.out = append(w.out, l)
		depth++
	}
	for _, e := range layerEdges(o) {
		if w.about[e.Object] != nil || e.Object.Identifier == "trackable_list_wrapper" || e.Object.Identifier == "trackable_dict_wrapper" {
			w.walk(e.Object, depth)
		}
	}
}

// layerEdges returns the edges to possible layers. If some are called layer-0,
// layer-1 …, as those of Keras's models, only these are returned, in that order:
// others, such as layer_with_weights-0, lead to the same layers.
func layerEdges(o *savedmodel.Object) []savedmodel.Edge {
	edges := slices.Clone(o.Children)
	numbered := false
	number := func(e savedmodel.Edge) int {
		if rest, ok := strings.CutPrefix(e.Name, "layer-"); ok {
			if n, err := strconv.Atoi(rest); err == nil {
				return n
			}
		}
		return 1 << 30
	}
	for _, e := range edges {
		numbered = numbered || number(e) < 1<<30
	}
	edges = slices.DeleteFunc(edges, func(e savedmodel.Edge) bool {
		return e.Name == "keras_api" || numbered && number(e) == 1<<30
	})
	if numbered {
		slices.SortStableFunc(edges, func(a, b savedmodel.Edge) int { return cmp.Compare(number(a), number(b)) })
	}
	return edges
}

// parameters counts the elements of the variables below an object, and of those
// that training changes.
func parameters(o *savedmodel.Object) (all, trainable int64) {
	seen := map[*savedmodel.Object]bool{o: true}
	for stack := []*savedmodel.Object{o}; len(stack) > 0; {
		x := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if v := x.Variable; v != nil {
			n, known := v.Shape.NumElements()
			if known {
				all += int64(n)
				if v.Trainable {
					trainable += int64(n)
				}
			}
			continue
		}
		for _, e := range x.Children {
			if seen[e.Object] || e.Name == "keras_api" || e.Name == "optimizer" || e.Object.Function != nil {
				continue
			}
			seen[e.Object] = true
			stack = append(stack, e.Object)
		}
	}
	return all, trainable
}

// outputOf returns the types of a layer's results, in short.
func outputOf(o *savedmodel.Object, k *savedmodel.KerasObject) string {
	f := o.Child("__call__")
	if f == nil || f.Function == nil {
		if api := o.Child("keras_api"); api != nil {
			f = api.Child("__call__")
		}
	}
	if f != nil && f.Function != nil && len(f.Function.Concrete) > 0 {
		return short(f.Function.Concrete[0].Out)
	}
	if k.Class != "InputLayer" {
		return ""
	}
	var m struct {
		Config struct {
			Shape any `json:"batch_input_shape"`
		} `json:"config"`
		DType string `json:"dtype"`
	}
	if json.Unmarshal([]byte(k.Metadata), &m) != nil {
		return ""
	}
	return strings.TrimSpace(m.DType + shapeWords(m.Config.Shape))
}

// short writes the shapes of a structure's tensors.
func short(s *graph.Structure) string {
	if s == nil {
		return ""
	}
	switch s.Kind {
	case graph.TensorStructure:
		return s.Fact.String()
	case graph.CompositeStructure:
		return s.Composite.Name()
	}
	var parts []string
	for _, i := range s.Order() {
		part := short(s.Elems[i])
		if s.Kind == graph.DictStructure {
			part = s.Keys[i] + ": " + part
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, ", ")
}

// shapeWords writes a shape of Keras's JSON: a list, or a tuple in its own words.
func shapeWords(v any) string {
	if m, ok := v.(map[string]any); ok {
		v = m["items"]
	}
	list, ok := v.([]any)
	if !ok {
		return ""
	}
	dims := make([]int, len(list))
	for i, x := range list {
		dims[i] = -1
		if f, ok := x.(float64); ok && f >= 0 && f < 1<<31 {
			dims[i] = int(f)
		}
	}
	return graph.ShapeOf(dims...).String()
}
