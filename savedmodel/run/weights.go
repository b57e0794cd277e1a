package run

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/cairnml/cairn/bundle"
	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/internal/collect"
	"github.com/cairnml/cairn/savedmodel"
	"github.com/cairnml/cairn/tensor"
)

// weight is the first value of a variable: of an object, or, in a model of
// TensorFlow 1, of a name.
type weight struct {
	object *savedmodel.Object // nil in a model of TensorFlow 1
	key    engine.ResourceKey // the name, if object is nil
	tensor *tensor.Tensor     // shared by all instances, so never written
}

// weightsFile is a model's checkpoint, matched with its objects. It doesn't
// keep the checkpoint's object graph, so that this memory is free before the
// weights are read.
type weightsFile struct {
	reader      *bundle.Reader                // nil if there is none
	objectBased bool                          // it holds the values by objects, not by names
	keys        map[*savedmodel.Object]string // of the variables' values
	byOp        map[*savedmodel.Object]bool   // objects whose values only the restore op can restore
}

// close releases the file.
func (c *weightsFile) close() {
	if c.reader != nil {
		c.reader.Close()
	}
}

// openCheckpoint opens the model's checkpoint, unless NoVariables is set, and
// finds the objects' values in it.
func (p *program) openCheckpoint(ctx context.Context) (*weightsFile, error) {
	c := &weightsFile{}
	if p.opts.NoVariables {
		return c, nil
	}
	view, err := p.meta.SavedModel().OpenVariables(ctx)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if !p.needsCheckpoint() || p.opts.Partial {
			return c, nil
		}
		return nil, fmt.Errorf("savedmodel: %w: %w; LoadOptions.NoVariables loads the model without", savedmodel.ErrNoCheckpoint, err)
	case err != nil:
		return nil, err
	}
	c.reader = view.Reader()
	if c.objectBased = len(p.meta.Objects) > 0 && view.ObjectBased(); c.objectBased {
		c.keys, c.byOp = modelInternals.Stored(p.meta, view)
	}
	return c, nil
}

// readWeights reads the values of the variables. They are read once, and every
// instance begins with them.
func (p *program) readWeights(ctx context.Context, c *weightsFile) error {
	switch {
	case c.reader == nil:
		return nil
	case c.objectBased:
		p.byOp = c.byOp
		return p.readKeys(ctx, c)
	}
	return p.readNamedWeights(ctx, c.reader)
}

// needsCheckpoint reports whether the model has anything that a checkpoint
// holds.
func (p *program) needsCheckpoint() bool {
	if len(p.meta.Objects) > 0 {
		return len(p.meta.Variables()) > 0
	}
	return p.meta.HasSaver() || slices.ContainsFunc(p.meta.Collections(), func(c savedmodel.Collection) bool { return c.Name == variablesKey && c.Len > 0 })
}

// readKeys reads the values that the checkpoint's objects have for the model's.
func (p *program) readKeys(ctx context.Context, c *weightsFile) error {
	r, keys, weights := c.reader, c.keys, int64(0) // bytes
	c.keys = nil
	reqs, objects := make([]bundle.ReadRequest, 0, len(keys)), make([]*savedmodel.Object, 0, len(keys))
	paths := map[int]string(nil)
	if !p.opts.Partial {
		if err := p.savedByUnknownSaver(keys); err != nil {
			return err
		}
	}
	for _, o := range p.meta.Objects {
		if o.Kind != savedmodel.VariableObject || p.excluded(o) {
			continue
		}
		key, ok := keys[o]
		if !ok {
			if p.opts.Partial || p.restoredByOp(o) { // the variable has no value until an op or the caller assigns one
				continue
			}
			if paths == nil {
				paths = p.meta.Paths()
			}
			return fmt.Errorf("savedmodel: the checkpoint has no value for the variable %q (object %d, %s); LoadOptions.Partial loads the model all the same", o.Variable.Name, o.ID, paths[o.ID])
		}
		e, ok := r.Entry(key)
		if !ok {
			return fmt.Errorf("savedmodel: the checkpoint lacks the tensor %q of the variable %q", key, o.Variable.Name)
		}
		if d := o.Variable.DType; d != tensor.Invalid && d != e.DType || !o.Variable.Shape.Accepts(e.Shape) {
			// As in a session of TensorFlow, that matters only to those who need it.
			if p.mismatched == nil {
				p.mismatched = map[*savedmodel.Object]error{}
			}
			p.mismatched[o] = fmt.Errorf("savedmodel: the variable %q is %v%v, the checkpoint's %q %v%v", o.Variable.Name, d, o.Variable.Shape, key, e.DType, e.Shape)
			continue
		}
		weights += e.Size
		reqs, objects = append(reqs, bundle.ReadRequest{Name: e.Name}), append(objects, o) // the key is a part of the graph that is given up
	}
	collect.Before(weights)
	if err := allocateBlocks(r, reqs); err != nil {
		return fmt.Errorf("savedmodel: %w", err)
	}
	if err := r.ReadAll(ctx, reqs, nil); err != nil {
		return fmt.Errorf("savedmodel: %w", err)
	}
	p.weights = make([]weight, len(objects))
	for i, o := range objects {
		p.weights[i] = weight{object: o, tensor: reqs[i].Dst}
	}
	if !p.needsOp() {
		return nil
	}
	err := p.restoreByOp()
	var missing *UnsupportedError
	if errors.As(err, &missing) { // matters only to those who need these objects
		p.restore, p.noRestore, err = nil, missing, nil
	}
	return err
}

const (
	// blockSize is the number of bytes that small weights share. A separate weight takes up to a page,
	// or an eighth more than its size, and models have thousands. Weights of a block are freed
	// together, when the program is.
	blockSize = 1 << 20
	// smallWeight is the number of bytes up to which weights share a block.
	smallWeight = 128 << 10
)

// inBlock returns the number of bytes that a weight takes in a block; 0 for one that is allocated
// separately.
func inBlock(d tensor.DType, shape tensor.Shape) int {
	elems, err := shape.NumElements()
	if n := elems * d.Size(); err == nil && elems <= smallWeight && n <= smallWeight {
		const line = 64 // of the processor's cache
		return (n + line - 1) / line * line
	}
	return 0
}

// allocateBlocks allocates blocks of memory for the small tensors among reqs.
func allocateBlocks(r *bundle.Reader, reqs []bundle.ReadRequest) error {
	entries := make([]bundle.Entry, 0, min(len(reqs), blockSize/smallWeight)) // of a block
	which := make([]int, 0, cap(entries))
	size := 0
	place := func() error {
		block, err := tensor.Zeros(tensor.Uint8, size)
		if err != nil {
			return err
		}
		rest := block.Bytes()
		for i, e := range entries {
			n := inBlock(e.DType, e.Shape)
			elems, _ := e.Shape.NumElements()
			bytes := elems * e.DType.Size()
			if reqs[which[i]].Dst, err = tensor.FromBytes(e.DType, rest[:bytes:bytes], e.Shape...); err != nil {
				return err
			}
			rest = rest[n:]
		}
		entries, which, size = entries[:0], which[:0], 0
		return nil
	}
	for i := range reqs {
		e, ok := r.Entry(reqs[i].Name)
		if !ok { // ReadAll reports it
			continue
		}
		n := inBlock(e.DType, e.Shape)
		if n == 0 {
			continue
		}
		if size+n > blockSize {
			if err := place(); err != nil {
				return err
			}
		}
		entries, which, size = append(entries, e), append(which, i), size+n
	}
	return place()
}

// savedByUnknownSaver returns an error if a registered saver wrote the values of
// variables, so that the checkpoint has no keys for them.
func (p *program) savedByUnknownSaver(keys map[*savedmodel.Object]string) error {
	var e *SaverError
	var paths map[int]string
	for _, o := range p.meta.Objects {
		if _, ok := keys[o]; ok || o.Kind != savedmodel.VariableObject || o.RegisteredSaver == "" || p.excluded(o) {
			continue
		}
		if e == nil {
			e, paths = &SaverError{Saver: o.RegisteredSaver}, p.meta.Paths()
		}
		if o.RegisteredSaver == e.Saver {
			e.Paths = append(e.Paths, paths[o.ID])
		}
	}
	if e == nil {
		return nil
	}
	slices.Sort(e.Paths)
	return e
}

// restoredByOp reports whether the model's restore op can restore a variable:
// another object's functions save and restore it, as a registered saver's do.
func (p *program) restoredByOp(o *savedmodel.Object) bool {
	if o.RegisteredSaver != "" || !p.meta.HasSaver() {
		return false
	}
	for x := range p.byOp {
		if len(x.Savers) > 0 {
			return true
		}
	}
	return false
}

// needsOp reports whether a loaded object has values that only the restore op
// can restore. The op restores all objects, so it can't run for a part of them.
func (p *program) needsOp() bool {
	if p.chosen == nil {
		return len(p.byOp) > 0
	}
	for o := range p.byOp {
		if p.chosen[o] {
			p.noRestore = errExcluded
		}
	}
	return false
}

// restoreByOp makes the graph's own restore op run in each instance: tables and
// the like have values that only their ops can take.
func (p *program) restoreByOp() error {
	filename, restore := modelInternals.Saver(p.meta)
	if filename == "" || restore == "" {
		return nil
	}
	name, err := p.graph.Find(filename)
	if err != nil {
		return p.badFile(fmt.Errorf("the saver: %w", err))
	}
	op, err := p.graph.Find(restore)
	if err != nil {
		return p.badFile(fmt.Errorf("the saver: %w", err))
	}
	p.restore, err = p.prune(p.graph, "the restore op", []graph.Output{name}, nil, []*graph.Node{op.Node})
	return err
}

// runRestore runs the graph's restore op over the model's checkpoint.
func (m *Model) runRestore(ctx context.Context) error {
	args, err := m.resolve(ctx, m.restore, []engine.Value{engine.ValueOf(tensor.Scalar(savedmodel.VariablesPrefix))})
	if err != nil {
		return err
	}
	_, err = m.execute(ctx, m.restore, args, &engine.Files{Read: m.meta.SavedModel().FS()})
	return err
}
