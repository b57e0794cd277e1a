package savedmodel

import (
	"fmt"

	"github.com/cairnml/cairn/checkpoint"
)

// savedBy is the registered saver that wrote an object's values, and the object's name
// with it.
type savedBy struct{ saver, object string }

// savers returns the registered savers of the restore.
func (r *restorer) savers() *checkpoint.Savers {
	if r.opts.Savers != nil {
		return r.opts.Savers
	}
	return checkpoint.DefaultSavers
}

// findRegistered notes the objects that registered savers saved.
func (r *restorer) findRegistered(view *checkpoint.View) {
	r.registered = map[int]savedBy{}
	if view.Len() == 0 {
		return
	}
	r.meta.walkCheckpoint(view, func(o *Object, id int) {
		if saver, object := view.Saver(id); saver != "" {
			r.registered[o.ID] = savedBy{saver, object}
		}
	})
}

// filledBy returns an error for a variable of a class's object whose value a saver wrote, if the program
// doesn't have the saver.
func (r *restorer) filledBy(by savedBy, id int) error {
	x, ok := r.savers().Lookup(by.saver)
	if ok && x.Restore != nil || r.opts.AllowMissing {
		return nil
	}
	return fmt.Errorf("savedmodel: load %s: the registered saver %q wrote the variable's value, which the program doesn't have (it has %q); "+
		"name it in RestoreOptions.Savers, or use RestoreOptions.AllowMissing to keep the value that the class has made", r.path(id), by.saver, r.savers().Names())
}

// restoreRegistered lets the registered savers restore the objects that were made. A
// saver is not asked for generic objects that it refuses.
func (r *restorer) restoreRegistered() error {
	groups := map[string][]checkpoint.Object{}
	var order []string
	for id := range r.meta.Objects {
		by, ok := r.registered[id]
		obj := r.objects[id]
		if v := r.bound[id]; v != nil && obj == nil {
			obj = v
		}
		x, known := r.savers().Lookup(by.saver)
		if !ok || obj == nil || !known || x.Restore == nil { // not saved by a saver, not reached, or a saver that only writes
			continue
		}
		if !x.Matches(obj) {
			if !r.generic[id] && !x.Lenient {
				return fmt.Errorf("savedmodel: load %s: the registered saver %q, which wrote its values, refuses the object (got %T)", r.path(id), by.saver, obj)
			}
			continue
		}
		if groups[by.saver] == nil {
			order = append(order, by.saver)
		}
		groups[by.saver] = append(groups[by.saver], checkpoint.Object{Prefix: by.object, Object: obj})
	}
	if len(order) == 0 {
		return nil
	}
	view, err := r.meta.model.OpenVariables(r.ctx)
	if err != nil {
		return fmt.Errorf("savedmodel: restore: %w", err)
	}
	defer view.Close()
	for _, name := range order {
		x, _ := r.savers().Lookup(name)
		call := &checkpoint.RestoreCall{Objects: checkpoint.MakeObjects(groups[name]...), Prefix: VariablesPrefix, FS: r.meta.model.fsys, Reader: view.Reader()}
		if x.Check != nil {
			if err := x.Check(r.ctx, call); err != nil {
				return fmt.Errorf("savedmodel: restore: the registered saver %q refuses the model: %w", name, err)
			}
		}
		if err := x.Restore(r.ctx, call); err != nil {
			return fmt.Errorf("savedmodel: restore: the registered saver %q: %w", name, err)
		}
	}
	return nil
}
