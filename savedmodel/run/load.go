package run

import (
	"context"
	"errors"
	"io"
	"io/fs"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/engine/passes"
	"github.com/cairnml/cairn/graph/raise"
	"github.com/cairnml/cairn/graph/shape"
	"github.com/cairnml/cairn/internal/await"
	"github.com/cairnml/cairn/savedmodel"
)

// LoadOptions control the loading of a MetaGraph as a [Model]. Kernels is required.
type LoadOptions struct {
	// Tags choose the MetaGraph: the one with exactly these. Default: the only
	// one, the one without tags, or the one tagged "serve".
	Tags []string
	// Kernels run the ops: kernel.All(), or that with kernels of one's own.
	Kernels *engine.KernelSet
	// Signatures are those whose ops must all have kernels for the model to load.
	// Others are looked at when they are asked for. Default, nil: all of them; an
	// empty list that isn't nil means none.
	Signatures []string
	// Objects are paths to the parts of the object graph that are loaded, with all
	// that they need. Calls that need other objects are errors; signatures are looked at
	// when they are asked for, unless Signatures names them. Default, nil: everything.
	Objects []string
	// Partial allows variables for which the checkpoint has no value. Default: that is an error.
	Partial bool
	// NoVariables leaves the checkpoint unread: no variable has a value until an op or the caller assigns one.
	NoVariables bool
	// NoInit skips the ops that a graph of TensorFlow 1 runs at loading: its init op, or the initializers of its local
	// variables and tables. Tables stay empty then. Use it if there are no kernels for those ops.
	NoInit bool
	// Files are the files that ops may read and write, besides the model's assets, which they may read; [engine.GrantDirs]
	// grants directories. Default: none.
	Files *engine.Files
	// Shapes are the shape rules. Default: shape.All().
	Shapes *shape.Rules
	// Passes rewrite functions before they are compiled. Default:
	// [passes.Inference]. Those of [passes.Default] keep every bit.
	Passes []passes.Pass
	// Workers is the budget of helpers for large ops. Default:
	// engine.SharedWorkers().
	Workers *engine.Workers
	// Log is the destination of ops that print. Default: os.Stderr.
	Log io.Writer
	// MaxOutput, MaxMemory and MaxSteps bound each call; see
	// [engine.RunOptions]. Default: the memory that the process does not use, less an
	// eighth of all, and any number of steps.
	MaxOutput, MaxMemory, MaxSteps int64
	// MaxCalls is the number of calls that run at once, over all instances of the model. Others wait until one ends or until
	// their own context does. A running call has memory for its results, which later calls use again. So a model takes,
	// besides its weights, up to MaxCalls times that: 30 MiB each for MobileNetV2 and one picture. One call keeps all cores
	// busy if its ops are large, so more at once gain little. A kernel or a Tracer that calls the same model counts as a
	// further call. Default: Workers, but at least 2; below 0: no limit.
	MaxCalls int
	// Tracer observes every op that a call runs. Default: none.
	Tracer engine.Tracer
	// Read controls how files are read.
	Read *savedmodel.ReadOptions
}

// Load reads a SavedModel from its directory and makes it ready to run: it reads the weights and runs the ops that
// TensorFlow runs at loading. If signatures need ops without a kernel, the error is an [*UnsupportedError] that lists all of
// them.
func Load(ctx context.Context, fsys fs.FS, opts *LoadOptions) (*Model, error) {
	if opts == nil || opts.Kernels == nil {
		return nil, errors.New("savedmodel: LoadOptions.Kernels is nil; kernel.All() are the built-in ones")
	}
	m, err := savedmodel.Read(ctx, fsys, opts.Read)
	if err != nil {
		return nil, err
	}
	g, err := m.Find(opts.Tags...)
	if err != nil {
		return nil, err
	}
	return LoadMetaGraph(ctx, g, opts)
}

// LoadGraphDef reads a file that contains a GraphDef, such as a frozen graph, and makes it ready to run; see
// [savedmodel.ReadGraphDef]. The model has no signatures: [Model.Prune] makes one of feeds and fetches. The options' Tags,
// Signatures and Objects have no effect. A variable of a graph that isn't frozen has no value until an op assigns one.
func LoadGraphDef(ctx context.Context, fsys fs.FS, name string, opts *LoadOptions) (*Model, error) {
	if opts == nil || opts.Kernels == nil {
		return nil, errors.New("savedmodel: LoadOptions.Kernels is nil; kernel.All() are the built-in ones")
	}
	m, err := savedmodel.ReadGraphDef(ctx, fsys, name, opts.Read)
	if err != nil {
		return nil, err
	}
	o := *opts
	o.Signatures, o.Objects = nil, nil
	return LoadMetaGraph(ctx, m.MetaGraphs[0], &o)
}

// LoadMetaGraph makes a MetaGraph ready to run, as [Load] does. The options' Tags and
// Read have no effect.
func LoadMetaGraph(ctx context.Context, g *savedmodel.MetaGraph, opts *LoadOptions) (*Model, error) {
	if opts == nil || opts.Kernels == nil {
		return nil, errors.New("savedmodel: LoadOptions.Kernels is nil; kernel.All() are the built-in ones")
	}
	var p *program
	var err error
	if waited := untilDone(ctx, func() { p, err = newProgram(g, *opts) }); waited != nil {
		return nil, waited
	}
	if err != nil {
		return nil, err
	}
	surveyed := make(chan bool, 1) // in parallel with reading the checkpoint's index, which waits for the disk
	go func() { surveyed <- p.surveyed(ctx) }()
	c, err := p.openCheckpoint(ctx)
	if err != nil {
		return nil, err
	}
	defer c.close()
	var complete bool
	select {
	case complete = <-surveyed:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	// The graph may have hundreds of thousands of nodes.
	if waited := untilDone(ctx, func() { err = p.prepare(c, complete) }); waited != nil {
		return nil, waited
	}
	if err != nil {
		return nil, err
	}
	if err := p.readWeights(ctx, c); err != nil {
		return nil, err
	}
	return p.instantiate(ctx)
}

// untilDone calls f and waits until it returns or the context ends. What f wrote may be read only
// if the result is nil.
func untilDone(ctx context.Context, f func()) error {
	if ctx.Done() == nil {
		f()
		return nil
	}
	return await.Do(ctx, f)
}

// prepare checks that there are kernels for all ops that signatures reach, and decodes the parts of the graph that run at
// loading. If nothing runs at loading and surveyed is true, the graph isn't needed. If only the survey needs it, it is
// dropped to free memory for the weights, and the first call decodes it again.
func (p *program) prepare(c *weightsFile, surveyed bool) error {
	named := c.reader != nil && !c.objectBased
	p.makers, p.starts = makers(p.meta), starts(p.meta, len(c.byOp) > 0 || named)
	later := len(p.meta.Objects) > 0 && len(c.byOp) == 0 && !named // nothing of the graph runs at loading
	if later && surveyed {
		return nil
	}
	if _, err := p.reached(); err != nil {
		return err
	}
	if err := p.findInit(); err != nil {
		return err
	}
	if err := p.checkSignatures(); err != nil {
		return err
	}
	if later {
		p.forget()
	}
	return nil
}

// surveyed reports whether the file's names show that everything that signatures need is there. If it returns false, the
// graph must be decoded to find the fault, if there is one. It never returns true if checkSignatures would return an error. It
// ends with ctx.
func (p *program) surveyed(ctx context.Context) bool {
	if len(p.meta.Objects) == 0 {
		return false
	}
	s, err := modelInternals.Survey(p.meta, func(op string) bool { return ctx.Err() == nil && p.runs(op) && !raise.Is(op) })
	if err != nil {
		return false
	}
	for _, o := range p.meta.Objects {
		if o.Kind == savedmodel.ConstantObject && !s.HasNode(o.Constant) {
			return false
		}
	}
	for _, name := range p.toCheck() {
		def, err := p.meta.Signature(name)
		if err != nil {
			return false
		}
		var tensors [2][]string
		for i, list := range [][]savedmodel.TensorInfo{def.Outputs, def.Inputs} {
			for _, t := range savedmodel.PlainTensors(list) {
				tensors[i] = append(tensors[i], t.Tensor)
			}
		}
		if ok, err := s.Reaches(tensors[0], tensors[1]); !ok || err != nil {
			return false
		}
	}
	return modelInternals.Unchanged(p.meta) == nil
}

// toCheck returns the names of the signatures that must be ready when the model is loaded.
func (p *program) toCheck() []string {
	names := p.opts.Signatures
	if names == nil && p.opts.Objects == nil {
		for _, s := range p.meta.Signatures {
			names = append(names, s.Name)
		}
	}
	return names
}

// checkSignatures returns an error that lists all ops without a kernel in the signatures that must
// be ready when the model is loaded.
func (p *program) checkSignatures() error {
	var missing *UnsupportedError
	for _, name := range p.toCheck() {
		_, err := p.signature(name)
		var un *UnsupportedError
		switch {
		case errors.As(err, &un):
			missing = missing.with(un)
		case err != nil:
			return err
		}
	}
	if missing != nil {
		return missing
	}
	return nil
}
