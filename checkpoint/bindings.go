package checkpoint

import (
	"iter"
	"slices"

	"github.com/cairnml/cairn/trackable"
)

// bindings maps a file's nodes to objects. The zero value is empty.
type bindings struct {
	rows []boundRow // no node is in two of them
	// The first match of a restore binds most nodes of the file, of which there may be
	// millions. Deliveries, and nodes outside long rows, add few.
	all   []any // by node
	few   map[int32]any
	nodes int // the number of the file's nodes; if few has a share of them, all takes over; 0: few stays
	n     int // how many nodes are bound
}

// boundRow is a row of nodes in increasing order, and the variables bound to them.
type boundRow struct {
	nodes []int32
	vars  []*trackable.Variable
}

// find returns the variable bound to a node, or nil if the node isn't in the
// row.
func (r *boundRow) find(node int32) *trackable.Variable {
	if node < r.nodes[0] || node > r.nodes[len(r.nodes)-1] {
		return nil
	}
	// Mostly the numbers follow each other.
	if at := int(node - r.nodes[0]); at < len(r.nodes) && r.nodes[at] == node {
		return r.vars[at]
	}
	if at, ok := slices.BinarySearch(r.nodes, node); ok {
		return r.vars[at]
	}
	return nil
}

const (
	// Up to allAtOnce nodes, each has a place from the beginning. If there are more, each gets one
	// once a share of 1/fewShare of them is bound.
	allAtOnce = 1 << 12
	fewShare  = 16
)

// bindingsFor returns bindings for most of so many nodes.
func bindingsFor(nodes int) bindings {
	if nodes <= allAtOnce {
		return bindings{all: make([]any, nodes)}
	}
	return bindings{nodes: nodes}
}

// get returns the object bound to a node.
func (b *bindings) get(node int32) (obj any, ok bool) {
	for i := range b.rows {
		if v := b.rows[i].find(node); v != nil {
			return v, true
		}
	}
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

// set binds a node, which isn't in a row.
func (b *bindings) set(node int32, obj any) {
	if !b.has(node) {
		b.n++
	}
	if b.all == nil && b.nodes > 0 && len(b.few) >= b.nodes/fewShare {
		b.all = make([]any, b.nodes)
		for node, obj := range b.few {
			b.all[node] = obj
		}
		b.few = nil
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

// addRow binds nodes in increasing order, and keeps both slices. If one of the nodes is
// bound, or may be, it changes nothing and returns false.
func (b *bindings) addRow(nodes []int32, vars []*trackable.Variable) (ok bool) {
	for i := range b.rows {
		if other := b.rows[i].nodes; nodes[0] <= other[len(other)-1] && other[0] <= nodes[len(nodes)-1] {
			return false
		}
	}
	if b.all != nil {
		for _, node := range nodes {
			if b.all[node] != nil {
				return false
			}
		}
	}
	for node := range b.few {
		if _, in := slices.BinarySearch(nodes, node); in {
			return false
		}
	}
	b.rows = append(b.rows, boundRow{nodes, vars})
	b.n += len(nodes)
	return true
}

// len returns how many nodes are bound.
func (b *bindings) len() int { return b.n }

// each yields the bound nodes and their objects, in no fixed order.
func (b *bindings) each() iter.Seq2[int32, any] {
	return func(yield func(int32, any) bool) {
		for i := range b.rows {
			row := &b.rows[i]
			for k, node := range row.nodes {
				if !yield(node, row.vars[k]) {
					return
				}
			}
		}
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
