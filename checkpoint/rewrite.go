package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/cairnml/cairn/bundle"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
	"github.com/cairnml/cairn/vfs"
)

// RewriteOptions describe the changes of a rewrite; nil copies everything
// unchanged.
type RewriteOptions struct {
	// Rename returns a tensor's new name; the object graph's keys follow. Two
	// tensors of one name are an error. Default: names stay.
	Rename func(name string) string
	// Drop leaves a tensor out; the object graph's attribute goes with it.
	// Default: none.
	Drop func(name string) bool
	// Convert returns a tensor's new value; nil means unchanged. Default: values
	// stay, and bytes, slices and checksums are copied without decoding.
	Convert func(name string, t *tensor.Tensor) (*tensor.Tensor, error)
	// Writer contains the options for writing the bundle. Default: bundle's
	// defaults.
	Writer *bundle.WriterOptions
	// Progress is called with bytes done and bytes in all. Default: nothing is
	// called.
	Progress func(done, total int64)
}

// Rewrite writes the checkpoint again, as prefix in dir, in the order of its
// data and in one data file. Whatever this package doesn't know stays: entries, attributes,
// fields of the object graph; those of the header only if o.Writer.Like is the checkpoint's
// Reader. An error removes the new files, and leaves an existing checkpoint
// of this prefix unchanged.
func (v *View) Rewrite(ctx context.Context, dir vfs.Dir, prefix string, o *RewriteOptions) error {
	if o == nil {
		o = new(RewriteOptions)
	}
	r := v.src.reader
	w, err := bundle.NewWriter(dir, prefix, o.Writer)
	if err != nil {
		return fmt.Errorf("checkpoint: %w", err)
	}
	err = v.rewrite(ctx, r, w, o)
	if err == nil {
		err = w.Finish(ctx)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("checkpoint: rewriting %s: %w", v.src.path, err), w.Abort())
	}
	return nil
}

// rewrite copies the tensors in the order of their bytes in r. Progress counts the dropped ones too.
func (v *View) rewrite(ctx context.Context, r *bundle.Reader, w *bundle.Writer, o *RewriteOptions) error {
	names := r.NamesByPlace()
	count := &counting{report: o.Progress}
	renamed := map[string]string{}
	for _, name := range names {
		e, _ := r.Entry(name)
		count.total += e.Size
		if name == trackable.ObjectGraphKey || o.Drop != nil && o.Drop(name) {
			continue
		}
		renamed[name] = name
		if o.Rename != nil {
			renamed[name] = o.Rename(name)
		}
	}
	for _, name := range names {
		e, _ := r.Entry(name)
		count.add(e.Size)
		if name == trackable.ObjectGraphKey {
			if o.Rename == nil && o.Drop == nil {
				if err := w.CopyFrom(ctx, r, name, name); err != nil {
					return err
				}
			} else if err := w.Add(ctx, name, tensor.Scalar(string(v.renameGraph(renamed)))); err != nil {
				return err
			}
			continue
		}
		as, keep := renamed[name]
		if !keep {
			continue
		}
		if o.Convert != nil {
			t, err := r.Read(ctx, name)
			if err != nil {
				return err
			}
			c, err := o.Convert(name, t)
			if err != nil {
				return fmt.Errorf("tensor %q: %w", name, err)
			}
			if c != nil {
				if err := w.Add(ctx, as, c); err != nil {
					return err
				}
				continue
			}
		}
		if err := w.CopyFrom(ctx, r, name, as); err != nil {
			return err
		}
	}
	return nil
}

// renameGraph returns the encoded object graph with new keys. Attributes whose
// tensors were dropped are left out. Those whose keys the bundle never had stay.
func (v *View) renameGraph(renamed map[string]string) []byte {
	out := *v.graph.messages()
	nodes := out.Nodes
	out.Nodes = nil
	for _, n := range nodes {
		c := *n
		c.Attributes = nil
		for _, a := range n.Attributes {
			b := *a
			as, keep := v.renamedKey(a.CheckpointKey, renamed)
			if !keep {
				continue
			}
			b.CheckpointKey = as
			c.Attributes = append(c.Attributes, &b)
		}
		out.Nodes = append(out.Nodes, &c)
	}
	return out.Marshal()
}

// renamedKey returns an attribute's new key; keep is false if its tensors are dropped. The key of
// a table begins the names of several tensors. It changes if all of them get the same new
// beginning, and stays if they get different ones.
func (v *View) renamedKey(key string, renamed map[string]string) (as string, keep bool) {
	parts := v.src.keysOf(key)
	dropped := 0
	for i, part := range parts {
		name, ok := renamed[part]
		if !ok {
			dropped++
			continue
		}
		to, ok := strings.CutSuffix(name, part[len(key):])
		if !ok || i > 0 && dropped == 0 && to != as {
			return key, true
		}
		as = to
	}
	switch {
	case len(parts) > 0 && dropped == len(parts):
		return "", false
	case len(parts) == 0 || dropped > 0:
		return key, true
	}
	return as, true
}
