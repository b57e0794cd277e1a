package engine

import (
	"fmt"
	"runtime"
	"runtime/metrics"
	"sync"
	"unsafe"

	"github.com/KimMachineGun/automemlimit/memlimit"

	"github.com/cairnml/cairn/tensor"
)

// machineMemory returns how many bytes the process can have: those of the machine,
// of its control group, or of the limit of its address space, whichever are fewer.
var machineMemory = sync.OnceValue(func() int64 {
	most := uint64(maxBytes)
	for _, provider := range []memlimit.Provider{memlimit.FromCgroup, memlimit.FromSystem} {
		if n, err := provider(); err == nil && n > 0 {
			most = min(most, n)
		}
	}
	if n := addressSpace(); n > 0 {
		most = min(most, n)
	}
	return int64(most)
})

// MachineMemory returns how many bytes of memory the process can have: those of the machine,
// of its control group, or of the limit of its address space, whichever are fewer.
func MachineMemory() int64 { return machineMemory() }

const (
	maxBytes = int(^uint(0)>>1) - 64 // the largest size of an allocation
	// unasked is the number of bytes that a call may use without a look at the process's memory.
	unasked = 64 << 20
)

// inUse returns how many bytes the process has of the operating system and can't use again:
// live objects, garbage that is not collected yet, stacks and the runtime's own memory.
func inUse() int64 {
	sample := []metrics.Sample{
		{Name: "/memory/classes/total:bytes"},
		{Name: "/memory/classes/heap/released:bytes"},
		{Name: "/memory/classes/heap/free:bytes"},
	}
	metrics.Read(sample)
	return int64(sample[0].Value.Uint64() - sample[1].Value.Uint64() - sample[2].Value.Uint64())
}

// leave is the part of the process's memory that calls leave to the rest of the process: one in
// so many bytes.
const leave = 8

// hasRoom reports whether the process can have so many bytes more, and leaves an eighth of its
// memory to others. Garbage is collected if that makes the difference.
func hasRoom(bytes int64) bool {
	most := machineMemory() - machineMemory()/leave
	if bytes > most {
		return false
	}
	if bytes <= most-inUse() {
		return true
	}
	runtime.GC()
	return bytes <= most-inUse()
}

// within reports whether a call without a limit can have so many bytes besides those it has. It
// looks at the process's memory each time that the call has taken another 64 MiB.
func (a *Arena) within(bytes int64) bool {
	if a == nil {
		return bytes <= unasked || hasRoom(bytes)
	}
	if a.inUse+bytes <= max(a.granted, unasked) {
		return true
	}
	if !hasRoom(bytes) {
		return false
	}
	a.granted = a.inUse + bytes + unasked
	return true
}

// errNoRoom returns the error of a call without a separate limit.
func errNoRoom(what string, bytes int64) error {
	return fmt.Errorf("%s %d bytes, more than is left of the %d that this process can have", what, bytes, machineMemory())
}

// affordAll checks that outputs of so many bytes together are within MaxOutput and the arena's
// limit. If there is neither, they must fit the process's memory.
func (e *Env) affordAll(bytes int64) error {
	a := e.Arena
	switch {
	case a != nil && a.Limit > 0 && bytes > a.Limit-a.inUse:
		return fmt.Errorf("outputs of %d bytes do not fit: %d of the %d bytes that the call may use are in use", bytes, a.inUse, a.Limit)
	case e.MaxOutput > 0:
		if bytes > e.MaxOutput {
			return fmt.Errorf("the outputs take more than the %d bytes of MaxOutput", e.MaxOutput)
		}
	case a != nil && a.Limit > 0:
	case bytes > unasked && !a.withinText(bytes):
		return errNoRoom("the outputs take", bytes)
	}
	return nil
}

// withinText does the work of within for growing outputs that are not in the arena. bytes is
// their present size.
func (a *Arena) withinText(bytes int64) bool {
	if a == nil {
		return hasRoom(bytes)
	}
	if bytes < a.text {
		a.grantedText = 0 // those of another kernel
	}
	a.text = bytes
	if bytes <= a.grantedText {
		return true
	}
	if !hasRoom(bytes - a.grantedText + unasked) {
		return false
	}
	a.grantedText = bytes + unasked
	return true
}

// afford checks that an output is within MaxOutput, and that it fits the memory that the call
// may use.
func (e *Env) afford(d tensor.DType, shape tensor.Shape, bytes int64) error {
	if e.MaxOutput > 0 && bytes > e.MaxOutput {
		return fmt.Errorf("an output of %v%v takes more than the %d bytes of MaxOutput", d, shape.String(), e.MaxOutput)
	}
	a := e.Arena
	if a != nil && a.Limit > 0 {
		if bytes > a.Limit-a.inUse {
			return fmt.Errorf("an output of %v%v does not fit: %d of the %d bytes that the call may use are in use", d, shape.String(), a.inUse, a.Limit)
		}
		return nil
	}
	if !a.within(bytes) {
		return errNoRoom(fmt.Sprintf("an output of %v%v takes", d, shape.String()), bytes)
	}
	return nil
}

// countLoose makes the outputs that the arena did not make count as in use: strings, tensors
// that kernels make themselves, and objects that report their size by a method Held. It returns an error if they exceed the memory that the
// call may use. Without a limit it does nothing. Ops without inputs are left out, because their
// outputs are constants of the graph.
func (c *Call) countLoose() error {
	a := c.env.Arena
	if a == nil || a.Limit <= 0 || len(c.in) == 0 {
		return nil
	}
	for i := range c.out {
		v := &c.out[i]
		if x, ok := v.Object.(interface{ Held() int64 }); ok && v.buf != nil {
			n := x.Held()
			a.inUse += n - v.buf.loose
			v.buf.loose = n
			if a.inUse > a.Limit {
				return fmt.Errorf("an output of %d bytes does not fit: %d of the %d bytes that the call may use are in use", n, a.inUse-n, a.Limit)
			}
			continue
		}
		if v.Tensor == nil || v.buf != nil || c.passes(v.Tensor) {
			continue
		}
		n := int64(len(v.Tensor.Bytes()))
		for _, s := range v.Tensor.Strings() {
			n += int64(len(s)) + int64(unsafe.Sizeof(s))
		}
		if n > a.Limit-a.inUse {
			return fmt.Errorf("an output of %v%v takes %d bytes and does not fit: %d of the %d bytes that the call may use are in use", v.Tensor.DType(), v.Tensor.Shape(), n, a.inUse, a.Limit)
		}
		v.buf = a.loose(n)
	}
	return nil
}

// passes reports whether a tensor has the memory of an input.
func (c *Call) passes(t *tensor.Tensor) bool {
	for i := range c.in {
		in := c.in[i].Tensor
		if in == nil {
			continue
		}
		if in == t || overlaps(in.Bytes(), t.Bytes()) {
			return true
		}
		if a, b := in.Strings(), t.Strings(); len(a) > 0 && len(b) > 0 && unsafe.SliceData(a) == unsafe.SliceData(b) {
			return true
		}
	}
	return false
}

// affordScratch checks that scratch memory of so many bytes fits the memory that the call may
// use. MaxOutput does not bound it: products of small outputs may need more.
func (e *Env) affordScratch(bytes int) error {
	a := e.Arena
	if a != nil && a.Limit > 0 {
		if bytes < 0 || int64(bytes) > a.Limit-a.inUse {
			return fmt.Errorf("scratch memory of %d bytes does not fit: %d of the %d bytes that the call may use are in use", bytes, a.inUse, a.Limit)
		}
		return nil
	}
	if bytes < 0 || !a.within(int64(bytes)) {
		return errNoRoom("scratch memory takes", int64(bytes))
	}
	return nil
}
