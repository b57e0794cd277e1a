package models

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/keras/config"
	"github.com/cairnml/cairn/savedmodel"
	"github.com/cairnml/cairn/tensor"
)

// description is the metadata of a layer or a model in a file.
type description struct {
	Class      string          `json:"class_name"`
	Config     json.RawMessage `json:"config"`
	InputShape json.RawMessage `json:"build_input_shape"`
	Training   json.RawMessage `json:"training_config"`
	Trainable  *bool           `json:"trainable"`
}

// model makes the root.
func (l *loader) model(known *config.Classes, root *savedmodel.KerasObject) (Model, error) {
	var d description
	if err := json.Unmarshal([]byte(root.Metadata), &d); err != nil {
		return nil, fmt.Errorf("the metadata of the root: %w", err)
	}
	class := d.Class
	if class == "Model" && bytes.Contains(d.Config, []byte(`"input_layers"`)) { // its name before TensorFlow 2.3
		class = "Functional"
	}
	if known.Lookup(class) == nil {
		return l.genericFor(root, fmt.Sprintf("the class %q is unknown", d.Class))
	}
	text, err := json.Marshal(map[string]any{"class_name": class, "config": d.Config})
	if err != nil {
		return nil, err
	}
	obj, err := l.classes.Decode(text)
	if err != nil {
		return nil, err
	}
	m, ok := obj.(Model)
	if !ok {
		return nil, fmt.Errorf("the root is %T, want a model or a layer", obj)
	}
	if m.AsLayer().Name == "" {
		m.AsLayer().Name = root.Name
	}
	if !m.AsLayer().Built() {
		var shape base.Shape
		if err := readShape(d.InputShape, &shape); err == nil && shape != nil {
			s := base.ConfigScope(l.ctx)
			if err := base.Build(s, m, tensor.Shape(shape)); err != nil {
				return nil, err
			}
		}
	}
	return m, nil
}

// readShape reads a shape: a list, or an object with a list.
func readShape(text json.RawMessage, shape *base.Shape) error {
	if len(text) == 0 {
		return nil
	}
	var object struct {
		Items json.RawMessage `json:"items"`
	}
	if json.Unmarshal(text, &object) == nil && object.Items != nil {
		text = object.Items
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return err
	}
	return shape.UnmarshalConfig(v)
}

// decoded completes an object that was made from its config: its vocabulary, and the attributes
// that its class saved. The decoder of configs calls it for each object.
func (l *loader) decoded(ctx context.Context, obj any) error {
	if err := l.setVocabulary(ctx, obj); err != nil {
		return err
	}
	own, ok := obj.(AttributeLoader)
	layer, isLayer := obj.(base.LayerLike)
	if !ok || !isLayer {
		return nil
	}
	o := l.byName[layer.AsLayer().Name]
	if o == nil {
		return nil
	}
	at, err := l.at(o)
	if err != nil {
		return err
	}
	a := &LoadedAttributes{Object: at}
	if err := json.Unmarshal([]byte(o.Metadata), &a.Properties); err != nil {
		return fmt.Errorf("the metadata of %s: %w", o.Path, err)
	}
	if err := own.LoadAttributes(a); err != nil {
		return fmt.Errorf("%s: %w", o.Path, err)
	}
	return nil
}

// unknown makes a layer of an unknown class. The decoder of configs calls it; fields are the
// layer's config.
func (l *loader) unknown(class string, fields map[string]any) (any, error) {
	name, _ := fields["name"].(string)
	o := l.byName[name]
	if o == nil {
		return nil, fmt.Errorf("the class is unknown, and the file has no layer %q whose functions could be called", name)
	}
	return l.genericFor(o, fmt.Sprintf("the class %q is unknown", class))
}

// genericFor makes a generic layer of an object of the file.
func (l *loader) genericFor(o *savedmodel.KerasObject, why string) (*Generic, error) {
	l.generic[o.Name] = why
	obj, err := l.at(o)
	if err != nil {
		return nil, err
	}
	f, ok := obj.Child("call_and_return_all_conditional_losses").(*savedmodel.TrackableFunction)
	if !ok || len(f.Traces()) == 0 {
		return nil, fmt.Errorf("%s, and the file has no function of the layer %q; register the class", why, o.Name)
	}
	if l.all == nil {
		l.all = map[any]*savedmodel.KerasObject{}
		for i := range l.objects {
			if at, err := l.at(&l.objects[i]); err == nil {
				l.all[at] = &l.objects[i]
			}
		}
	}
	g := &Generic{object: obj, function: f, saved: o, all: l.all}
	g.Name = o.Name
	var d description
	if err := json.Unmarshal([]byte(o.Metadata), &d); err == nil {
		g.config = d.Config
		g.NotTrainable = d.Trainable != nil && !*d.Trainable
	}
	return g, nil
}

// at returns the restored object of an entry.
func (l *loader) at(o *savedmodel.KerasObject) (*savedmodel.TrackableObject, error) {
	if l.paths == nil {
		l.paths = l.restored.MetaGraph.Paths()
	}
	path := l.paths[o.Object.ID]
	obj, ok := l.restored.Root.(*savedmodel.TrackableObject)
	for _, edge := range strings.Split(path, "/") {
		if ok && o.Object.ID != 0 {
			obj, ok = obj.Child(edge).(*savedmodel.TrackableObject)
		}
	}
	if !ok {
		return nil, fmt.Errorf("there is no object at %q", path)
	}
	return obj, nil
}
