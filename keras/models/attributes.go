package models

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/keras/config"
	"github.com/cairnml/cairn/savedmodel"
	"github.com/cairnml/cairn/trackable"
)

// Attribute declares an edge that a save adds to those that an object has.
type Attribute struct {
	// Name is the name of the edge.
	Name string
	// Function reports whether the edge leads to a function. Default: to an object.
	Function bool
	// KerasOnly makes it an edge of keras_api alone. Default: also one of the object.
	KerasOnly bool
	// Optional lets it be left out. Default: that is an error of the save.
	Optional bool
}

// Attributes are the declared attributes and the properties of an object that is saved. They
// correspond to the attribute validators of Keras: an attribute that isn't declared, that has
// another kind than was declared, or that is missing, is an error.
type Attributes struct {
	declared   []Attribute
	values     map[string]trackable.Trackable
	properties config.Fields
}

// AttributeSaver is implemented by layers and models of programs that save more than Keras
// does. The attributes of every layer are declared and set before.
type AttributeSaver interface {
	SaveAttributes(a *Attributes) error
}

// AttributeLoader is implemented by layers and models of programs that read the data
// that their SaveAttributes saved. It is called before the values of variables are
// restored.
type AttributeLoader interface {
	LoadAttributes(a *LoadedAttributes) error
}

// LoadedAttributes are the attributes and properties of an object of a known class in a file.
type LoadedAttributes struct {
	// Properties are the properties by their names, as JSON.
	Properties map[string]json.RawMessage
	// Object is the restored object, with all its edges. Its edge keras_api leads to those
	// that are KerasOnly.
	Object *savedmodel.TrackableObject
}

// Declare adds attributes. A name that is declared already is an error.
func (a *Attributes) Declare(list ...Attribute) error {
	for _, n := range list {
		if n.Name == "" || n.Name == "keras_api" || a.find(n.Name) != nil {
			return fmt.Errorf("declare attribute %q: the name is empty, or in use", n.Name)
		}
		a.declared = append(a.declared, n)
	}
	return nil
}

func (a *Attributes) find(name string) *Attribute {
	i := slices.IndexFunc(a.declared, func(n Attribute) bool { return n.Name == name })
	if i < 0 {
		return nil
	}
	return &a.declared[i]
}

// Set sets a declared attribute, or replaces its value.
func (a *Attributes) Set(name string, value trackable.Trackable) error {
	n := a.find(name)
	if n == nil {
		return fmt.Errorf("set attribute %q: it is not declared", name)
	}
	if value == nil {
		return fmt.Errorf("set attribute %q: the value is nil", name)
	}
	if n.Function != isFunctionNode(value) {
		return fmt.Errorf("set attribute %q: the value is a %T (want a function: %v)", name, value, n.Function)
	}
	if a.values == nil {
		a.values = map[string]trackable.Trackable{}
	}
	a.values[name] = value
	return nil
}

func isFunctionNode(v trackable.Trackable) bool {
	switch v.(type) {
	case savedmodel.FunctionNode, *graph.Concrete:
		return true
	}
	return false
}

// Get returns the value of an attribute, nil if it isn't set.
func (a *Attributes) Get(name string) trackable.Trackable { return a.values[name] }

// SetProperty sets a property of the object's JSON in the metadata, or replaces it.
func (a *Attributes) SetProperty(name string, value any) {
	for i := range a.properties {
		if a.properties[i].Name == name {
			a.properties[i].Value = value
			return
		}
	}
	a.properties = append(a.properties, config.Pair{Name: name, Value: value})
}

// edges returns the edges of the object: objects, then keras_api, then functions, each in the order
// of their declarations. The order decides the numbers of nodes in the file, so it must stay.
func (a *Attributes) edges() ([]trackable.Edge, error) {
	var object, functions, api []trackable.Edge
	for _, function := range []bool{false, true} {
		for _, n := range a.declared {
			v := a.values[n.Name]
			switch {
			case n.Function != function:
				continue
			case v == nil && n.Optional:
				continue
			case v == nil:
				return nil, fmt.Errorf("the attribute %q is declared, but not set", n.Name)
			}
			e := trackable.Edge{Name: n.Name, Child: v}
			api = append(api, e)
			switch {
			case n.KerasOnly:
			case function:
				functions = append(functions, e)
			default:
				object = append(object, e)
			}
		}
	}
	object = append(object, trackable.Edge{Name: "keras_api", Child: savedmodel.NewObject(api...)})
	return append(object, functions...), nil
}

// The attributes of Keras's classes, as tf_keras's serialized_attributes.py has them.
var (
	layerAttributes = []Attribute{
		{Name: "non_trainable_variables", KerasOnly: true}, {Name: "layers", KerasOnly: true}, {Name: "metrics", KerasOnly: true},
		{Name: "layer_regularization_losses", KerasOnly: true}, {Name: "layer_metrics", KerasOnly: true},
		{Name: "variables"}, {Name: "trainable_variables"}, {Name: "regularization_losses"},
		{Name: "__call__", Function: true, Optional: true}, {Name: "_default_save_signature", Function: true, Optional: true},
		{Name: "activity_regularizer_fn", Function: true, KerasOnly: true, Optional: true},
		{Name: "call_and_return_all_conditional_losses", Function: true, Optional: true},
		{Name: "call_and_return_conditional_losses", Function: true, KerasOnly: true, Optional: true},
	}
	recurrentAttributes = []Attribute{{Name: "states"}}
	metricAttributes    = []Attribute{{Name: "variables"}}
)
