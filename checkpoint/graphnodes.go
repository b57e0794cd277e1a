package checkpoint

import (
	"errors"
	"fmt"
	"iter"
	"math"
	"runtime"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/cairnml/cairn/internal/objects"
	"github.com/cairnml/cairn/internal/pb"
	"github.com/cairnml/cairn/trackable"
)

// objectGraph is the object graph of a file, checked: every number in it is a
// node's. Nodes stay encoded, of which a file can have millions: as messages they
// take several times the memory, full of pointers.
type objectGraph struct {
	text  []byte
	nodes []nodeRow
	// owners are the nodes that own slot variables.
	owners []int32

	once      sync.Once // for the paths
	parent    []int32   // by node: where the first path comes from; -1 none
	edge      []string
	slotOf    map[int32][2]int32 // slot node → owner, variable
	slotNames map[int32]string   // slot node → the slot's name
	spent     atomic.Int64       // bytes of paths given out

	decode  sync.Once
	decoded *pb.TrackableObjectGraph
}

// nodeRow says where a node's message lies, and what it is.
type nodeRow struct {
	from, to int
	// Of a lone variable's node, where in the message the key of its value lies.
	key, keyLen uint32
	lone        bool // a lone variable's
	leaf        bool // without children
}

// parseGraph checks an object graph whose messages may take most bytes once they
// are decoded. All walks over the result are iterative and visit a node once, so
// that cycles and depth are harmless.
func parseGraph(text string, most int64) (*objectGraph, error) {
	g := &objectGraph{text: unsafe.Slice(unsafe.StringData(text), len(text))}
	g.nodes = make([]nodeRow, 0, min(len(text)/64, maxGraphNodes))
	f := pb.Fields{Rest: g.text}
	for f.Next() {
		if f.Number != 1 || f.Bytes == nil {
			continue
		}
		if len(g.nodes) == maxGraphNodes {
			return nil, fmt.Errorf("it has more than %d nodes", maxGraphNodes)
		}
		if int64(len(g.nodes)) > most/objects.NodeMemory {
			return nil, &objects.LimitError{Bytes: len(text), Need: objects.Memory(g.text), Most: most}
		}
		to := len(text) - len(f.Rest)
		g.nodes = append(g.nodes, nodeRow{from: to - len(f.Bytes), to: to})
	}
	switch {
	case f.Bad:
		return nil, g.undecodable(most)
	case len(g.nodes) == 0:
		return nil, fmt.Errorf("it has no node, not even a root")
	}
	return g, g.check(most)
}

// undecodable returns why the graph can't be decoded.
func (g *objectGraph) undecodable(most int64) error {
	if _, err := objects.Decode(g.text, most); err != nil {
		return err
	}
	return errors.New("it can't be decoded")
}

// errUndecodable stands for what undecodable says.
var errUndecodable = errors.New("undecodable")

// checkBatch is how many nodes are checked at a time at least.
const checkBatch = 4096

// check checks the nodes, in batches beside each other. The error is that of the
// first node at fault.
func (g *objectGraph) check(most int64) error {
	type batch struct {
		owners []int32
		need   int64
		err    error
	}
	batches := make([]batch, max(1, min(runtime.GOMAXPROCS(0), len(g.nodes)/checkBatch)))
	part := func(i int) {
		b := &batches[i]
		for id := i * len(g.nodes) / len(batches); id < (i+1)*len(g.nodes)/len(batches) && b.err == nil; id++ {
			var need int64
			var owner bool
			if need, owner, b.err = g.checkNode(id); owner {
				b.owners = append(b.owners, int32(id))
			}
			b.need += need
		}
	}
	var wg sync.WaitGroup
	for i := 1; i < len(batches); i++ {
		wg.Go(func() { part(i) })
	}
	part(0)
	wg.Wait()
	var need int64
	for i := range batches {
		need += batches[i].need
		g.owners = append(g.owners, batches[i].owners...)
	}
	if need > most {
		return &objects.LimitError{Bytes: len(g.text), Need: need, Most: most}
	}
	for i := range batches {
		switch err := batches[i].err; err {
		case nil:
		case errUndecodable:
			return g.undecodable(most)
		default:
			return err
		}
	}
	return nil
}

// checkNode returns what a node's message takes in memory, and whether it owns slot
// variables.
func (g *objectGraph) checkNode(id int) (need int64, owner bool, err error) {
	if need, ok := g.nodes[id].plainVariable(g.text); ok {
		return need, false, nil
	}
	return g.checkFields(id)
}

// checkFields does what checkNode does, for nodes of every form.
func (g *objectGraph) checkFields(id int) (need int64, owner bool, err error) {
	need = objects.NodeMemory
	row := &g.nodes[id]
	row.leaf = true
	attributes, first := 0, ""
	var names map[string]bool
	var key []byte
	saver := false
	message := g.message(int32(id))
	f := pb.Fields{Rest: message}
	for f.Next() {
		if f.Bytes == nil {
			continue
		}
		need += objects.FieldMemory(int(f.Number))
		ok := true
		switch f.Number {
		case fieldChild:
			row.leaf = false
			var c graphChild
			if c, ok = childOf(f.Bytes); ok && !g.has(c.node) {
				return need, owner, fmt.Errorf("child %q of node %d is node %d, there are %d", c.name, id, c.node, len(g.nodes))
			}
		case fieldAttribute:
			var name []byte
			name, key, ok = attributeBytes(f.Bytes)
			// One value read for each of very many mentions would take time out of all
			// proportion.
			switch attributes++; {
			case attributes == 1:
				first = textOf(name)
			case attributes == 2:
				names = map[string]bool{first: true}
				fallthrough
			default:
				if names[textOf(name)] {
					return need, owner, fmt.Errorf("node %d has two attributes called %.100q", id, name)
				}
				names[textOf(name)] = true
			}
		case fieldSlot:
			var s graphSlot
			owner = true
			if s, ok = slotOf(f.Bytes); ok && !(g.has(s.variable) && g.has(s.slot)) {
				return need, owner, fmt.Errorf("slot %q of node %d joins nodes %d and %d, there are %d", s.name, id, s.variable, s.slot, len(g.nodes))
			}
		case fieldSaver:
			saver = true
			_, ok = saverOf(f.Bytes, graphSaver{})
		case fieldHasValues:
			_, ok = flagOf(f.Bytes, false)
		}
		if !ok {
			return need, owner, errUndecodable
		}
	}
	if f.Bad {
		err = errUndecodable
	}
	if attributes == 1 && first == trackable.VariableValue && row.leaf && !owner && !saver && uint64(len(message)) <= math.MaxUint32 {
		row.lone = true
		row.keyLen = uint32(len(key))
		if len(key) > 0 {
			row.key = uint32(cap(message) - cap(key))
		}
	}
	return need, owner, err
}

// plainVariable checks a node in the form in which variables, of which there may be
// very many, are written: one attribute, and mostly the word that it has a value. It is
// not ok for all others. The memory is as checkNode returns it.
func (row *nodeRow) plainVariable(text []byte) (need int64, ok bool) {
	const (
		// The field of the attribute, whose length is one byte, then the name in it.
		name    = "\x0a\x0e" + trackable.VariableValue
		hasName = 2 + len(name)
		value   = "\x2a\x02\x08\x01" // the node has values
	)
	m := text[row.from:row.to]
	if len(m) < hasName+2 || m[0] != fieldAttribute<<3|2 || m[1] >= 0x80 || string(m[2:hasName]) != name {
		return 0, false
	}
	end := 2 + int(m[1])
	if end > len(m) {
		return 0, false
	}
	need = objects.NodeMemory + objects.FieldMemory(fieldAttribute)
	if end < len(m) {
		if string(m[end:]) != value {
			return 0, false
		}
		need += objects.FieldMemory(fieldHasValues)
	}
	at := hasName
	if m[at] == 2<<3|2 { // the full name
		if m[at+1] >= 0x80 {
			return 0, false
		}
		at += 2 + int(m[at+1])
	}
	if at+2 > end || m[at] != 3<<3|2 || m[at+1] == 0 || m[at+1] >= 0x80 || at+2+int(m[at+1]) != end {
		return 0, false
	}
	row.key, row.keyLen = uint32(at+2), uint32(m[at+1])
	row.lone, row.leaf = true, true
	return need, true
}

// messages returns the graph's message, decoded when it is first asked for.
func (g *objectGraph) messages() *pb.TrackableObjectGraph {
	g.decode.Do(func() {
		var err error
		if g.decoded, err = objects.Decode(g.text, math.MaxInt64); err != nil { // check has decoded it all
			g.decoded = new(pb.TrackableObjectGraph)
		}
	})
	return g.decoded
}

func (g *objectGraph) has(node int32) bool { return node >= 0 && int(node) < len(g.nodes) }

// message returns a node's encoded message.
func (g *objectGraph) message(node int32) []byte {
	s := g.nodes[node]
	return g.text[s.from:s.to]
}

// graphNode is a node without its lists; of a lone variable's it isn't known whether
// it has values.
type graphNode struct {
	children, attributes, slots int // how many there are

	attribute graphAttribute // the first
	saver     graphSaver
	saved     bool // there is a registered saver
	says      bool // the file says whether there are values: has
	has       bool
}

// node decodes a node.
func (g *objectGraph) node(node int32) (n graphNode) {
	if row := &g.nodes[node]; row.lone {
		n.attributes = 1
		n.attribute.name = trackable.VariableValue
		n.attribute.key = g.loneKey(row)
		return n
	}
	g.scan(node, &n)
	return n
}

// loneKey returns the key of a lone variable's value.
func (g *objectGraph) loneKey(row *nodeRow) string {
	return textOf(g.text[row.from+int(row.key):][:row.keyLen])
}

// scan decodes all of a node.
func (g *objectGraph) scan(node int32, n *graphNode) {
	f := pb.Fields{Rest: g.message(node)}
	for f.Next() {
		if f.Bytes == nil {
			continue
		}
		switch f.Number {
		case fieldChild:
			n.children++
		case fieldAttribute:
			if n.attributes++; n.attributes == 1 {
				n.attribute, _ = attributeOf(f.Bytes)
			}
		case fieldSlot:
			n.slots++
		case fieldSaver:
			n.saved = true
			n.saver, _ = saverOf(f.Bytes, n.saver)
		case fieldHasValues:
			n.says = true
			n.has, _ = flagOf(f.Bytes, n.has)
		}
	}
}

// hasValue reports what TensorFlow takes as worth waiting for: the file's own
// word, or in older files whatever isn't empty.
func (g *objectGraph) hasValue(node int32) bool {
	var n graphNode
	g.scan(node, &n)
	if n.says {
		return n.has
	}
	return n.children > 0 || n.attributes > 0 || n.slots > 0 || n.saved
}

// value returns the key of the value of a node that is a lone variable's; ok is
// false for others.
func (g *objectGraph) value(node int32) (key string, ok bool) {
	n := g.node(node)
	return n.attribute.key, n.attributes == 1 && n.attribute.name == trackable.VariableValue && n.children == 0 && !n.saved
}

// each yields a node's fields with that number, decoded.
func each[T any](g *objectGraph, node int32, field int, decode func([]byte) (T, bool)) iter.Seq[T] {
	return func(yield func(T) bool) {
		f := pb.Fields{Rest: g.message(node)}
		for f.Next() {
			if int(f.Number) == field && f.Bytes != nil {
				if x, _ := decode(f.Bytes); !yield(x) {
					return
				}
			}
		}
	}
}

// children yields a node's edges.
func (g *objectGraph) children(node int32) iter.Seq[graphChild] {
	if g.nodes[node].leaf {
		return func(func(graphChild) bool) {}
	}
	return each(g, node, fieldChild, childOf)
}

// attributes yields a node's values.
func (g *objectGraph) attributes(node int32) iter.Seq[graphAttribute] {
	return each(g, node, fieldAttribute, attributeOf)
}

// slots yields the slot variables that a node owns.
func (g *objectGraph) slots(node int32) iter.Seq[graphSlot] {
	return each(g, node, fieldSlot, slotOf)
}
