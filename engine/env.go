package engine

import (
	"fmt"
	"io"

	"github.com/cairnml/cairn/tensor"
)

// Env is the environment that the ops of one call of a function share.
type Env struct {
	// Workers is the budget of helpers. The default, nil, means none: all work
	// is done by the caller.
	Workers *Workers
	// Files is the file grant. The default, nil, grants nothing.
	Files *Files
	// MaxOutput is the most bytes that one output may take, so that a wrong size
	// in a file is an error and not the end of the process. The default, 0, means
	// seven eighths of [MachineMemory], less the memory in use.
	MaxOutput int64
	// MaxSteps is the most ops that may run, loops counted in full. The default,
	// 0, means no limit.
	MaxSteps int64
	// Arena owns the outputs' memory. The default, nil, makes fresh memory.
	Arena *Arena
	// Instance holds the state that outlives the call. The default, nil, is the
	// process's.
	Instance *Instance
	// Log receives the output of ops that print. Default: os.Stderr.
	Log io.Writer
	// Tracer receives every op that a plan executes. Default: none.
	Tracer Tracer

	steps int64       // ops that have run so far
	depth int         // functions that are running inside each other
	scope *scope      // the call of the running function; nil in a function that was called from outside
	root  any         // the function that was called from outside
	state map[any]any // of this call: tensor arrays, stacks
}

// alloc makes v a new value in the memory of e's arena, of an element type with fixed
// size or of strings. The contents are undefined.
func (e *Env) alloc(v *Value, d tensor.DType, shape tensor.Shape) error {
	if !d.Fixed() {
		n, err := shape.NumElements()
		if err != nil {
			return err
		}
		if n > maxBytes/16 {
			return fmt.Errorf("an output of %v%v takes more than this platform's memory", d, shape.String())
		}
		if err := e.afford(d, shape, int64(n)*16); err != nil {
			return err
		}
		t, err := tensor.Zeros(d, shape...)
		*v = Value{Tensor: t}
		return err
	}
	size := d.Size()
	n, err := shape.NumElements()
	if err != nil {
		return err
	}
	if n > maxBytes/size {
		return fmt.Errorf("an output of %v%v takes more than this platform's memory", d, shape.String())
	}
	if err := e.afford(d, shape, int64(n)*int64(size)); err != nil {
		return err
	}
	mem, buf := e.Arena.Alloc(n * size)
	if buf != nil {
		// An earlier call often used this memory for a value of the same shape.
		if t := buf.seenAs(d, shape); t != nil {
			*v = Value{Tensor: t, buf: buf}
			return nil
		}
	}
	t, err := tensor.FromBytes(d, mem, shape...)
	if err != nil {
		return err
	}
	if buf != nil {
		buf.see(t)
	}
	*v = Value{Tensor: t, buf: buf}
	return nil
}
