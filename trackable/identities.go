package trackable

import "github.com/cairnml/cairn/internal/pointers"

// identities numbers objects. Most objects of a large graph are variables, which
// have a separate table.
type identities struct {
	vars   pointers.Numbers[Variable]
	ids    []int32 // by a variable's number in vars
	others map[any]int
}

// get returns the number of the node that obj is.
func (m *identities) get(obj Trackable) (id int, ok bool) {
	if v := asVariable(obj); v != nil {
		n, ok := m.vars.Get(v)
		if !ok {
			return 0, false
		}
		return int(m.ids[n]), true
	}
	id, ok = m.others[Identity(obj)]
	return id, ok
}

// add makes obj, which is v if that isn't nil, node id unless it is one already.
func (m *identities) add(obj Trackable, v *Variable, id int) (known int, there bool) {
	if v != nil {
		n, there := m.vars.Add(v)
		if there {
			return int(m.ids[n]), true
		}
		m.ids = append(m.ids, int32(id))
		return id, false
	}
	key := Identity(obj)
	if known, there = m.others[key]; there {
		return known, true
	}
	if m.others == nil {
		m.others = make(map[any]int)
	}
	m.others[key] = id
	return id, false
}

// grow reserves space for so many more variables.
func (m *identities) grow(n int) { m.vars.Grow(n) }

// asVariable returns obj's variable, or nil if it isn't one.
func asVariable(obj Trackable) *Variable {
	switch obj := obj.(type) {
	case *Variable:
		return obj
	case VariableLike:
		return obj.AsVariable()
	}
	return nil
}
