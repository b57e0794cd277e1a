package run

import (
	"context"
	"errors"
	"fmt"

	"github.com/cairnml/cairn/savedmodel"
	"github.com/cairnml/cairn/trackable"
	"github.com/cairnml/cairn/vfs"
)

// Save writes the model into the directory called name of dir, as [savedmodel.Rewrite] does,
// with the values that this instance's variables and tables have now. A table whose values
// the model's functions save needs RewriteOptions.Run, if a call has used it. The caller
// runs no call meanwhile that changes the model's state. A model of TensorFlow 1 without
// objects, or one loaded in part, is an error.
func (m *Model) Save(ctx context.Context, dir vfs.Dir, name string, opts *savedmodel.RewriteOptions) error {
	var o savedmodel.RewriteOptions
	if opts != nil {
		o = *opts
	}
	if len(m.meta.Objects) == 0 {
		return fmt.Errorf("savedmodel: save %s: the model has no objects, so the places of the values of its variables are unknown: %w", name, errors.ErrUnsupported)
	}
	edit := o.Edit
	o.Edit = func(r *savedmodel.Restored) error {
		if err := m.giveState(r, &o); err != nil {
			return fmt.Errorf("savedmodel: save %s: %w", name, err)
		}
		if edit != nil {
			return edit(r)
		}
		return nil
	}
	return savedmodel.Rewrite(ctx, m.meta.SavedModel(), dir, name, &o)
}

// giveState copies the state of this instance's objects to r, the objects that are saved.
// Values go to variables that Restore made, resources to those whose values the checkpoint
// has. All else keeps what Restore read from the file.
func (m *Model) giveState(r *savedmodel.Restored, o *savedmodel.RewriteOptions) error {
	paths := m.meta.Paths()
	for _, x := range m.meta.Objects {
		if m.excluded(x) {
			return fmt.Errorf("%s: %w", paths[x.ID], errExcluded)
		}
		from := m.variables[x]
		to, ok := r.Object(x.ID).(*trackable.Variable)
		if from == nil || !ok { // x is no variable, or no object that is saved leads to it
			continue
		}
		if err := internals.VariableFault(from); err != nil {
			return err
		}
		t := from.Load()
		if t == nil {
			return fmt.Errorf("the variable %q has no value", paths[x.ID])
		}
		if err := to.Store(t); err != nil {
			return fmt.Errorf("the variable %q: %w", paths[x.ID], err)
		}
	}
	m.making.Lock()
	defer m.making.Unlock()
	for x, v := range m.resources {
		to, ok := r.Object(x.ID).(*savedmodel.TrackableResource)
		if !ok || !m.byOp[x] { // without values in the checkpoint, the model's functions make and fill the resource again
			continue
		}
		if o.Run == nil {
			return fmt.Errorf("%s: functions of the model save the values of this resource; set RewriteOptions.Run, which runs them", paths[x.ID])
		}
		to.Adopt(v.Object, o.Run)
	}
	return nil
}
