package savedmodel

import (
	"context"
	"errors"
	"io"
	"io/fs"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/graph/shape"
)

// LoadOptions say how a MetaGraph becomes a [Model]. Kernels is needed.
type LoadOptions struct {
	// Tags choose the MetaGraph: the one with exactly these. Default: the only
	// one, or the one tagged "serve".
	Tags []string
	// Kernels run the ops: kernel.All(), or that with kernels of one's own.
	Kernels *engine.KernelSet
	// Signatures are those whose ops must all have kernels for the model to load.
	// Others are looked at when they are asked for. Default, nil: all of them; an
	// empty list that isn't nil means none.
	Signatures []string
	// Objects are paths to the parts of the graph of objects that are loaded, with all
	// that they need. Calls that need other objects are errors; signatures are looked at
	// when they are asked for, unless Signatures names them. Default, nil: everything.
	Objects []string
	// Partial lets variables be without a value where the checkpoint has none for
	// them. Default: that is an error.
	Partial bool
	// NoVariables leaves the checkpoint unread: no variable has a value until an
	// op or the caller gives it one.
	NoVariables bool
	// NoInit leaves out what a graph of TensorFlow 1 runs at loading: its tables stay
	// empty. It is the way out where no kernel runs that.
	NoInit bool
	// Files is what ops may do with files besides reading the model's assets.
	// Default: nothing.
	Files *engine.Files
	// Shapes are the shape rules. Default: shape.All().
	Shapes *shape.Rules
	// Passes rewrite functions before they are compiled. Default:
	// engine.InferencePasses(); engine.DefaultPasses() keep every bit.
	Passes []engine.Pass
	// Workers is the budget of helpers for large ops. Default:
	// engine.SharedWorkers().
	Workers *engine.Workers
	// Log is where ops that print write to. Default: os.Stderr.
	Log io.Writer
	// MaxOutput, MaxMemory and MaxSteps bound each call; see
	// [engine.RunOptions]. Default: the machine's memory, and any number of steps.
	MaxOutput, MaxMemory, MaxSteps int64
	// Tracer hears of every op that a call runs. Default: nobody.
	Tracer engine.Tracer
	// Read says how files are read.
	Read *ReadOptions
}

// Load reads a SavedModel from its directory and makes it ready to run: weights
// are read, what TensorFlow runs at loading is run. Ops without a kernel that a
// signature needs are an [*UnsupportedError] that lists all of them.
func Load(ctx context.Context, fsys fs.FS, o *LoadOptions) (*Model, error) {
	if o == nil || o.Kernels == nil {
		return nil, errors.New("savedmodel: LoadOptions.Kernels is nil: kernel.All() are the built-in ones")
	}
	m, err := Read(ctx, fsys, o.Read)
	if err != nil {
		return nil, err
	}
	g, err := m.Find(o.Tags...)
	if err != nil {
		return nil, err
	}
	return g.Load(ctx, o)
}

// Load makes the MetaGraph ready to run; see [Load]. The options' Tags and Read
// mean nothing here.
func (g *MetaGraph) Load(ctx context.Context, o *LoadOptions) (*Model, error) {
	if o == nil || o.Kernels == nil {
		return nil, errors.New("savedmodel: LoadOptions.Kernels is nil: kernel.All() are the built-in ones")
	}
	p, err := newProgram(g, *o)
	if err != nil {
		return nil, err
	}
	c, err := p.openCheckpoint(ctx)
	if err != nil {
		return nil, err
	}
	defer c.close()
	if err := p.prepare(c); err != nil {
		return nil, err
	}
	if err := p.readWeights(ctx, c); err != nil {
		return nil, err
	}
	return p.instantiate(ctx)
}

// prepare holds what signatures reach against the kernels, and reads what instances need of
// the graph. What is made for that is given up before the weights are read, so that these take
// its place in memory: calls make it again when they come.
func (p *program) prepare(c *weightsFile) error {
	named := c.view != nil && !p.objectBased(c)
	p.makers, p.starts = p.meta.makers(), p.meta.starts(len(c.byOp) > 0 || named)
	if _, err := p.reached(); err != nil {
		return err
	}
	if err := p.readConstants(); err != nil {
		return err
	}
	if err := p.findInit(); err != nil {
		return err
	}
	if err := p.checkSignatures(); err != nil {
		return err
	}
	// What instances run at loading and what they run later have states in common.
	if p.init == nil && len(c.byOp) == 0 && !named {
		p.forget()
	}
	return nil
}

// checkSignatures returns an error that lists all ops which have no kernel and which the
// signatures need that must be ready when the model is loaded.
func (p *program) checkSignatures() error {
	names := p.opts.Signatures
	if names == nil && p.opts.Objects == nil {
		for _, s := range p.meta.Signatures {
			names = append(names, s.Name)
		}
	}
	var missing *UnsupportedError
	for _, name := range names {
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
