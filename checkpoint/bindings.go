package checkpoint

import "iter"

// bindings says which objects a file's nodes are. The zero value holds none.
type bindings struct {
	// The first match of a restore binds most nodes of the file, of which there
	// may be millions, a delivery binds a few.
	all []any // by node
	few map[int32]any
	n   int
}

// bindingsFor returns bindings with a place for each of so many nodes.
func bindingsFor(nodes int) bindings { return bindings{all: make([]any, nodes)} }

// get returns the object that a node is.
func (b *bindings) get(node int32) (obj any, ok bool) {
	if b.all != nil {
		obj = b.all[node]
		return obj, obj != nil
	}
	obj, ok = b.few[node]
	return obj, ok
}

// has reports whether a node is bound.
func (b *bindings) has(node int32) bool {
	_, ok := b.get(node)
	return ok
}

// set binds a node.
func (b *bindings) set(node int32, obj any) {
	if !b.has(node) {
		b.n++
	}
	if b.all != nil {
		b.all[node] = obj
		return
	}
	if b.few == nil {
		b.few = make(map[int32]any)
	}
	b.few[node] = obj
}

// len returns how many nodes are bound.
func (b *bindings) len() int { return b.n }

// each yields the bound nodes and their objects.
func (b *bindings) each() iter.Seq2[int32, any] {
	return func(yield func(int32, any) bool) {
		for node, obj := range b.all {
			if obj != nil && !yield(int32(node), obj) {
				return
			}
		}
		for node, obj := range b.few {
			if !yield(node, obj) {
				return
			}
		}
	}
}
