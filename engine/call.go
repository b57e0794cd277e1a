package engine

import (
	"context"
	"fmt"
	"io"
	"os"
	"unsafe"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// Call is one execution of an op. A kernel reads its inputs and attributes and
// makes every output by one of [Call.Alloc], [Call.Forward], [Call.Set] and
// [Call.SetObject]. It must not be kept after the kernel has returned.
type Call struct {
	node *Node
	ctx  context.Context
	env  *Env
	in   []Value
	out  []Value

	args        []Value // the result of Refs.TakeFrom
	last        bitset  // the inputs that no later op needs; belongs to the plan
	moved       bitset  // the inputs whose reference the op moved elsewhere
	substituted bitset  // the inputs that Substitute replaced
	settled     bool    // see Refs.Settle

	scratch []*loan // memory that the kernel borrows; unused loans are after the end

	workers Workers // a view of the environment's, for this call

	forms []any   // all packed inputs of the plan
	packs []int32 // those of this op
}

// Op returns the op's name.
func (c *Call) Op() string { return c.node.Op }

// Node returns the node that the kernel was prepared for.
func (c *Call) Node() *Node { return c.node }

// Attrs returns the op's attributes.
func (c *Call) Attrs() graph.Attrs { return c.node.Attrs }

// Context returns the caller's context. A kernel checks it by [Call.Check] or
// [Call.Step].
func (c *Call) Context() context.Context { return c.ctx }

// NumIn returns the number of inputs.
func (c *Call) NumIn() int { return len(c.in) }

// In returns input i, or nil if it is a handle.
func (c *Call) In(i int) *tensor.Tensor { return c.in[i].Tensor }

// Input returns input i: a tensor, a handle or a reference.
func (c *Call) Input(i int) Value { return c.in[i] }

// Need checks the number of inputs and that each is a tensor. The kernel may
// then use [Call.In] freely.
func (c *Call) Need(n int) error {
	if len(c.in) != n {
		return fmt.Errorf("takes %d inputs, %d were given", n, len(c.in))
	}
	return c.NeedTensors(0)
}

// NeedTensors checks that the inputs from the given one on are tensors, not
// handles.
func (c *Call) NeedTensors(from int) error {
	for i := from; i < len(c.in); i++ {
		if c.in[i].Tensor == nil {
			return c.in[i].errKind(i, "a tensor")
		}
	}
	return nil
}

// NeedVar checks that input i is a variable's handle or a reference to one.
func (c *Call) NeedVar(i int) (*trackable.Variable, error) {
	if i >= len(c.in) {
		return nil, fmt.Errorf("input %d must be a variable's handle", i)
	}
	v := c.in[i].Variable()
	if v == nil {
		return nil, c.in[i].errKind(i, "a variable's handle")
	}
	return v, nil
}

// NeedTarget returns the variable that an op of n inputs changes: it checks that the
// first one is a variable's handle, and the others are tensors.
func (c *Call) NeedTarget(n int) (*trackable.Variable, error) {
	if len(c.in) != n {
		return nil, fmt.Errorf("takes %d inputs, %d were given", n, len(c.in))
	}
	v, err := c.NeedVar(0)
	if err != nil {
		return nil, err
	}
	return v, c.NeedTensors(1)
}

// Object returns the object of the handle at input i of c, which must be a T.
func Object[T any](c *Call, i int) (T, error) {
	var zero T
	if i >= len(c.in) {
		return zero, fmt.Errorf("needs an input %d", i)
	}
	o, ok := c.in[i].Object.(T)
	if !ok {
		return zero, c.in[i].errKind(i, fmt.Sprintf("a %T", zero))
	}
	return o, nil
}

// Alloc makes output i, of an element type with fixed size or of strings. The
// contents are undefined: the kernel writes every element.
func (c *Call) Alloc(i int, d tensor.DType, shape tensor.Shape) (*tensor.Tensor, error) {
	v := c.slot(i)
	if err := c.env.alloc(v, d, shape); err != nil {
		return nil, err
	}
	return v.Tensor, nil
}

// Afford checks that outputs of so many bytes together are within MaxOutput: an
// op whose strings or rows grow with its inputs' values asks before it makes
// them. It looks at the context, as [Call.Check] does.
func (c *Call) Afford(bytes int64) error {
	c.Check()
	return c.env.affordAll(bytes)
}

// AllocZero calls Alloc and sets all elements to zero.
func (c *Call) AllocZero(i int, d tensor.DType, shape tensor.Shape) (*tensor.Tensor, error) {
	t, err := c.Alloc(i, d, shape)
	if err == nil {
		clear(t.Bytes())
	}
	return t, err
}

// AllocOver calls Alloc, or uses the memory of input in, if the op owns it and its type
// and shape are the same. An op that reads each element before it writes the
// element at the same position saves a buffer.
func (c *Call) AllocOver(i, in int, d tensor.DType, shape tensor.Shape) (*tensor.Tensor, error) {
	if t := c.in[in].Tensor; t != nil && t.DType() == d && c.owned(in) && t.Shape().Equal(shape) {
		b := c.in[in].buf
		b.retain()
		*c.slot(i) = Value{Tensor: t, buf: b}
		return t, nil
	}
	return c.Alloc(i, d, shape)
}

// Scratch returns n bytes of undefined contents for the kernel only. They come
// from the call's arena and count as used until the kernel calls free or
// returns.
//
// If the bytes exceed the limit of the call, Scratch does not return: it panics
// with a value that the engine turns into the call's error.
func (c *Call) Scratch(n int) (mem []byte, free func()) {
	if err := c.env.affordScratch(n); err != nil {
		panic(refusal{err})
	}
	mem, b := c.env.Arena.Alloc(n)
	l := c.loan()
	l.arena, l.buf = c.env.Arena, b
	return mem, l.free
}

// Reserve counts so many bytes as in use until the kernel returns: memory that the kernel
// allocates itself. If they do not fit what the call may use, it does not return, as
// [Call.Scratch].
func (c *Call) Reserve(bytes int) {
	if bytes <= 0 {
		return
	}
	if err := c.env.affordScratch(bytes); err != nil {
		panic(refusal{err})
	}
	if a := c.env.Arena; a != nil {
		l := c.loan()
		l.arena, l.buf = a, a.loose(int64(bytes))
	}
}

// loan is memory that a kernel holds. It is kept with its closure: a call has as many
// loans as there are at once, and makes no garbage of them.
type loan struct {
	arena *Arena
	buf   *Buffer // nil once it is given back
	free  func()
}

// loan returns a new loan, of nothing yet.
func (c *Call) loan() *loan {
	n := len(c.scratch)
	if n < cap(c.scratch) {
		c.scratch = c.scratch[:n+1]
		if l := c.scratch[n]; l != nil {
			return l
		}
	} else {
		c.scratch = append(c.scratch, nil)
	}
	l := new(loan)
	l.free = l.release
	c.scratch[n] = l
	return l
}

// release returns the memory, unless that has been done.
func (l *loan) release() {
	if b := l.buf; b != nil {
		l.buf = nil
		l.arena.release(b)
	}
}

// freeScratch returns the memory that the kernel did not return.
func (c *Call) freeScratch() {
	for _, l := range c.scratch {
		l.release()
	}
	c.dropScratch()
}

// dropScratch removes the loans without returning their memory.
func (c *Call) dropScratch() {
	for _, l := range c.scratch {
		l.arena, l.buf = nil, nil
	}
	c.scratch = c.scratch[:0]
}

// Scratch returns n elements as [Call.Scratch] returns bytes.
func Scratch[T any](c *Call, n int) (v []T, free func()) {
	var z T
	mem, free := c.Scratch(n * int(unsafe.Sizeof(z)))
	if n == 0 {
		return nil, free
	}
	return unsafe.Slice((*T)(unsafe.Pointer(&mem[0])), n), free
}

// Zeroed returns n elements that are zero, for the kernel only. They count as in use until
// the kernel returns, as those of [Scratch].
func Zeroed[T any](c *Call, n int) []T {
	v, _ := Scratch[T](c, n)
	clear(v)
	return v
}

// Forward makes output i the memory of input in under another shape, of as many
// elements; no element is copied.
func (c *Call) Forward(i, in int, shape tensor.Shape) error {
	v := c.in[in]
	if v.Tensor != nil && !v.Tensor.Shape().Equal(shape) {
		t, err := v.reshaped(shape)
		if err != nil {
			return err
		}
		v.Tensor = t
	}
	v.buf.retain()
	*c.slot(i) = v
	return nil
}

// reshaped returns v's elements under another shape, under which an earlier call may have
// seen them.
func (v Value) reshaped(shape tensor.Shape) (*tensor.Tensor, error) {
	counted := v.buf != nil && v.buf.mem != nil
	if counted {
		if t := v.buf.seenAs(v.Tensor.DType(), shape); t != nil && sameBytes(t.Bytes(), v.Tensor.Bytes()) {
			return t, nil
		}
	}
	t, err := v.Tensor.Reshape(shape...)
	if err == nil && counted {
		v.buf.see(t)
	}
	return t, err
}

func sameBytes(a, b []byte) bool { return len(a) == len(b) && len(a) > 0 && &a[0] == &b[0] }

// Pass makes output i the value of input in: a tensor, a handle or a reference.
func (c *Call) Pass(i, in int) {
	v := c.in[in]
	v.buf.retain()
	*c.slot(i) = v
}

// Set makes t output i, a tensor that the kernel made by other means. If t is
// in the memory of an input, the output becomes a reference to that memory.
func (c *Call) Set(i int, t *tensor.Tensor) {
	v := Value{Tensor: t}
	for j := range c.in {
		if in := &c.in[j]; in.buf != nil && in.Tensor != nil && overlaps(t.Bytes(), in.Tensor.Bytes()) {
			v.buf = in.buf
			v.buf.retain()
			break
		}
	}
	*c.slot(i) = v
}

// SetObject makes output i a handle of o. A [Variant] is owned by this output
// alone.
func (c *Call) SetObject(i int, o any) {
	*c.slot(i) = c.Refs().Wrap(o)
}

// SetRef makes output i a reference to a variable of TensorFlow 1.
func (c *Call) SetRef(i int, v *trackable.Variable) { *c.slot(i) = Value{Object: v, Ref: true} }

// Read makes output i the value of v now. Later changes of v are made on a
// copy as long as anybody holds the value.
func (c *Call) Read(i int, v *trackable.Variable) error {
	t, lease := v.Lease()
	if t == nil {
		return fmt.Errorf("the variable %q has no value", v.Name())
	}
	*c.slot(i) = Value{Tensor: t, buf: c.env.Arena.lease(lease)}
	return nil
}

func (c *Call) slot(i int) *Value {
	for len(c.out) <= i {
		c.out = append(c.out, Value{})
	}
	return &c.out[i]
}

// Parallel calls fn over pieces that cover [0, n), on all cores if the work is
// long enough. nsEach is an estimate of the nanoseconds for one index.
//
// A long loop checks the call's context between pieces. If the context ends,
// Parallel does not return: it panics with a value that the engine turns into
// the context's error, so that no kernel uses the results of half a loop. A
// call that has handles among its inputs finishes its loops, because it may be
// changing variables.
func (c *Call) Parallel(n int, nsEach float64, fn func(lo, hi int)) {
	if float64(n)*nsEach >= longLoop && c.cancellable() {
		c.parallelUntilDone(n, nsEach, fn)
		return
	}
	c.env.Workers.Run(n, nsEach, fn)
}

// Large reports whether n indexes of nsEach nanoseconds are worth helpers, or long enough
// for a look at the call's context; a kernel that would have to make a closure for
// [Call.Parallel] asks first.
func (c *Call) Large(n int, nsEach float64) bool {
	total := float64(n) * nsEach
	return c.env.Workers.worth(total) || total >= longLoop && c.cancellable()
}

// Workers returns the budget of helpers; nil means that there are none. Its loops end with
// the call's context, as those of [Call.Parallel]; it is valid until the kernel returns.
func (c *Call) Workers() *Workers {
	if !c.cancellable() {
		return c.env.Workers
	}
	w := &c.workers
	w.call, w.limit = c, 0
	if base := c.env.Workers; base != nil {
		w.limit = base.limit
	}
	return w
}

// Substitute puts another tensor in the place of input i for the rest of the
// call: the same elements under another shape, so that a kernel can go on as
// another op's.
func (c *Call) Substitute(i int, t *tensor.Tensor) {
	c.in[i].Tensor = t
	c.substituted.add(i)
}

// State returns the state that ops share within one call of the outermost
// function. The first op that asks for key creates it.
func (c *Call) State(key any, make func() any) any {
	if s, ok := c.env.state[key]; ok {
		return s
	}
	if c.env.state == nil {
		c.env.state = map[any]any{}
	}
	s := make()
	c.env.state[key] = s
	return s
}

// Instance holds the state that outlives the call.
func (c *Call) Instance() *Instance {
	if c.env.Instance == nil {
		return ProcessInstance()
	}
	return c.env.Instance
}

// Log returns the writer of ops that print.
func (c *Call) Log() io.Writer {
	if c.env.Log == nil {
		return os.Stderr
	}
	return c.env.Log
}
