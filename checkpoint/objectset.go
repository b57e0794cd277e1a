package checkpoint

import (
	"maps"

	"github.com/cairnml/cairn/internal/pointers"
	"github.com/cairnml/cairn/trackable"
)

// objectSet is a set of objects, by identity. Most objects of a large program are
// variables, which have a table of their own. The zero value is empty.
type objectSet struct {
	vars   pointers.Numbers[trackable.Variable]
	others map[any]struct{}
}

// grow reserves space for so many more variables.
func (s *objectSet) grow(vars int) { s.vars.Grow(vars) }

func (s *objectSet) has(obj any) (ok bool) {
	if v := variableOf(obj); v != nil {
		_, ok = s.vars.Get(v)
		return ok
	}
	_, ok = s.others[trackable.Identity(obj)]
	return ok
}

// add puts obj into the set and reports whether it was there before.
func (s *objectSet) add(obj any) (there bool) {
	if v := variableOf(obj); v != nil {
		_, there = s.vars.Add(v)
		return there
	}
	if s.others == nil {
		s.others = make(map[any]struct{})
	}
	n := len(s.others)
	s.others[trackable.Identity(obj)] = struct{}{}
	return len(s.others) == n
}

// addAll adds another set, which isn't used any more.
func (s *objectSet) addAll(more objectSet) {
	if s.len() == 0 {
		*s = more
		return
	}
	for _, v := range more.vars.All() {
		s.vars.Add(v)
	}
	if s.others == nil {
		s.others = more.others
		return
	}
	maps.Copy(s.others, more.others)
}

func (s *objectSet) len() int { return s.vars.Len() + len(s.others) }
