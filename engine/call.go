package engine

import (
	"context"
	"fmt"
	"runtime/debug"
	"unsafe"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// Env is what the calls of one step share.
type Env struct {
	// Workers is the budget of helpers. The default, nil, means none: all work
	// is done by the caller.
	Workers *Workers
	// Files is the file grant. The default, nil, grants nothing.
	Files *Files
	// MaxOutput is the most bytes that one output may take, so that a wrong size
	// in somebody else's data is an error and not the end of the process. The
	// default, 0, means what the platform can address.
	MaxOutput int64
	// Arena owns the outputs' memory. The default, nil, makes fresh memory.
	Arena *Arena
}

// Call is one execution of an op. A kernel reads its inputs and attributes and
// makes every output by one of [Call.Alloc], [Call.Forward] and [Call.Set]. It
// must not be kept after the kernel has returned.
type Call struct {
	op    string
	attrs graph.Attrs
	ctx   context.Context
	env   *Env
	in    []Arg
	out   []Result
}

// Arg is one input: a tensor, or the variable behind a resource handle.
type Arg struct {
	Tensor   *tensor.Tensor
	Variable *trackable.Variable
}

// Result is one output: the tensor and who owns its memory.
type Result struct {
	Tensor *tensor.Tensor
	// Buffer is the arena's buffer under the tensor, where it has one of its
	// own.
	Buffer *Buffer
	// Owner tells whose memory it is.
	Owner Owner
	// Input is the input whose memory the output shares, where Owner is
	// OwnerInput.
	Input int
}

// Owner says who owns an output's memory.
type Owner uint8

const (
	// OwnerFree: nobody; the garbage collector frees it.
	OwnerFree Owner = iota
	// OwnerArena: the step's arena; the memory is handed out again later.
	OwnerArena
	// OwnerInput: an input, which the output shares memory with.
	OwnerInput
)

// Begin makes c the call of op, with no inputs yet. A Call may be used for many
// ops, one after the other.
func (c *Call) Begin(ctx context.Context, env *Env, op string, attrs graph.Attrs) {
	c.ctx, c.env, c.op, c.attrs = ctx, env, op, attrs
	clear(c.in[:cap(c.in)])
	clear(c.out[:cap(c.out)])
	c.in, c.out = c.in[:0], c.out[:0]
}

// Give adds an input.
func (c *Call) Give(a Arg) { c.in = append(c.in, a) }

// Run runs the kernel. A panic becomes a *[PanicError].
func (c *Call) Run(k *Kernel) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = NewPanicError(r)
		}
	}()
	return k.Run(c)
}

// Results are the outputs, valid until the next Begin.
func (c *Call) Results() []Result { return c.out }

// Op is the op's name.
func (c *Call) Op() string { return c.op }

// Attrs are the op's attributes.
func (c *Call) Attrs() graph.Attrs { return c.attrs }

// Context is the caller's; a long kernel looks at it now and then.
func (c *Call) Context() context.Context { return c.ctx }

// NumIn is the number of inputs.
func (c *Call) NumIn() int { return len(c.in) }

// In is input i; it is nil where that is a variable's handle.
func (c *Call) In(i int) *tensor.Tensor { return c.in[i].Tensor }

// Var is the variable behind input i, a resource handle; nil where the input is
// a tensor.
func (c *Call) Var(i int) *trackable.Variable { return c.in[i].Variable }

// Need checks the number of inputs and that each is a tensor. The kernel may
// then use [Call.In] freely.
func (c *Call) Need(n int) error {
	if len(c.in) != n {
		return fmt.Errorf("takes %d inputs, %d were given", n, len(c.in))
	}
	return c.NeedTensors(0)
}

// NeedTensors checks that the inputs from the given one on are tensors, not
// handles of variables.
func (c *Call) NeedTensors(from int) error {
	for i := from; i < len(c.in); i++ {
		if c.in[i].Tensor == nil {
			return fmt.Errorf("input %d is a variable's handle, where a tensor is needed", i)
		}
	}
	return nil
}

// NeedVar checks that input i is a variable's handle.
func (c *Call) NeedVar(i int) (*trackable.Variable, error) {
	if i >= len(c.in) || c.in[i].Variable == nil {
		return nil, fmt.Errorf("input %d must be a variable's handle", i)
	}
	return c.in[i].Variable, nil
}

// Alloc makes output i, of an element type with fixed size or of strings. The
// contents are undefined: the kernel writes every element.
func (c *Call) Alloc(i int, d tensor.DType, shape tensor.Shape) (*tensor.Tensor, error) {
	if !d.Fixed() {
		if n, err := shape.NumElements(); err == nil && c.env.MaxOutput > 0 && int64(n) > c.env.MaxOutput/16 {
			return nil, fmt.Errorf("an output of %d strings takes more than the %d bytes of MaxOutput", n, c.env.MaxOutput)
		}
		t, err := tensor.Zeros(d, shape...)
		if err == nil {
			*c.slot(i) = Result{Tensor: t}
		}
		return t, err
	}
	n, err := shape.NumElements()
	if err != nil {
		return nil, err
	}
	if n > maxBytes/d.Size() {
		return nil, fmt.Errorf("an output of %v%v takes more than this platform's memory", d, shape)
	}
	if most := c.env.MaxOutput; most > 0 && int64(n)*int64(d.Size()) > most {
		return nil, fmt.Errorf("an output of %v%v takes more than the %d bytes of MaxOutput", d, shape, most)
	}
	mem, buf := c.env.Arena.Alloc(n * d.Size())
	t, err := tensor.FromBytes(d, mem, shape...)
	if err != nil {
		return nil, err
	}
	r := Result{Tensor: t, Buffer: buf}
	if c.env.Arena != nil && n > 0 && (buf == nil || !buf.kept) {
		r.Owner = OwnerArena
	}
	*c.slot(i) = r
	return t, nil
}

const maxBytes = int(^uint(0)>>1) - 64

// AllocZero is Alloc with all elements zero.
func (c *Call) AllocZero(i int, d tensor.DType, shape tensor.Shape) (*tensor.Tensor, error) {
	t, err := c.Alloc(i, d, shape)
	if err == nil {
		clear(t.Bytes())
	}
	return t, err
}

// Temp is scratch memory of n bytes, undefined contents, for this call only.
func (c *Call) Temp(n int) []byte {
	mem, _ := c.env.Arena.Alloc(n)
	return mem
}

// Forward makes output i the memory of input in under another shape, of as many
// elements; no element is copied.
func (c *Call) Forward(i, in int, shape tensor.Shape) error {
	t := c.in[in].Tensor
	if !t.Shape().Equal(shape) {
		var err error
		if t, err = t.Reshape(shape...); err != nil {
			return err
		}
	}
	*c.slot(i) = Result{Tensor: t, Owner: OwnerInput, Input: in}
	return nil
}

// Set makes output i a tensor that the kernel made by other means. Where its
// memory is an input's, that is noticed.
func (c *Call) Set(i int, t *tensor.Tensor) {
	r := Result{Tensor: t}
	for j := range c.in {
		if in := c.in[j].Tensor; in != nil && overlaps(t.Bytes(), in.Bytes()) {
			r.Owner, r.Input = OwnerInput, j
			break
		}
	}
	*c.slot(i) = r
}

func overlaps(a, b []byte) bool {
	if len(a) == 0 || len(b) == 0 {
		return false
	}
	a0, b0 := uintptr(unsafe.Pointer(&a[0])), uintptr(unsafe.Pointer(&b[0]))
	return a0 < b0+uintptr(len(b)) && b0 < a0+uintptr(len(a))
}

func (c *Call) slot(i int) *Result {
	for len(c.out) <= i {
		c.out = append(c.out, Result{})
	}
	return &c.out[i]
}

// Parallel calls fn over pieces that cover [0, n), on all cores where the work
// is worth it; nsEach is roughly how many nanoseconds one index takes.
func (c *Call) Parallel(n int, nsEach float64, fn func(lo, hi int)) {
	c.env.Workers.Run(n, nsEach, fn)
}

// Large reports whether n indexes of nsEach nanoseconds are worth helpers; a
// kernel that would have to make a closure for [Call.Parallel] asks first.
func (c *Call) Large(n int, nsEach float64) bool {
	return c.env.Workers != nil && c.env.Workers.limit > 0 && float64(n)*nsEach >= 2*grain
}

// Workers is the budget of helpers; nil means that there are none.
func (c *Call) Workers() *Workers { return c.env.Workers }

// PanicError is a panic that was recovered at the boundary of a call.
type PanicError struct {
	Value any    // what was panicked with
	Stack []byte // where
}

// NewPanicError wraps a recovered value with the current stack, or the worker's
// stack where the panic came from one.
func NewPanicError(r any) *PanicError {
	if p, ok := r.(*WorkerPanic); ok {
		return &PanicError{Value: p.Value, Stack: p.Stack}
	}
	return &PanicError{Value: r, Stack: debug.Stack()}
}

// Error is the panic's value; Stack holds where it happened.
func (e *PanicError) Error() string { return fmt.Sprintf("panic: %v", e.Value) }

// Unwrap is the panic's value where that is an error.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// Substitute puts another tensor in the place of input i for the rest of the
// call: the same elements under another shape, so that a kernel can go on as
// another op's.
func (c *Call) Substitute(i int, t *tensor.Tensor) { c.in[i].Tensor = t }
