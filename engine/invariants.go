package engine

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
	"sync"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/trackable"
)

// Invariants stores values that plans compute from constants and variables
// alone, and the packed forms of such values. Each is computed once for each
// value of the variables, and shared by all instances with the same weights,
// all signatures and all specializations. An entry is removed when the values
// that it depends on are gone. The zero Invariants is empty and ready; it is
// safe for use by many goroutines.
type Invariants struct {
	// MaxBytes is the limit of its memory. Values beyond the limit are computed
	// in each call. Default: 1 GiB. If the number is negative, nothing is stored.
	MaxBytes int64

	// ConstantsOnly excludes values that depend on variables, for variables
	// that are written between nearly all calls.
	ConstantsOnly bool

	mu      sync.Mutex // held while something is computed, so that it is once
	bytes   int64
	entries map[expression]sameExpression
}

const (
	maxInvariantBytes    = 1 << 30 // the default of Invariants.MaxBytes
	maxInvariantVersions = 4       // values that are kept of an expression, for each place where a plan has it
)

// expression is a hash of the ops that compute a value from constants and
// variables.
type expression [sha256.Size]byte

// sameExpression is the list of the stored values of one expression, over any roots. All
// layers of a model may have the same expression.
type sameExpression struct {
	list   []*invariant
	places int // the largest number of places that one plan has
}

// invariant is a value that is kept, or a packed form of one.
type invariant struct {
	roots []trackable.WeakVersion // of the constants and variables, in the order of formula.roots
	value Value
	form  any
	bytes int64
}

// Bytes returns how much memory is in use.
func (x *Invariants) Bytes() int64 {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.sweep()
	return x.bytes
}

// find returns the entry of an expression over roots of these versions. The
// caller holds the lock.
func (x *Invariants) find(e expression, roots []trackable.WeakVersion) *invariant {
	for _, i := range x.entries[e].list {
		if slices.Equal(i.roots, roots) {
			return i
		}
	}
	return nil
}

// keep adds the value of an expression, which the plan has in this number of
// places, and reports whether there was room for it. The caller holds the lock.
func (x *Invariants) keep(e expression, places int, i *invariant) bool {
	places = max(places, x.entries[e].places)
	list := slices.DeleteFunc(x.entries[e].list, func(old *invariant) bool {
		stale := old.stale() || i.replaces(old)
		if stale {
			x.bytes -= old.bytes
		}
		return stale
	})
	if len(list) >= maxInvariantVersions*places {
		x.bytes -= list[0].bytes
		list = slices.Delete(list, 0, 1)
	}
	most := x.MaxBytes
	if most == 0 {
		most = maxInvariantBytes
	}
	if x.bytes+i.bytes > most {
		x.sweep()
	}
	room := x.bytes+i.bytes <= most
	if room {
		list = append(list, i)
		x.bytes += i.bytes
	}
	if x.entries == nil {
		x.entries = map[expression]sameExpression{}
	}
	x.entries[e] = sameExpression{list, places}
	return room
}

// sweep removes the entries of values that are gone. The caller holds the lock.
func (x *Invariants) sweep() {
	for e, like := range x.entries {
		like.list = slices.DeleteFunc(like.list, func(i *invariant) bool {
			stale := i.stale()
			if stale {
				x.bytes -= i.bytes
			}
			return stale
		})
		if x.entries[e] = like; len(like.list) == 0 {
			delete(x.entries, e)
		}
	}
}

func (i *invariant) stale() bool {
	return slices.ContainsFunc(i.roots, trackable.WeakVersion.Gone)
}

// replaces reports whether a root of i is the same variable as in old, after a write.
func (i *invariant) replaces(old *invariant) bool {
	for k := range i.roots {
		if i.roots[k].Replaces(old.roots[k]) {
			return true
		}
	}
	return false
}

// formula is an expression and its roots, in the order in which it names them.
type formula struct {
	sum    expression
	roots  []int // places among a plan's roots
	places int   // how many places the plan has of the expression, over any roots; set by countPlaces
}

// smallConstant is the size up to which a constant is a part of the expression; a
// larger one is a root.
const smallConstant = 1 << 10

// rootFormula returns the formula of a root itself.
func rootFormula(root int) formula {
	return formula{sum: sha256.Sum256([]byte("root")), roots: []int{root}}
}

// formulaOf returns the formula of the output of n with the index out; of
// returns the formulas of n's inputs.
func formulaOf(n *graph.Node, out int, of func(graph.Output) formula) formula {
	var f formula
	h := sha256.New()
	num := func(v int) { h.Write(binary.LittleEndian.AppendUint64(nil, uint64(v))) }
	text := func(s string) {
		num(len(s))
		h.Write([]byte(s))
	}
	text(n.Op)
	num(out)
	for _, a := range n.Attrs {
		if a.Name == "_output_shapes" || a.Name == "_class" {
			continue // no kernel looks at these
		}
		text(a.Name)
		switch a.Kind {
		case graph.AttrTensor:
			t := n.Attrs.Tensor(a.Name)
			text(fmt.Sprint(t.DType(), t.Shape()))
			if t.DType().Fixed() {
				text(string(t.Bytes()))
			} else {
				text(fmt.Sprintf("%q", t.Strings()))
			}
		default:
			text(fmt.Sprintf("%v %q %v", a.Kind, a.Value(), a.Value()))
		}
	}
	num(len(n.In))
	for _, in := range n.In {
		g := of(in)
		h.Write(g.sum[:])
		num(len(g.roots))
		for _, r := range g.roots {
			at := slices.Index(f.roots, r)
			if at < 0 {
				at = len(f.roots)
				f.roots = append(f.roots, r)
			}
			num(at)
		}
	}
	h.Sum(f.sum[:0])
	return f
}

// packed returns the formula of a packed form of f's value.
func (f formula) packed(key string) formula {
	return formula{sum: sha256.Sum256(slices.Concat(f.sum[:], []byte(key))), roots: f.roots}
}
