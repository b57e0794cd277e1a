package checkpoint

import (
	"errors"
	"fmt"
	"iter"
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/cairnml/cairn/bundle"
	"github.com/cairnml/cairn/internal/cores"
	"github.com/cairnml/cairn/internal/objects"
	"github.com/cairnml/cairn/internal/pb"
	"github.com/cairnml/cairn/trackable"
)

// objectGraph is the object graph of a file, checked: every number in it is a
// node's. Nodes stay encoded, of which a file can have millions: as messages they
// take several times the memory, full of pointers.
type objectGraph struct {
	text  []byte // the encoded graph
	nodes []nodeRow
	// values is the reader in which the check of the nodes looks up variables'
	// values, so that the nodes needn't be traversed again. If nil, values aren't
	// looked up.
	values *bundle.Reader
	// owners are the nodes that own slot variables.
	owners []int32
	// lists has the nodes of the elements of long lists, by the list's node.
	lists map[int32][]int32

	once      sync.Once          // for the paths
	parent    []int32            // by node: its parent on the first path; -1 if none
	edge      []string           // by node: the name of the edge from parent
	slotOf    map[int32][2]int32 // slot node → owner, variable
	slotNames map[int32]string   // slot node → the slot's name
	spent     atomic.Int64       // bytes of paths given out

	decode  sync.Once
	decoded *pb.TrackableObjectGraph
}

// nodeRow is the position of a node's message in the file, and its kind.
type nodeRow struct {
	from, size uint32
	// For the node of a lone variable, the value if it was looked up and found, and the
	// position of its key in the message.
	value       bundle.Handle
	key, keyLen uint16
	lone        bool // the node of a lone variable, with its key in the first 64 KiB
	leaf        bool // without children
}

// parseGraph checks an object graph whose messages may take most bytes once they
// are decoded. All walks over the result are iterative and visit a node once, so
// that cycles and depth are harmless.
func parseGraph(text string, values *bundle.Reader, most int64) (*objectGraph, error) {
	g := &objectGraph{text: unsafe.Slice(unsafe.StringData(text), len(text)), values: values}
	if uint64(len(text)) > math.MaxUint32 {
		return nil, g.undecodable(most) // no message has as many bytes
	}
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
		if len(g.nodes) == cap(g.nodes) {
			g.grow(len(f.Rest), len(f.Bytes))
		}
		g.nodes = g.nodes[:len(g.nodes)+1]
		row := &g.nodes[len(g.nodes)-1]
		row.from, row.size = uint32(len(text)-len(f.Rest)-len(f.Bytes)), uint32(len(f.Bytes))
	}
	switch {
	case f.Bad:
		return nil, g.undecodable(most)
	case len(g.nodes) == 0:
		return nil, fmt.Errorf("it has no node, not even a root")
	}
	return g, g.check(most)
}

// grow reserves space for the nodes expected in the remaining bytes, rest, if they have
// the size of the node before them.
func (g *objectGraph) grow(rest, size int) {
	const few, short = 256, 16
	n := few
	if len(g.nodes) >= few {
		like := rest / max(size, short)
		n = max(few, like+like/16)
	}
	g.nodes = slices.Grow(g.nodes, n)
}

// undecodable returns why the graph can't be decoded.
func (g *objectGraph) undecodable(most int64) error {
	if _, err := objects.Decode(g.text, most); err != nil {
		return err
	}
	return errors.New("it can't be decoded")
}

// errUndecodable represents the message of undecodable.
var errUndecodable = errors.New("undecodable")

// checkBatch is how many nodes a worker checks at a time.
const checkBatch = 4096

// nodeBatch is the result of checking a batch of nodes.
type nodeBatch struct {
	owners []int32
	lists  map[int32][]int32
	need   int64 // bytes of the decoded messages
	err    error

	last   bundle.Handle // the value that was found last
	misses int           // how many values weren't found
}

// find looks up the value of a lone variable's node. Callers that need a value that
// wasn't found look it up again, so that a graph with other keys costs little here.
func (b *nodeBatch) find(g *objectGraph, row *nodeRow) {
	const most = 64
	if g.values == nil || b.misses == most {
		return
	}
	h, ok := g.values.FindAfter(g.loneKey(row), b.last)
	if !ok {
		b.misses++
		return
	}
	row.value, b.last = h, h
}

// check checks the nodes, in parallel batches. The error is that of the first
// faulty node.
func (g *objectGraph) check(most int64) error {
	batches := make([]nodeBatch, (len(g.nodes)+checkBatch-1)/checkBatch)
	var next atomic.Int64
	work := func(int) {
		for i := int(next.Add(1)) - 1; i < len(batches); i = int(next.Add(1)) - 1 {
			var b nodeBatch // in no cache line of another worker's
			for id := i * checkBatch; id < min((i+1)*checkBatch, len(g.nodes)) && b.err == nil; id++ {
				g.checkNode(id, &b)
			}
			batches[i] = b
		}
	}
	cores.Each(min(runtime.GOMAXPROCS(0), len(batches)), work)
	var need int64
	for i := range batches {
		need += batches[i].need
		g.owners = append(g.owners, batches[i].owners...)
		for node, nodes := range batches[i].lists {
			if g.lists == nil {
				g.lists = make(map[int32][]int32)
			}
			g.lists[node] = nodes
		}
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

// checkNode checks a node's message, and adds up the memory it needs when
// decoded.
func (g *objectGraph) checkNode(id int, b *nodeBatch) {
	if need, ok := g.nodes[id].plainVariable(g.text); ok {
		b.need += need
		b.find(g, &g.nodes[id])
		return
	}
	b.err = g.checkFields(id, b)
}

// checkFields works like checkNode, for nodes of every form.
func (g *objectGraph) checkFields(id int, b *nodeBatch) error {
	b.need += objects.NodeMemory
	row := &g.nodes[id]
	row.leaf = true
	attributes, first := 0, ""
	var names map[string]bool
	var key []byte
	var list listCheck
	saver, owner := false, false
	message := g.message(int32(id))
	f := pb.Fields{Rest: message}
	for f.Next() {
		if f.Bytes == nil {
			continue
		}
		b.need += objects.FieldMemory(int(f.Number))
		ok := true
		switch f.Number {
		case fieldChild:
			row.leaf = false
			var c graphChild
			if c, ok = childOf(f.Bytes); ok && !g.has(c.node) {
				return fmt.Errorf("child %q of node %d is node %d (want below %d)", c.name, id, c.node, len(g.nodes))
			}
			list.add(c, len(f.Rest))
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
					return fmt.Errorf("node %d has two attributes called %.100q", id, name)
				}
				names[textOf(name)] = true
			}
		case fieldSlot:
			var s graphSlot
			if !owner {
				owner = true
				b.owners = append(b.owners, int32(id))
			}
			if s, ok = slotOf(f.Bytes); ok && !(g.has(s.variable) && g.has(s.slot)) {
				return fmt.Errorf("slot %q of node %d joins nodes %d and %d (want below %d)", s.name, id, s.variable, s.slot, len(g.nodes))
			}
		case fieldSaver:
			saver = true
			_, ok = saverOf(f.Bytes, graphSaver{})
		case fieldHasValues:
			_, ok = flagOf(f.Bytes, false)
		}
		if !ok {
			return errUndecodable
		}
	}
	if f.Bad {
		return errUndecodable
	}
	if nodes := list.nodes; !list.other && len(nodes) >= longList {
		if b.lists == nil {
			b.lists = make(map[int32][]int32)
		}
		b.lists[int32(id)] = nodes
	}
	if attributes == 1 && first == trackable.VariableValue && row.leaf && !owner && !saver {
		at := 0
		if len(key) > 0 {
			at = cap(message) - cap(key)
		}
		if row.lone = at <= math.MaxUint16 && len(key) <= math.MaxUint16; row.lone {
			row.key, row.keyLen = uint16(at), uint16(len(key))
		}
	}
	return nil
}

// longList is the number of children from which on a list's nodes are kept in objectGraph.lists.
const longList = 2 * rowBatch

// listCheck follows the children of a node as long as they are a list's: called by
// their indices, in order, with nodes that increase.
type listCheck struct {
	nodes []int32
	other bool // they are not
	first int  // number of bytes after the first one
}

// add adds the next child; rest is the number of bytes after it.
func (l *listCheck) add(c graphChild, rest int) {
	n := len(l.nodes)
	if l.other {
		return
	}
	if i, ok := indexOf(c.name); !ok || i != n || n > 0 && c.node <= l.nodes[n-1] {
		l.nodes, l.other = nil, true
		return
	}
	if n == 0 {
		l.first = rest
	}
	const few = 1 << 10
	if n == cap(l.nodes) && n >= few { // the others take as much as those before, or more
		l.nodes = slices.Grow(l.nodes, 1+rest/((l.first-rest)/n))
	}
	l.nodes = append(l.nodes, c.node)
}

// indexOf returns the index that a list's element is called by.
func indexOf(name string) (i int, ok bool) {
	if len(name) == 0 || len(name) > 9 || name[0] == '0' && len(name) > 1 {
		return 0, false
	}
	for _, d := range []byte(name) {
		if d -= '0'; d > 9 {
			return 0, false
		}
		i = 10*i + int(d)
	}
	return i, true
}

// plainVariable checks a node in the form in which variables, of which there may be
// very many, are written: one attribute, and mostly the word that it has a value. It is
// not ok for all others. need is the number of bytes that the decoded node takes.
func (row *nodeRow) plainVariable(text []byte) (need int64, ok bool) {
	const (
		// The field of the attribute, whose length is one byte, then the name in it.
		name    = "\x0a\x0e" + trackable.VariableValue
		hasName = 2 + len(name)
		value   = "\x2a\x02\x08\x01" // the node has values
	)
	m := text[row.from:][:row.size]
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
	row.key, row.keyLen = uint16(at+2), uint16(m[at+1])
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
	row := &g.nodes[node]
	return g.text[row.from:][:row.size]
}

// graphNode is a node without its lists. For a lone variable, recordsValues and has aren't
// set.
type graphNode struct {
	children, attributes, slots int // how many there are

	attribute     graphAttribute // the first
	saver         graphSaver
	saved         bool // there is a registered saver
	recordsValues bool // whether the file records whether there are values: has
	has           bool
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
	return textOf(g.text[int(row.from)+int(row.key):][:row.keyLen])
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
			n.recordsValues = true
			n.has, _ = flagOf(f.Bytes, n.has)
		}
	}
}

// hasValue reports whether TensorFlow would wait for the node: by the file's
// flag, or in older files by whether the node isn't empty.
func (g *objectGraph) hasValue(node int32) bool {
	var n graphNode
	g.scan(node, &n)
	if n.recordsValues {
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
