package graph

import (
	_ "embed"
	"iter"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unsafe"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/cairnml/cairn/internal/pb"
)

// opList is an encoded OpList with TensorFlow's definitions, sorted by name. It
// is written by internal/gen/opdefs/dump.py.
//
//go:embed opdefs.bin
var opList string

// textOps has the definitions that TensorFlow Text adds, in the same form and
// from the same script.
//
//go:embed textdefs.bin
var textOps string

// registered finds definitions in opList and textOps. The first lookup finds
// their offsets; each is decoded when it is first asked for.
var registered opTable

type opTable struct {
	once  sync.Once
	lists [2]opIndex // opList's and textOps'
}

// opIndex finds the definitions in one list, which is sorted by name. It keeps no names:
// each lookup reads them in the list again, so that no map takes memory.
type opIndex struct {
	list string
	at   []uint32 // offset of each definition's tag
	defs []atomic.Pointer[OpDef]
}

func (r *opTable) index() {
	r.lists = [2]opIndex{newOpIndex(opList), newOpIndex(textOps)}
}

func newOpIndex(list string) opIndex {
	x := opIndex{list: list, at: make([]uint32, 0, len(list)/200)}
	for rest := list; len(rest) > 0; {
		x.at = append(x.at, uint32(len(list)-len(rest)))
		consume(&rest)
	}
	x.defs = make([]atomic.Pointer[OpDef], len(x.at))
	return x
}

// raw returns definition i, encoded, and its name.
func (x *opIndex) raw(i int) (def, name string) {
	rest := x.list[x.at[i]:]
	def = consume(&rest)
	inner := def
	return def, consume(&inner) // an OpDef begins with its name
}

// lookup returns the definition of that name, or nil.
func (x *opIndex) lookup(name string) *OpDef {
	i, ok := slices.BinarySearchFunc(x.at, name, func(at uint32, name string) int {
		rest := x.list[at:]
		def := consume(&rest)
		return strings.Compare(consume(&def), name)
	})
	if !ok {
		return nil
	}
	return x.def(i)
}

// def returns definition i. Two goroutines that ask for it first at the same time get
// the same one. A definition that can't be decoded is a fault of the embedded data, hence
// the panic.
func (x *opIndex) def(i int) *OpDef {
	if d := x.defs[i].Load(); d != nil {
		return d
	}
	raw, name := x.raw(i)
	var p pb.OpDef
	if err := p.Unmarshal(bytesOf(raw)); err != nil {
		panic("graph: the definition of " + name + ": " + err.Error())
	}
	d, err := opDefFromProto(&p)
	if err != nil {
		panic("graph: the definition of " + name + ": " + err.Error())
	}
	if !x.defs[i].CompareAndSwap(nil, d) {
		return x.defs[i].Load()
	}
	return d
}

// consume cuts the first field off the front of s and returns its bytes. It must
// be field 1, as are all parts of the lists that opIndex reads.
func consume(s *string) string {
	num, typ, n := protowire.ConsumeTag(bytesOf(*s))
	v, k := protowire.ConsumeBytes(bytesOf((*s)[max(n, 0):]))
	if n < 0 || k < 0 || num != 1 || typ != protowire.BytesType {
		panic("graph: what is embedded is no list of op definitions")
	}
	out := (*s)[n+k-len(v) : n+k]
	*s = (*s)[n+k:]
	return out
}

// bytesOf returns s, which must not be changed, without a copy.
func bytesOf(s string) []byte { return unsafe.Slice(unsafe.StringData(s), len(s)) }

// LookupOp returns the definition of an op of TensorFlow 2.21 or of TensorFlow
// Text, or nil if there is none of this name. It is safe for concurrent use. All callers
// share the definition, so it must not be changed.
func LookupOp(name string) *OpDef {
	r := &registered
	r.once.Do(r.index)
	for i := range r.lists {
		if d := r.lists[i].lookup(name); d != nil {
			return d
		}
	}
	return nil
}

// Ops returns all of TensorFlow 2.21's own op definitions, in the order of their
// names. Those of TensorFlow Text aren't among them. All callers share the definitions, so
// they must not be changed.
func Ops() iter.Seq[*OpDef] {
	return func(yield func(*OpDef) bool) {
		r := &registered
		r.once.Do(r.index)
		for core, i := &r.lists[0], 0; i < len(core.at); i++ {
			if !yield(core.def(i)) {
				return
			}
		}
	}
}
