package savedmodel

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/cairnml/cairn/bundle"
	"github.com/cairnml/cairn/checkpoint"
	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/tensor"
)

// weight is the first value of a variable: of an object, or, in a model of
// TensorFlow 1, of a name.
type weight struct {
	object *Object
	key    engine.ResourceKey
	tensor *tensor.Tensor
}

// ErrNoCheckpoint says that a model has variables and no checkpoint for them.
var ErrNoCheckpoint = errors.New("there is no checkpoint " + VariablesPrefix)

// weightsFile is a model's checkpoint, matched with its objects.
type weightsFile struct {
	view *checkpoint.View   // nil where there is none
	keys map[*Object]string // of the variables' values
	byOp map[*Object]bool   // objects whose values only the restore op can give
}

// close releases the file.
func (c *weightsFile) close() {
	if c.view != nil {
		c.view.Close()
	}
}

// openCheckpoint opens the model's checkpoint, where its variables are to be read, and
// finds the objects' values in it.
func (p *program) openCheckpoint(ctx context.Context) (*weightsFile, error) {
	c := &weightsFile{}
	if p.opts.NoVariables {
		return c, nil
	}
	var err error
	c.view, err = checkpoint.OpenFS(ctx, p.meta.model.fsys, VariablesPrefix, &bundle.ReaderOptions{MaxMemory: p.opts.Read.maxMemory()})
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if !p.needsCheckpoint() || p.opts.Partial {
			return c, nil
		}
		return nil, fmt.Errorf("savedmodel: %w: LoadOptions.NoVariables loads the model without: %w", ErrNoCheckpoint, err)
	case err != nil:
		return nil, fmt.Errorf("savedmodel: %w", err)
	}
	if p.objectBased(c) {
		c.keys, c.byOp = p.meta.matchCheckpoint(c.view)
	}
	return c, nil
}

// objectBased reports whether the checkpoint holds the values by objects, not by names.
func (p *program) objectBased(c *weightsFile) bool {
	return len(p.meta.Objects) > 0 && c.view.ObjectBased()
}

// readWeights reads the values of the variables. They are read once, and every
// instance begins with them.
func (p *program) readWeights(ctx context.Context, c *weightsFile) error {
	switch {
	case c.view == nil:
		return nil
	case p.objectBased(c):
		p.byOp = c.byOp
		return p.readKeys(ctx, c.view.Reader(), c.keys)
	}
	return p.readNamedWeights(ctx, c.view.Reader())
}

// needsCheckpoint reports whether the model has anything that a checkpoint
// holds.
func (p *program) needsCheckpoint() bool {
	if len(p.meta.Objects) > 0 {
		return len(p.meta.Variables()) > 0
	}
	return p.meta.proto.SaverDef != nil || slices.ContainsFunc(p.meta.Collections(), func(c Collection) bool { return c.Name == variablesKey && c.Len > 0 })
}

// readKeys reads the values that the checkpoint's objects have for the model's.
func (p *program) readKeys(ctx context.Context, r *bundle.Reader, keys map[*Object]string) error {
	reqs, objects := make([]bundle.ReadRequest, 0, len(keys)), make([]*Object, 0, len(keys))
	small := 0 // bytes of small weights
	paths := map[int]string(nil)
	if !p.opts.Partial {
		if err := p.savedElsewhere(keys); err != nil {
			return err
		}
	}
	for _, o := range p.meta.Objects {
		if o.Kind != VariableObject || p.left(o) {
			continue
		}
		key, ok := keys[o]
		if !ok {
			if p.opts.Partial {
				continue
			}
			if paths == nil {
				paths = p.meta.Paths()
			}
			return fmt.Errorf("savedmodel: the checkpoint has no value for the variable %q (object %d, %s): LoadOptions.Partial loads the model all the same", o.Variable.Name, o.ID, paths[o.ID])
		}
		e, ok := r.Entry(key)
		if !ok {
			return fmt.Errorf("savedmodel: the checkpoint lacks the tensor %q of the variable %q", key, o.Variable.Name)
		}
		if d := o.Variable.DType; d != tensor.Invalid && d != e.DType || !o.Variable.Shape.Accepts(e.Shape) {
			// As in a session of TensorFlow, that matters only to those who need it.
			if p.misfits == nil {
				p.misfits = map[*Object]error{}
			}
			p.misfits[o] = fmt.Errorf("savedmodel: the variable %q is %v%v, the checkpoint's %q %v%v", o.Variable.Name, d, o.Variable.Shape, key, e.DType, e.Shape)
			continue
		}
		reqs, objects = append(reqs, bundle.ReadRequest{Name: key}), append(objects, o)
		small += inBlock(e.DType, e.Shape)
	}
	room := blocks{left: small}
	for i := range reqs {
		if e, ok := r.Entry(reqs[i].Name); ok {
			reqs[i].Dst = room.tensor(e.DType, e.Shape)
		}
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
		p.unrestored, err = missing, nil
	}
	return err
}

// blocks give memory to small weights, of which models have thousands: by itself each takes up
// to an eighth more than its size. They are given up together, as a program's weights are.
type blocks struct {
	left int    // bytes that are still to be given
	free []byte // of the last block
}

const (
	blockSize   = 256 << 10
	smallWeight = 32 << 10
)

// inBlock returns how many bytes a weight takes in a block; 0 for one that is better by itself.
func inBlock(d tensor.DType, shape tensor.Shape) int {
	elems, err := shape.NumElements()
	if n := elems * d.Size(); err == nil && elems <= smallWeight && n <= smallWeight {
		const line = 64 // of the processor's cache
		return (n + line - 1) / line * line
	}
	return 0
}

// tensor returns a tensor in a block; nil for one that is better by itself.
func (b *blocks) tensor(d tensor.DType, shape tensor.Shape) *tensor.Tensor {
	n := inBlock(d, shape)
	if n == 0 {
		return nil
	}
	if n > len(b.free) {
		b.free = tensor.Must(tensor.Zeros(tensor.Uint8, max(n, min(blockSize, b.left)))).Bytes()
	}
	elems, _ := shape.NumElements()
	size := elems * d.Size()
	t, err := tensor.FromBytes(d, b.free[:size:size], shape...)
	if err != nil {
		return nil
	}
	b.free, b.left = b.free[n:], b.left-n
	return t
}

// savedElsewhere returns an error where a registered saver wrote the values of
// variables that the checkpoint has no keys for.
func (p *program) savedElsewhere(keys map[*Object]string) error {
	var e *SaverError
	var paths map[int]string
	for _, o := range p.meta.Objects {
		if _, ok := keys[o]; ok || o.Kind != VariableObject || o.RegisteredSaver == "" || p.left(o) {
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

// needsOp reports whether an object that is loaded has values that only the restore
// op can give. The op restores all objects, so that it can't run for a part of them.
func (p *program) needsOp() bool {
	if p.chosen == nil {
		return len(p.byOp) > 0
	}
	for o := range p.byOp {
		if p.chosen[o] {
			p.unrestored = errLeftOut
		}
	}
	return false
}

// restoreByOp makes the graph's own restore op run in each instance: tables and
// the like have values that only their ops can take.
func (p *program) restoreByOp() error {
	def := p.meta.proto.SaverDef
	if def == nil || def.RestoreOpName == "" || def.FilenameTensorName == "" {
		return nil
	}
	name, err := p.graph.Find(def.FilenameTensorName)
	if err != nil {
		return &FormatError{p.meta.model.File, fmt.Errorf("the saver: %w", err)}
	}
	op, err := p.graph.Find(def.RestoreOpName)
	if err != nil {
		return &FormatError{p.meta.model.File, fmt.Errorf("the saver: %w", err)}
	}
	p.restore, err = p.prune(p.graph, "the restore op", []graph.Output{name}, nil, []*graph.Node{op.Node})
	return err
}

// runRestore runs the graph's restore op over the model's checkpoint.
func (m *Model) runRestore(ctx context.Context) error {
	args, err := m.resolve(ctx, m.restore, []engine.Value{engine.ValueOf(tensor.Scalar(VariablesPrefix))})
	if err != nil {
		return err
	}
	_, err = m.execute(ctx, m.restore, args, &engine.Files{Read: m.meta.model.fsys})
	return err
}
