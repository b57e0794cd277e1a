package savedmodel

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/cairnml/cairn/internal/limit"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// The checkpoint of a model with a registered saver has no values for the saver's variables. Instead, functions of one
// object take the stored tensors and assign all of them.

// findByFunction notes the variables that functions of another object restore.
func (r *restorer) findByFunction() {
	r.byFunction = map[int][]*Object{}
	for _, o := range r.meta.Objects {
		for _, a := range r.attributes[o.ID] {
			pair, ok := o.Savers[a.Name]
			if !ok || pair.Restore.Function == nil || len(pair.Restore.Function.Concrete) == 0 { // a value without a function that restores it
				continue
			}
			for _, x := range pair.Restore.Function.Concrete[0].Captures {
				if x != nil && x.Kind == VariableObject && r.values[x.ID] == nil {
					r.byFunction[x.ID] = append(r.byFunction[x.ID], o)
				}
			}
		}
	}
}

// filledByFunction returns an error for a variable of a class that only functions of the model restore, if the program can't
// run these.
func (r *restorer) filledByFunction(id int) error {
	if r.opts.Run != nil || r.opts.AllowMissing {
		return nil
	}
	return fmt.Errorf("savedmodel: load %s: functions of %s restore the variable; set RestoreOptions.Run, which runs them, "+
		"or use RestoreOptions.AllowMissing to keep the value that the class has made", r.path(id), r.path(r.byFunction[id][0].ID))
}

// restoringFunctions makes the functions that restore variables, by the objects that have
// them. It returns none if the program can't run them.
func (r *restorer) restoringFunctions() (map[int]*storedValues, error) {
	out := map[int]*storedValues{}
	if r.opts.Run == nil {
		return out, nil
	}
	for _, id := range slices.Sorted(maps.Keys(r.byFunction)) {
		for _, o := range r.byFunction[id] {
			if out[o.ID] != nil {
				continue
			}
			pairs, err := r.saveables(o)
			if err != nil {
				return nil, err
			}
			out[o.ID] = &storedValues{attributes: r.attributes[o.ID], saveables: pairs}
		}
	}
	return out, nil
}

// restoreByFunction runs these functions. A generic object keeps them for saves.
func (r *restorer) restoreByFunction(functions map[int]*storedValues) error {
	empty, err := r.fillEmpty(functions)
	if err != nil {
		return err
	}
	for _, id := range slices.Sorted(maps.Keys(functions)) {
		if err := functions[id].fill(r.ctx, r.opts.Run); err != nil {
			return fmt.Errorf("savedmodel: restore %s: a function of the model that restores it: %w", r.path(id), err)
		}
		if own := generic(r.objects[id]); own != nil {
			own.run = r.opts.Run
		}
	}
	for _, v := range empty {
		if !internals.Written(v) {
			v.Init(nil) // no function has assigned it
		}
	}
	for _, id := range slices.Sorted(maps.Keys(r.byFunction)) {
		for _, o := range r.byFunction[id] {
			own := generic(r.objects[o.ID])
			if v := r.variableOf(id); v != nil && own != nil && own.run != nil {
				own.covers = append(own.covers, v)
			}
		}
	}
	return nil
}

// variableOf returns the variable of the program for a node of the file; nil
// for none.
func (r *restorer) variableOf(id int) *trackable.Variable {
	if v := r.bound[id]; v != nil {
		return v
	}
	if x, ok := r.objects[id].(trackable.VariableLike); ok {
		return x.AsVariable()
	}
	return nil
}

// fillEmpty sets the variables that these functions restore to zeros, and returns those
// that had no value. A function may read a variable before it assigns it, as a saver does
// that asks for the shapes. The variables may take as much memory as values of the size of those that the functions
// get, when they are read.
func (r *restorer) fillEmpty(functions map[int]*storedValues) (out []*trackable.Variable, err error) {
	var need, stored int64
	counted := map[*tensor.Tensor]bool{nil: true}
	count := func(t *tensor.Tensor) {
		if !counted[t] {
			counted[t] = true
			stored += t.NumBytes()
		}
	}
	for _, f := range functions {
		for _, a := range f.attributes {
			count(a.Tensor)
			for _, p := range a.Parts {
				count(p.Tensor)
			}
		}
	}
	most := max(limit.Memory(stored), r.meta.model.opts.maxMemory())
	for _, id := range slices.Sorted(maps.Keys(r.byFunction)) {
		v := r.variableOf(id)
		shape := r.meta.Objects[id].Variable.Shape
		if len(functions) == 0 || v == nil || v.DType() != tensor.Invalid || !shape.HasRank() || !shape.Known() {
			continue
		}
		dtype := r.meta.Objects[id].Variable.DType
		n, err := tensor.Shape(shape.Dims()).NumElements()
		if err != nil {
			continue // it stays without a value
		}
		const stringMemory = 16 // of an empty string
		width := int64(dtype.Size())
		if width == 0 {
			width = stringMemory
		}
		if need += min(int64(n), most/width+1) * width; need > most {
			return nil, &LimitError{File: fmt.Sprintf("the variables up to %s, which functions of the model restore,", r.path(id)), Need: need, Most: most}
		}
		t, err := tensor.Zeros(dtype, shape.Dims()...)
		if err != nil {
			continue // it stays without a value
		}
		v.Init(t)
		out = append(out, v)
	}
	return out, nil
}

// unfilledError returns an error if the model has variables without a value, so that it can't be saved.
func (r *Restored) unfilledError() error {
	if r.byFunction {
		return errors.New("functions of the model restore the variable; set RewriteOptions.Run, which runs them")
	}
	return errors.New("the variable has no value in the model's checkpoint, because a registered saver of the program that wrote it has it")
}

// markRestored marks the variables that functions of a loaded object save and restore. The checkpoint stores no values for
// the variables themselves.
func (s *saver) markRestored() {
	for id := range s.walk.Nodes {
		own := generic(s.walk.Nodes[id].Object)
		if own == nil {
			continue
		}
		for _, v := range own.covers {
			if at, ok := s.walk.ID(v); ok {
				s.registered.covered[trackable.Identity(s.walk.Nodes[at].Object)] = true
			}
		}
	}
}
