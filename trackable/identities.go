package trackable

import "maps"

// identities numbers objects. Most objects of a large graph are variables, whose
// pointers make a map of a third of the size and time.
type identities struct {
	vars   map[*Variable]int32
	others map[any]int
}

func (m *identities) get(obj Trackable) (id int, ok bool) {
	key := Identity(obj)
	if v, is := key.(*Variable); is {
		n, ok := m.vars[v]
		return int(n), ok
	}
	id, ok = m.others[key]
	return id, ok
}

func (m *identities) set(obj Trackable, id int) {
	key := Identity(obj)
	if v, is := key.(*Variable); is {
		if m.vars == nil {
			m.vars = make(map[*Variable]int32)
		}
		m.vars[v] = int32(id)
		return
	}
	if m.others == nil {
		m.others = make(map[any]int)
	}
	m.others[key] = id
}

// grow makes place for n more variables at once, where these are most of all.
func (m *identities) grow(n int) {
	old := m.vars
	if n < len(old) {
		return
	}
	m.vars = make(map[*Variable]int32, len(old)+n)
	maps.Copy(m.vars, old)
}
