package kernel

import (
	"iter"
	"sync"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/kernel/array"
	"github.com/cairnml/cairn/kernel/composite"
	"github.com/cairnml/cairn/kernel/control"
	"github.com/cairnml/cairn/kernel/conv"
	"github.com/cairnml/cairn/kernel/data"
	"github.com/cairnml/cairn/kernel/image"
	"github.com/cairnml/cairn/kernel/io"
	"github.com/cairnml/cairn/kernel/linalg"
	"github.com/cairnml/cairn/kernel/list"
	"github.com/cairnml/cairn/kernel/lookup"
	"github.com/cairnml/cairn/kernel/math"
	"github.com/cairnml/cairn/kernel/matmul"
	"github.com/cairnml/cairn/kernel/nn"
	"github.com/cairnml/cairn/kernel/parse"
	"github.com/cairnml/cairn/kernel/quant"
	"github.com/cairnml/cairn/kernel/ragged"
	"github.com/cairnml/cairn/kernel/random"
	"github.com/cairnml/cairn/kernel/reduce"
	"github.com/cairnml/cairn/kernel/rnn"
	"github.com/cairnml/cairn/kernel/signal"
	"github.com/cairnml/cairn/kernel/sparse"
	"github.com/cairnml/cairn/kernel/state"
	"github.com/cairnml/cairn/kernel/text"
	"github.com/cairnml/cairn/kernel/xla"
)

// All returns the set of all built-in kernels. The set never changes:
// [engine.KernelSet.With] returns a larger one.
func All() *engine.KernelSet { return all() }

var all = sync.OnceValue(func() *engine.KernelSet {
	set, err := engine.NewKernelSet(Tables()...)
	if err != nil {
		panic("BUG: " + err.Error())
	}
	return set
})

// Tables returns the families' tables, in the order of [Families]. A program
// passes some of them to [engine.NewKernelSet] for a set of fewer kernels. It
// links the kernels of all families nevertheless.
func Tables() [][]engine.Kernel {
	var out [][]engine.Kernel
	for _, table := range Families() {
		out = append(out, table)
	}
	return out
}

// Families yields the tables by their families' names, in a fixed order. Their
// kernels check the ranks of inputs, unlike those of a family's own table. The
// generator of ops/raw makes a file for each name.
func Families() iter.Seq2[string, []engine.Kernel] {
	return func(yield func(string, []engine.Kernel) bool) {
		for _, f := range []struct {
			name    string
			kernels []engine.Kernel
		}{
			{"math", math.Kernels()}, {"matmul", matmul.Kernels()}, {"reduce", reduce.Kernels()}, {"array", array.Kernels()},
			{"nn", nn.Kernels()}, {"random", random.Kernels()}, {"state", state.Kernels()}, {"io", io.Kernels()},
			{"control", control.Kernels()}, {"list", list.Kernels()},
			{"conv", conv.Kernels()}, {"image", image.Kernels()},
			{"text", text.Kernels()},
			{"lookup", lookup.Kernels()},
			{"parse", parse.Kernels()},
			{"sparse", sparse.Kernels()},
			{"ragged", ragged.Kernels()},
			{"signal", signal.Kernels()},
			{"linalg", linalg.Kernels()},
			{"rnn", rnn.Kernels()},
			{"quant", quant.Kernels()},
			{"xla", xla.Kernels()},
			{"data", data.Kernels()},
			{"composite", composite.Kernels()},
		} {
			if !yield(f.name, withRanks(f.kernels)) {
				return
			}
		}
	}
}
