package graph

import (
	_ "embed"
	"iter"
	"sync"
	"sync/atomic"
	"unsafe"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/cairnml/cairn/internal/pb"
)

// opList is an encoded OpList with TensorFlow's definitions, sorted by name. It
// is written by internal/gen/opdefs.
//
//go:embed opdefs.bin
var opList string

// textOps has the definitions that TensorFlow Text adds.
//
//go:embed textdefs.bin
var textOps string

// registered finds definitions in opList and textOps. Where each begins is found
// at the first look-up; each is decoded when it is asked for.
var registered opTable

type opTable struct {
	once  sync.Once
	names []string
	core  int            // the first so many are opList's
	place map[string]int // in the other lists
	raw   []string
	defs  []atomic.Pointer[OpDef]
}

func (r *opTable) index() {
	r.add(opList)
	r.core = len(r.names)
	r.add(textOps)
	r.defs = make([]atomic.Pointer[OpDef], len(r.names))
	r.place = make(map[string]int, len(r.names))
	for i, name := range r.names {
		r.place[name] = i
	}
}

// add appends the definitions in a list to names and raw.
func (r *opTable) add(list string) {
	for rest := list; len(rest) > 0; {
		def := consume(&rest)
		inner := def
		name := consume(&inner) // an OpDef begins with its name
		r.names = append(r.names, name)
		r.raw = append(r.raw, def)
	}
}

// def returns the definition at a place. Two goroutines that ask for it first
// at the same time get the same one.
func (r *opTable) def(i int) *OpDef {
	if d := r.defs[i].Load(); d != nil {
		return d
	}
	var p pb.OpDef
	err := p.Unmarshal(bytesOf(r.raw[i]))
	if err != nil {
		panic("graph: the definition of " + r.names[i] + ": " + err.Error())
	}
	d, err := OpDefFromProto(&p)
	if err != nil {
		panic("graph: the definition of " + r.names[i] + ": " + err.Error())
	}
	if !r.defs[i].CompareAndSwap(nil, d) {
		return r.defs[i].Load()
	}
	return d
}

// consume cuts a field 1 of bytes, which all that index reads is, off the
// front of s.
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

// LookupOp returns the definition of one of TensorFlow 2.21's ops or of those that
// TensorFlow Text adds, or nil where they have none of this name. It may be called
// by many goroutines.
func LookupOp(name string) *OpDef {
	r := &registered
	r.once.Do(r.index)
	i, ok := r.place[name]
	if !ok {
		return nil
	}
	return r.def(i)
}

// Ops returns all of TensorFlow 2.21's own op definitions, by name.
func Ops() iter.Seq[*OpDef] {
	return func(yield func(*OpDef) bool) {
		r := &registered
		r.once.Do(r.index)
		for i := range r.core {
			if !yield(r.def(i)) {
				return
			}
		}
	}
}
