package kernel

import (
	"sync"

	"github.com/cairnml/cairn/engine"
)

// All is the set of all built-in kernels. It is one value that never changes:
// [engine.KernelSet.With] makes a larger one of it.
func All() *engine.KernelSet { return all() }

var all = sync.OnceValue(func() *engine.KernelSet {
	set, err := engine.NewKernelSet(Tables()...)
	if err != nil {
		panic("BUG: " + err.Error())
	}
	return set
})

// Tables are the families' tables.
func Tables() [][]engine.Kernel {
	return [][]engine.Kernel{}
}
