package function

import (
	"context"
	"fmt"

	"github.com/cairnml/cairn/checkpoint"
	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/grad"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// Saver is a checkpoint saver written in ops. It is registered as any other:
//
//	savers := new(checkpoint.Savers)
//	err := savers.Register("Custom", function.Saver{Name: "stacks", …})
//
// Its ops run eagerly when a checkpoint is saved or restored; since they are
// ops, they can also be traced into a graph.
type Saver struct {
	// Name is the saver's name. Files contain it with the package of Register.
	Name string
	// Matches reports whether the saver is in charge of an object.
	Matches func(trackable.Trackable) bool
	// Save writes the objects under prefix, a string scalar, and returns the
	// prefixes of the files that it wrote: a string scalar or vector, or nil if it
	// wrote none. Nil: the objects are saved as by default.
	Save func(s *ops.Scope, objects checkpoint.Objects, prefix *ops.Value) *ops.Value
	// Restore reads the objects' values from the checkpoint under prefix. Nil:
	// the objects are restored as by default.
	Restore func(s *ops.Scope, objects checkpoint.Objects, prefix *ops.Value)
	// Lenient skips objects that Matches refuses at a restore. Default: an error.
	Lenient bool
	// Options are the options of the ops' calls; their Files are replaced by a
	// grant for the checkpoint. Default: nil, as for New.
	Options *Options
}

// CheckpointSaver returns s as package checkpoint runs it.
func (sv Saver) CheckpointSaver() checkpoint.Saver {
	out := checkpoint.Saver{Name: sv.Name, Matches: sv.Matches, Lenient: sv.Lenient, Traced: sv}
	if sv.Save != nil {
		out.Save = sv.save
	}
	if sv.Restore != nil {
		out.Restore = sv.restore
	}
	return out
}

func (sv Saver) save(ctx context.Context, call *checkpoint.SaveCall) (written []string, err error) {
	err = sv.run(ctx, &engine.Files{Write: call.Dir}, call.Prefix, func(s *ops.Scope, prefix *ops.Value) error {
		v := sv.Save(s, call.Objects, prefix)
		if v == nil || s.Err() != nil {
			return nil
		}
		t, err := v.Tensor()
		if err != nil {
			return err
		}
		if t.DType() != tensor.String || len(t.Shape()) > 1 {
			return fmt.Errorf("function: saver %q: Save returned %v%v, not prefixes (want a string scalar or vector)", sv.Name, t.DType(), t.Shape())
		}
		written = append(written, t.Strings()...)
		return nil
	})
	return written, err
}

func (sv Saver) restore(ctx context.Context, call *checkpoint.RestoreCall) error {
	return sv.run(ctx, &engine.Files{Read: call.FS}, call.Prefix, func(s *ops.Scope, prefix *ops.Value) error {
		sv.Restore(s, call.Objects, prefix)
		return nil
	})
}

func (sv Saver) run(ctx context.Context, files *engine.Files, prefix string, f func(*ops.Scope, *ops.Value) error) (err error) {
	o := *pick([]*Options{sv.Options})
	o.Files = files
	s := o.scope(ctx, false)
	defer func() {
		if r := recover(); r != nil {
			err = engine.NewPanicError(r)
		}
		if first := s.Close(); first != nil {
			err = first
		}
		if err != nil {
			err = fmt.Errorf("saver %q: %w", sv.Name, err)
		}
	}()
	return f(s, ops.ValueOf(tensor.Scalar(prefix)))
}

// TraceSave traces Save: the function takes the prefix and returns the prefixes of the
// files that it wrote. It implements savedmodel's interface for savers.
func (sv Saver) TraceSave(ctx context.Context, objects checkpoint.Objects) (*graph.Concrete, error) {
	return sv.trace(ctx, "save", func(s *ops.Scope, prefix *ops.Value) *ops.Value { return sv.Save(s, objects, prefix) })
}

// TraceRestore traces Restore: the function takes the prefix and returns nothing.
func (sv Saver) TraceRestore(ctx context.Context, objects checkpoint.Objects) (*graph.Concrete, error) {
	return sv.trace(ctx, "restore", func(s *ops.Scope, prefix *ops.Value) *ops.Value {
		sv.Restore(s, objects, prefix)
		return nil
	})
}

func (sv Saver) trace(ctx context.Context, what string, f func(*ops.Scope, *ops.Value) *ops.Value) (c *graph.Concrete, err error) {
	o := pick([]*Options{sv.Options})
	s, tr := ops.NewTrace(ctx, "__inference_"+sv.Name+"_"+what, &ops.ScopeOptions{Kernels: o.Kernels, Shapes: o.Shapes})
	defer func() {
		if r := recover(); r != nil {
			err = ofPanic(r)
		}
		if first := s.Close(); first != nil {
			err = first
		}
		if err != nil {
			c, err = nil, fmt.Errorf("saver %q: %w", sv.Name, err)
		}
	}()
	prefix, err := tr.Arg("file_prefix", graph.Fact{DType: tensor.String, Shape: graph.ShapeOf()})
	if err != nil {
		return nil, err
	}
	var results []*ops.Value
	tr.Run(func() {
		if v := f(grad.WithRules(s, o.Gradients), prefix); v != nil {
			results = append(results, v)
		}
	})
	return tr.Finish(results, []string{"prefixes"})
}
