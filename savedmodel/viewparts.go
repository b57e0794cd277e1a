package savedmodel

import (
	"github.com/cairnml/cairn/checkpoint"
	"github.com/cairnml/cairn/trackable"
)

// viewParts looks up the parts of a checkpoint's nodes. It keeps long lists, because many objects of a hostile model
// may match one node. A result is valid until the next call of the same method.
type viewParts struct {
	view       *checkpoint.View
	at         map[string]int // scratch memory of childrenOf
	children   map[int]map[string]int
	attributes map[int]*nodeAttributes
	slots      map[int]map[slotName]int
	own        nodeAttributes // scratch memory of attributesOf
}

// nodeAttributes are the attributes of a node of a checkpoint.
type nodeAttributes struct {
	all      []attributeKey
	value    string // the key of a variable's value
	hasValue bool
	others   bool // whether there are attributes besides the value
}

// slotName identifies a slot of one owner by the node of its variable and its name.
type slotName struct {
	variable int
	name     string
}

// keptParts is the length from which on a list is kept. The number may change.
const keptParts = 64

func newViewParts(view *checkpoint.View) *viewParts {
	return &viewParts{view: view, at: map[string]int{}, children: map[int]map[string]int{}, attributes: map[int]*nodeAttributes{}, slots: map[int]map[slotName]int{}}
}

// childrenOf returns the nodes to which the edges of a node lead, by their names.
func (p *viewParts) childrenOf(id int) map[string]int {
	if at, ok := p.children[id]; ok {
		return at
	}
	clear(p.at)
	for c := range p.view.Children(id) {
		p.at[c.Name] = c.ID
	}
	at := p.at
	if len(at) >= keptParts {
		p.children[id], p.at = at, map[string]int{}
	}
	return at
}

// attributesOf returns the names and keys of a node's values.
func (p *viewParts) attributesOf(id int) *nodeAttributes {
	if a, ok := p.attributes[id]; ok {
		return a
	}
	p.own = nodeAttributes{all: p.own.all[:0]}
	for name, key := range p.view.Attributes(id) {
		p.own.all = append(p.own.all, attributeKey{name, key})
		if name == trackable.VariableValue {
			p.own.value, p.own.hasValue = key, true
		} else {
			p.own.others = true
		}
	}
	if len(p.own.all) < keptParts {
		return &p.own
	}
	a := p.own
	p.attributes[id], p.own = &a, nodeAttributes{}
	return &a
}

// slotsOf returns the nodes of the slot variables that a node owns. Of two with one name, the first counts.
func (p *viewParts) slotsOf(id int) map[slotName]int {
	if slots, ok := p.slots[id]; ok {
		return slots
	}
	slots := map[slotName]int{}
	for c := range p.view.Slots(id) {
		name := slotName{c.Variable, c.Name}
		if _, again := slots[name]; !again {
			slots[name] = c.ID
		}
	}
	p.slots[id] = slots // a model has few owners of slots
	return slots
}
