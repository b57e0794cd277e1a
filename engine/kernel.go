package engine

import (
	"fmt"
	"iter"
	"math"
	"sort"
	"sync/atomic"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/internal/nearest"
)

// Kernel runs an op. It has either Run or Prepare. The tables in kernel/FAMILY contain
// those of TensorFlow's ops.
type Kernel struct {
	// Op is TensorFlow's op name, "MatMul". A user's own op has a name of its
	// own; TensorFlow's convention is CamelCase.
	Op string

	// Def is the op's definition. Default: TensorFlow's of this name. An op
	// that TensorFlow does not have needs it to be traced or saved.
	Def *graph.OpDef

	// Run computes the outputs of one call. It may run on many goroutines at
	// once, each with a separate call. It must not keep the call or its
	// tensors, or write to its inputs.
	Run func(*Call) error

	// Prepare does the work that needs no call, once for each node: it reads
	// attributes and constant inputs, selects the implementation for the
	// element types, and compiles the functions that the op calls. It returns
	// a function with the duties of Run. The data of that function must not
	// change. Default: nil, Run serves every call.
	Prepare func(*Node) (func(*Call) error, error)

	// Fuses lists the ops that the kernel can run one after the other. Only the
	// kernels of passes.ElementwiseOp and passes.UpdateOp have it. Default: none.
	Fuses []string

	// Types are the element types that the kernel accepts. A call with another
	// type is an *[UnsupportedTypeError] when the op is prepared. Default: all
	// types that the definition allows.
	Types Types

	// Precision is how close the outputs are to TensorFlow's. The default is
	// Exact.
	Precision Precision
}

// Definition returns the op's definition, or nil if there is none.
func (k *Kernel) Definition() *graph.OpDef {
	if k.Def != nil {
		return k.Def
	}
	return graph.LookupOp(k.Op)
}

// Precision is a class of closeness to TensorFlow's results; tests take their
// tolerance from it and from nowhere else.
type Precision uint8

const (
	// Exact: the same bits.
	Exact Precision = iota
	// Rounded: each element within a few units in the last place of its
	// magnitude; transcendental functions.
	Rounded
	// Accumulated: sums, in which digits may cancel and whose order may differ.
	// The error is relative to the size of the summands.
	Accumulated
)

// String returns the class's name in lower case.
func (p Precision) String() string {
	switch p {
	case Exact:
		return "exact"
	case Rounded:
		return "rounded"
	case Accumulated:
		return "accumulated"
	}
	return fmt.Sprintf("precision(%d)", uint8(p))
}

// Tolerance returns how far an element may be from TensorFlow's want. epsilon
// is the distance of 1 to the next larger number of the element type. scale is
// the largest magnitude among inputs and outputs, times the square root of the
// number of elements that one output depends on.
func (p Precision) Tolerance(want, scale, epsilon float64) float64 {
	switch p {
	case Rounded:
		// TensorFlow's vectorised functions are off by a few units themselves.
		return 8 * epsilon * math.Abs(want)
	case Accumulated:
		return 8 * epsilon * scale
	}
	return 0
}

// KernelSet maps op names to kernels. It is a value that never changes:
// [KernelSet.With] makes another one. It is safe for use from many goroutines.
type KernelSet struct {
	byOp map[string]*entry
}

// entry is a kernel of one set, and the cache of its eager calls.
type entry struct {
	Kernel
	def   atomic.Pointer[graph.OpDef] // the definition, once it was asked for
	eager eagerCache
}

// NewKernelSet joins tables of kernels. The same op twice, an empty name, and
// a kernel with both or none of Run and Prepare are errors.
func NewKernelSet(tables ...[]Kernel) (*KernelSet, error) {
	return (&KernelSet{}).With(joined(tables)...)
}

func joined(tables [][]Kernel) []Kernel {
	var all []Kernel
	for _, t := range tables {
		all = append(all, t...)
	}
	return all
}

// With returns the set with more kernels. An op that the set has already is an
// error; [KernelSet.Replace] takes another kernel for it.
func (ks *KernelSet) With(kernels ...Kernel) (*KernelSet, error) {
	return ks.add(false, kernels)
}

// Replace returns the set in which these kernels take the place of those of the
// same op; ops that are new are added.
func (ks *KernelSet) Replace(kernels ...Kernel) (*KernelSet, error) {
	return ks.add(true, kernels)
}

func (ks *KernelSet) add(replace bool, kernels []Kernel) (*KernelSet, error) {
	next := &KernelSet{byOp: make(map[string]*entry, ks.Len()+len(kernels))}
	if ks != nil {
		for op, k := range ks.byOp { // with caches of its own: remembered calls contain plans for ks
			next.byOp[op] = &entry{Kernel: k.Kernel}
		}
	}
	fresh := make(map[string]bool, len(kernels))
	for _, k := range kernels {
		switch {
		case k.Op == "" || (k.Run == nil) == (k.Prepare == nil):
			return nil, fmt.Errorf("engine: a kernel needs an op name and either Run or Prepare (op %q)", k.Op)
		case fresh[k.Op], !replace && next.byOp[k.Op] != nil:
			return nil, fmt.Errorf("engine: op %q has a kernel already; KernelSet.Replace takes another one for it", k.Op)
		}
		fresh[k.Op] = true
		next.byOp[k.Op] = &entry{Kernel: k}
	}
	return next, nil
}

// Lookup returns the kernel of an op, or nil.
func (ks *KernelSet) Lookup(op string) *Kernel {
	if e := ks.entry(op); e != nil {
		return &e.Kernel
	}
	return nil
}

// Definition returns the definition of an op, or nil if there is none.
func (ks *KernelSet) Definition(op string) *graph.OpDef {
	e := ks.entry(op)
	if e == nil {
		return graph.LookupOp(op)
	}
	if d := e.def.Load(); d != nil {
		return d
	}
	d := e.Kernel.Definition()
	e.def.Store(d)
	return d
}

func (ks *KernelSet) entry(op string) *entry {
	if ks == nil {
		return nil
	}
	return ks.byOp[op]
}

// Len returns the number of ops.
func (ks *KernelSet) Len() int {
	if ks == nil {
		return 0
	}
	return len(ks.byOp)
}

// Ops lists the op names in alphabetical order.
func (ks *KernelSet) Ops() []string {
	names := make([]string, 0, ks.Len())
	if ks == nil {
		return names
	}
	for op := range ks.byOp {
		names = append(names, op)
	}
	sort.Strings(names)
	return names
}

// All yields the kernels in the order of their op names.
func (ks *KernelSet) All() iter.Seq[*Kernel] {
	return func(yield func(*Kernel) bool) {
		for _, op := range ks.Ops() {
			if !yield(&ks.byOp[op].Kernel) {
				return
			}
		}
	}
}

// Missing returns the error for an op that the set has no kernel for; it lists
// the nearest names.
func (ks *KernelSet) Missing(op string) error {
	return &UnsupportedOpError{Op: op, Nearest: nearest.Names(op, ks.Ops(), 3)}
}

// UnsupportedOpError reports that no kernel executes an op.
type UnsupportedOpError struct {
	Op      string   // the op's name
	Nearest []string // known ops of similar names, best first
}

// Error returns the op, similar names, and the way to add a kernel.
func (e *UnsupportedOpError) Error() string {
	s := fmt.Sprintf("no kernel for op %q", e.Op)
	if len(e.Nearest) > 0 {
		s += fmt.Sprintf("; similar names: %v", e.Nearest)
	}
	return s + "; engine.KernelSet.With adds one"
}
