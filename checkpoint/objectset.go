package checkpoint

import (
	"maps"

	"github.com/cairnml/cairn/trackable"
)

// objectSet is a set of objects, by identity. Most objects of a large program are
// variables, whose pointers make a set of a third of the size and time. The zero
// value is empty.
type objectSet struct {
	vars   map[*trackable.Variable]struct{}
	others map[any]struct{}
}

// objectSetFor returns an empty set with room for so many variables.
func objectSetFor(vars int) objectSet {
	return objectSet{vars: make(map[*trackable.Variable]struct{}, vars)}
}

func (s *objectSet) has(obj any) (ok bool) {
	id := trackable.Identity(obj)
	if v, is := id.(*trackable.Variable); is {
		_, ok = s.vars[v]
		return ok
	}
	_, ok = s.others[id]
	return ok
}

// add puts obj into the set and reports whether it was there before.
func (s *objectSet) add(obj any) (there bool) {
	id := trackable.Identity(obj)
	if v, is := id.(*trackable.Variable); is {
		if s.vars == nil {
			s.vars = make(map[*trackable.Variable]struct{})
		}
		n := len(s.vars)
		s.vars[v] = struct{}{}
		return len(s.vars) == n
	}
	if s.others == nil {
		s.others = make(map[any]struct{})
	}
	n := len(s.others)
	s.others[id] = struct{}{}
	return len(s.others) == n
}

// addAll adds another set, which isn't used any more.
func (s *objectSet) addAll(more objectSet) {
	if s.len() == 0 {
		*s = more
		return
	}
	for v := range more.vars {
		s.add(v)
	}
	if s.others == nil {
		s.others = more.others
		return
	}
	maps.Copy(s.others, more.others)
}

func (s *objectSet) len() int { return len(s.vars) + len(s.others) }
