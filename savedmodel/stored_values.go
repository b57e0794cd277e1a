package savedmodel

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// An object has a function that saves its values and one that restores them. Their forms are those that
// TensorFlow writes (saveable_object_util.py). The one that saves takes a key and returns a name, a slice
// and a tensor for each value; the one that restores takes the tensors.

// storedValues are values that functions of a model save and restore, as the model's
// checkpoint has them, and those functions.
type storedValues struct {
	attributes []trackable.Attribute        // the values
	saveables  map[string]SaveableFunctions // by the attribute's name
}

// SerializeToTensors returns the values that the model's checkpoint has for the object.
func (v *storedValues) SerializeToTensors() ([]trackable.Attribute, error) {
	return slices.Clone(v.attributes), nil
}

// RestoreFromTensors replaces these values.
func (v *storedValues) RestoreFromTensors(values map[string]*tensor.Tensor) error {
	for i := range v.attributes {
		a := &v.attributes[i]
		if t, ok := values[a.Name]; ok {
			a.Tensor = t
		}
		for j := range a.Parts {
			if t, ok := values[a.Name+a.Parts[j].Suffix]; ok {
				a.Parts[j].Tensor = t
			}
		}
	}
	return nil
}

// SaveableFunctions returns the functions that save and restore the object's values.
func (v *storedValues) SaveableFunctions() map[string]SaveableFunctions { return v.saveables }

// part is a tensor that a function saves: its name after the checkpoint's key.
type part struct {
	suffix string
	value  *tensor.Tensor
}

// saves checks the function that saves an attribute and returns its trace.
func saves(f FunctionNode) (*graph.Concrete, error) {
	save := traceOf(f)
	switch {
	case save == nil || save.NumArgs() != 1:
		return nil, errors.New("the function that saves the values does not take a key")
	case len(save.Function.Results)%3 != 0:
		return nil, fmt.Errorf("the function that saves the values returns %d tensors, not a name, a slice and a value of each", len(save.Function.Results))
	}
	return save, nil
}

// export returns the results of the function that saves an attribute.
func export(ctx context.Context, run graph.Runner, f FunctionNode) ([]part, error) {
	save, err := saves(f)
	if err != nil {
		return nil, err
	}
	out, err := run(ctx, save, tensor.Scalar(""))
	if err != nil {
		return nil, err
	}
	var parts []part
	for ; len(out) > 0; out = out[3:] {
		name, slice := text(out[0].Tensor), text(out[1].Tensor)
		if out[2].Tensor == nil || slice != "" {
			return nil, fmt.Errorf("the function that saves the values returns the slice %q, not a whole tensor", slice)
		}
		parts = append(parts, part{name, out[2].Tensor})
	}
	return parts, nil
}

// suffixes returns the names of the tensors that the function saves, after the
// checkpoint's key. It computes nothing else: the saved variables may have no
// value yet.
func suffixes(ctx context.Context, run graph.Runner, f FunctionNode) ([]string, error) {
	save, err := saves(f)
	if err != nil {
		return nil, err
	}
	feeds := make([]graph.Output, len(save.Function.Args))
	for i, a := range save.Function.Args {
		feeds[i] = a.Output(0)
	}
	var fetches []graph.Output
	for i := 0; i < len(save.Function.Results); i += 3 {
		fetches = append(fetches, save.Function.Results[i].Output)
	}
	names, err := graph.Prune(save.Function.Graph, feeds, fetches, nil)
	if err != nil {
		return nil, err
	}
	// The function's results wait for its reads.
	for _, n := range names.Graph.Nodes() {
		n.Control = nil
	}
	for i, a := range names.Args {
		feeds[i] = a.Output(0)
	}
	for i, r := range names.Results {
		fetches[i] = r.Output
	}
	if names, err = graph.Prune(names.Graph, feeds, fetches, nil); err != nil {
		return nil, err
	}
	names.Name = save.Function.Name + "_names"
	out, err := run(ctx, &graph.Concrete{Function: names, Captures: save.Captures}, tensor.Scalar(""))
	if err != nil {
		return nil, err
	}
	list := make([]string, len(out))
	for i, x := range out {
		list[i] = text(x.Tensor)
	}
	return list, nil
}

// text returns the value of a string scalar.
func text(t *tensor.Tensor) string {
	if t == nil || t.DType() != tensor.String || t.Len() != 1 {
		return ""
	}
	return t.Strings()[0]
}

// fill calls the functions that restore the values.
func (v *storedValues) fill(ctx context.Context, run graph.Runner) error {
	for _, a := range v.attributes {
		pair, ok := v.saveables[a.Name]
		if !ok { // a value that the class or the caller handles
			continue
		}
		names, err := suffixes(ctx, run, pair.Save)
		if err != nil {
			return err
		}
		restore := traceOf(pair.Restore)
		if restore == nil {
			return fmt.Errorf("the function that restores %q has no trace", a.Name)
		}
		args := make([]*tensor.Tensor, len(names))
		for i, name := range names {
			if name == "" {
				args[i] = a.Tensor
			}
			for _, x := range a.Parts {
				if x.Suffix == name {
					args[i] = x.Tensor
				}
			}
			if args[i] == nil {
				return fmt.Errorf("the model has no value %q of %q", name, a.Name)
			}
		}
		if _, err := run(ctx, restore, args...); err != nil {
			return err
		}
	}
	return nil
}

// exported returns the values that the functions save now.
func (v *storedValues) exported(ctx context.Context, run graph.Runner) ([]trackable.Attribute, error) {
	out := slices.Clone(v.attributes)
	for _, name := range sortedKeys(v.saveables) {
		parts, err := export(ctx, run, v.saveables[name].Save)
		if err != nil {
			return nil, err
		}
		a := trackable.Attribute{Name: name}
		for _, p := range parts {
			if p.suffix == "" {
				a.Tensor = p.value
			} else {
				a.Parts = append(a.Parts, trackable.AttributePart{Suffix: p.suffix, Tensor: p.value})
			}
		}
		slices.SortFunc(a.Parts, func(x, y trackable.AttributePart) int { return strings.Compare(x.Suffix, y.Suffix) })
		if i := slices.IndexFunc(out, func(x trackable.Attribute) bool { return x.Name == name }); i >= 0 {
			out[i] = a
		} else {
			out = append(out, a)
		}
	}
	return out, nil
}
