package engine

import (
	"fmt"

	"github.com/cairnml/cairn/tensor"
)

// Refs are the counted references of a call. A kernel needs them if it stores
// values, such as the elements of a list, or calls functions; all other kernels use
// the methods of [Call] alone.
//
// The memory of a value, and an object such as a list, has a count of references. A
// value is owned if its holder has the only reference, and shared otherwise. The
// holder of an owned value may change it in place. Each reference is released once
// by [Refs.Release], or moves once: to an output by [Refs.Output], or to a
// [Function] as an argument.
type Refs Call

// Refs returns the references of the call.
func (c *Call) Refs() *Refs { return (*Refs)(c) }

// Owned reports whether the op owns input i: it may change its memory or its object
// and return them as an output.
func (r *Refs) Owned(i int) bool { return (*Call)(r).owned(i) }

// owned implements [Refs.Owned].
func (c *Call) owned(i int) bool {
	b := c.in[i].buf
	return b != nil && c.movable(i) && !b.shared()
}

// movable reports whether the op may move its reference to input i elsewhere.
func (c *Call) movable(i int) bool {
	return c.last.has(i) && !c.moved.has(i) && !c.substituted.has(i)
}

// Share returns another reference to input i.
func (r *Refs) Share(i int) Value {
	v := r.in[i]
	v.buf.retain()
	return v
}

// Take moves the op's reference to input i to the caller. If a later op needs the
// input, it returns another reference instead. A function that is called with the
// value owns it if no one else holds it.
func (r *Refs) Take(i int) Value {
	c := (*Call)(r)
	v := c.in[i]
	if c.movable(i) {
		c.moved.add(i)
		return v
	}
	v.buf.retain()
	return v
}

// TakeFrom returns the inputs from the given one on, each by [Refs.Take]. The slice
// may receive the results of a function, and is valid until the kernel returns.
func (r *Refs) TakeFrom(from int) []Value {
	r.args = r.args[:0]
	for i := from; i < len(r.in); i++ {
		r.args = append(r.args, r.Take(i))
	}
	return r.args
}

// Retain returns another reference to v.
func (r *Refs) Retain(v Value) Value {
	v.buf.retain()
	return v
}

// RetainTo sets dst to another reference to src. It copies word by word, because a
// wide load from a value that was just stored in words stalls the processor.
func (r *Refs) RetainTo(dst, src *Value) {
	src.buf.retain()
	dst.set(src)
}

// Release releases a reference.
func (r *Refs) Release(v Value) { r.env.Arena.release(v.buf) }

// Output moves a reference to output i.
func (r *Refs) Output(i int, v Value) { *(*Call)(r).slot(i) = v }

// AddInput adds an input for the rest of the call, so that a kernel can continue as
// that of another op with more inputs.
func (r *Refs) AddInput(v Value) { r.in = append(r.in, v) }

// Outputs returns the outputs that exist so far, without new references.
func (r *Refs) Outputs() []Value { return r.out }

// New returns an owned value of undefined contents that is not an output yet.
func (r *Refs) New(d tensor.DType, shape tensor.Shape) (v Value, err error) {
	err = r.env.alloc(&v, d, shape)
	return v, err
}

// Wrap returns a handle of o that is not an output yet. A [Variant] is owned.
func (r *Refs) Wrap(o any) Value {
	v := Value{Object: o}
	if x, ok := o.(Variant); ok {
		v.buf = r.env.Arena.object(x)
	}
	return v
}

// View returns n elements of input i, from element at on, as a value in the same
// memory, with another reference to it.
func (r *Refs) View(i, at, n int, shape tensor.Shape) (Value, error) {
	v := r.in[i]
	var err error
	if d := v.Tensor.DType(); d.Fixed() {
		v.Tensor, err = tensor.FromBytes(d, v.Tensor.Bytes()[at*d.Size():(at+n)*d.Size()], shape...)
	} else {
		v.Tensor, err = tensor.FromStrings(d, v.Tensor.Strings()[at:at+n], shape...)
	}
	if err == nil {
		v.buf.retain()
	}
	return v, err
}

// Rows sets dst to the parts of input i along its first dimension, each as by
// [Refs.View]. The length of dst is the size of that dimension.
func (r *Refs) Rows(i int, dst []Value) error {
	in := r.in[i]
	s := in.Tensor.Shape()
	if len(s) == 0 || len(dst) != s[0] {
		return fmt.Errorf("BUG: %d places for the rows of shape %v", len(dst), s)
	}
	if b := in.buf; b.sees(in.Tensor) {
		for k, t := range b.rows {
			dst[k] = Value{Tensor: t, buf: b}
		}
		b.refs += int32(len(b.rows))
		return nil
	}
	size := 1
	for _, n := range s[1:] {
		size *= n
	}
	for k := range dst {
		v, err := r.View(i, k*size, size, s[1:])
		if err != nil {
			return err
		}
		dst[k] = v
	}
	if b := in.buf; b != nil && b.mem != nil && len(in.Tensor.Bytes()) > 0 && len(dst) <= maxRows {
		b.rows = b.rows[:0]
		for _, v := range dst {
			b.rows = append(b.rows, v.Tensor)
		}
	}
	return nil
}

// Values returns n zero values, for the elements of a list. [Arena.ReleaseAll] and
// [Refs.ReleaseAll] return their memory. If that memory exceeds the limit of the
// call, Values does not return; see [Call.Scratch].
func (r *Refs) Values(n int) []Value {
	if n > maxValues {
		(*Call)(r).Fits(n, ValueSize)
	}
	return r.env.Arena.takeValues(n)
}

// ReleaseAll releases the references of vs and the slice itself; see
// [Arena.ReleaseAll].
func (r *Refs) ReleaseAll(vs []Value) { r.env.Arena.ReleaseAll(vs) }

// Settle says that the kernel changes none of the objects among its inputs until it returns.
// So the call's loops end with its context, as those of a call without such inputs.
func (r *Refs) Settle() { r.settled = true }
