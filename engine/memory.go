package engine

import (
	"fmt"
	"sync"

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
	maxBytes = int(^uint(0)>>1) - 64
	// unasked is how many bytes need no question for the machine's memory.
	unasked = 64 << 20
)

// affordAll checks that outputs of so many bytes together are within MaxOutput.
func (e *Env) affordAll(bytes int64) error {
	switch {
	case e.MaxOutput > 0:
		if bytes > e.MaxOutput {
			return fmt.Errorf("the outputs take more than the %d bytes of MaxOutput", e.MaxOutput)
		}
	case bytes > unasked && bytes > machineMemory():
		return fmt.Errorf("the outputs take %d bytes, more than the %d of this machine's memory", bytes, machineMemory())
	}
	return nil
}

// afford checks that an output is within MaxOutput, and fits what the call may
// use besides what is in use.
func (e *Env) afford(d tensor.DType, shape tensor.Shape, bytes int64) error {
	switch {
	case e.MaxOutput > 0:
		if bytes > e.MaxOutput {
			return fmt.Errorf("an output of %v%v takes more than the %d bytes of MaxOutput", d, shape.String(), e.MaxOutput)
		}
	case bytes > unasked && bytes > machineMemory():
		return fmt.Errorf("an output of %v%v takes %d bytes, more than the %d of this machine's memory", d, shape.String(), bytes, machineMemory())
	}
	a := e.Arena
	if a == nil {
		return nil
	}
	most := a.Limit
	if most <= 0 {
		if bytes <= unasked {
			return nil
		}
		most = machineMemory()
	}
	if a.inUse+bytes > most {
		return fmt.Errorf("an output of %v%v does not fit: %d of the %d bytes that the call may use are in use", d, shape.String(), a.inUse, most)
	}
	return nil
}

// affordScratch checks that scratch memory of so many bytes fits what the call may use
// besides what is in use. MaxOutput does not bound it: products of small outputs may need
// more.
func (e *Env) affordScratch(bytes int) error {
	if bytes >= 0 && bytes <= unasked && (e.Arena == nil || e.Arena.Limit <= 0) {
		return nil
	}
	most, used := machineMemory(), int64(0)
	if a := e.Arena; a != nil {
		used = a.inUse
		if a.Limit > 0 {
			most = a.Limit
		}
	}
	if bytes < 0 || int64(bytes) > most-used {
		return fmt.Errorf("scratch memory of %d bytes does not fit: %d of the %d bytes that the call may use are in use", bytes, used, most)
	}
	return nil
}
