package savedmodel

import (
	"fmt"
	"slices"

	"github.com/cairnml/cairn/graph"
)

// Lack is a part of TensorFlow Hub's interface of reusable SavedModels that a model does
// not have, or has in another form.
type Lack struct {
	// Part is "__call__", "variables", "trainable_variables" or "regularization_losses".
	Part string
	// Reason is the reason why the part doesn't fit, such as a missing edge.
	Reason string
}

// String returns both.
func (l Lack) String() string { return l.Part + ": " + l.Reason }

// trainingArgument is the parameter of __call__ that chooses between training and
// inference.
const trainingArgument = "training"

// ReusableParts are the edges of the root that the interface names.
var ReusableParts = []string{"__call__", "variables", "trainable_variables", "regularization_losses"}

// CheckReusable returns the parts of TensorFlow Hub's interface of reusable
// SavedModels that the model lacks; nil if it has all of them. The root has
//
//   - a function __call__ of one positional argument. Others have defaults, but for
//     "training", of which there are traces for true and false, or for a tensor;
//   - lists variables and trainable_variables, the second a part of the first;
//   - a list regularization_losses of functions of nothing that return a scalar.
//
// If the lists are missing, hub.KerasLayer trains nothing and reports no error.
func (g *MetaGraph) CheckReusable() []Lack {
	if len(g.Objects) == 0 {
		return []Lack{{"__call__", "the MetaGraph has no objects: it is one of TensorFlow 1"}}
	}
	root := g.Objects[0]
	var out []Lack
	lack := func(part, format string, args ...any) { out = append(out, Lack{part, fmt.Sprintf(format, args...)}) }
	for _, reason := range callLacks(root.Child("__call__")) {
		lack("__call__", "%s", reason)
	}
	listed := map[*Object]bool{}
	for _, part := range ReusableParts[1:3] {
		list := root.Child(part)
		if list == nil {
			lack(part, "the root has no such list; a program that trains the model finds no variables")
			continue
		}
		for _, e := range list.Children {
			switch {
			case e.Object.Kind != VariableObject:
				lack(part, "its element %q is a %v, not a variable", e.Name, e.Object.Kind)
			case part == "variables":
				listed[e.Object] = true
			case !listed[e.Object]:
				lack(part, "its element %q is not among the variables", e.Name)
			}
		}
	}
	losses := root.Child("regularization_losses")
	if losses == nil {
		lack("regularization_losses", "the root has no such list")
		return out
	}
	for _, e := range losses.Children {
		if reason := lossLack(e.Object); reason != "" {
			lack("regularization_losses", "its element %q %s", e.Name, reason)
		}
	}
	return out
}

// callLacks returns the reasons why a __call__ doesn't fit; none if it does. The rules are those of
// TensorFlow Hub's documentation on reusable SavedModels.
func callLacks(o *Object) []string {
	switch {
	case o == nil:
		return []string{"the root has no such function"}
	case o.Kind != FunctionObject:
		return []string{fmt.Sprintf("it is a %v, not a function", o.Kind)}
	case len(o.Function.Concrete) == 0:
		return []string{"it has no trace"}
	case o.Function.Parameters == nil:
		return []string{"the file doesn't say its parameters"}
	}
	var out []string
	p := o.Function.Parameters
	if len(p.Names) == 0 || p.Names[0] == trainingArgument {
		out = append(out, "it has no positional argument")
	}
	required := slices.Clone(p.Names[min(1, len(p.Names)):max(min(1, len(p.Names)), len(p.Names)-len(p.Defaults))])
	for _, name := range p.KeywordOnly {
		if _, ok := p.KeywordDefaults[name]; !ok {
			required = append(required, name)
		}
	}
	for _, name := range required {
		if name != trainingArgument {
			out = append(out, fmt.Sprintf("its argument %q has no default", name))
		}
	}
	if !TakesTraining(p) {
		return out
	}
	modes := map[any]bool{}
	for _, c := range o.Function.Concrete {
		switch s := trainingOf(p, c.In); {
		case s == nil:
		case s.Kind == graph.TensorStructure:
			modes[true], modes[false] = true, true
		case s.Kind == graph.StaticStructure:
			modes[s.Value] = true
		}
	}
	if !modes[true] {
		out = append(out, "it has no trace for training=True")
	}
	if !modes[false] && !modes[nil] {
		out = append(out, "it has no trace for training=False")
	}
	return out
}

// TakesTraining reports whether a function has the parameter "training".
func TakesTraining(p *Parameters) bool {
	return p != nil && (slices.Contains(p.Names, trainingArgument) || slices.Contains(p.KeywordOnly, trainingArgument))
}

// trainingOf returns the value of "training" of a trace; nil if the file lacks
// it.
func trainingOf(p *Parameters, in *graph.Structure) *graph.Structure {
	if in == nil || len(in.Elems) != 2 {
		return nil
	}
	if s := in.Elems[1].Lookup(trainingArgument); s != nil {
		return s
	}
	if i := slices.Index(p.Names, trainingArgument); i >= 0 && i < len(in.Elems[0].Elems) {
		return in.Elems[0].Elems[i]
	}
	return nil
}

// lossLack returns the reason why a regularization loss doesn't fit; "" if it does.
func lossLack(o *Object) string {
	if o.Kind != FunctionObject || len(o.Function.Concrete) == 0 {
		return "is no function with a trace"
	}
	for _, c := range o.Function.Concrete {
		if c.In == nil || len(c.In.Elems) != 2 || len(c.In.Elems[0].Elems)+len(c.In.Elems[1].Elems) > 0 {
			continue
		}
		if c.Out == nil || c.Out.Kind != graph.TensorStructure || !c.Out.Fact.Shape.Accepts(nil) {
			return "returns no scalar"
		}
		return ""
	}
	return "has no trace without arguments"
}
