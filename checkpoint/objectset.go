package checkpoint

import (
	"maps"
	"sort"

	"github.com/cairnml/cairn/internal/pointers"
	"github.com/cairnml/cairn/trackable"
)

// objectSet is a set of objects, by identity. Most objects of a large program are
// variables. These have a separate table. The zero value is an empty set.
type objectSet struct {
	rows   [][]*trackable.Variable // in the order of making, each of variables that are in no other row
	inRows int
	vars   pointers.Numbers[trackable.Variable]
	others map[any]struct{}
}

// grow reserves space for so many more variables.
func (s *objectSet) grow(vars int) { s.vars.Grow(vars) }

// has reports whether obj is in the set.
func (s *objectSet) has(obj any) (ok bool) {
	if v := variableOf(obj); v != nil {
		if s.inRow(v) {
			return true
		}
		_, ok = s.vars.Get(v)
		return ok
	}
	_, ok = s.others[trackable.Identity(obj)]
	return ok
}

// inRow reports whether a variable is in one of the rows.
func (s *objectSet) inRow(v *trackable.Variable) bool {
	for _, row := range s.rows {
		made, first := internals.Made(v), internals.Made(row[0])
		if made < first || made > internals.Made(row[len(row)-1]) {
			continue
		}
		// Mostly they were made one right after the other.
		if at := made - first; at < uint64(len(row)) && row[at] == v {
			return true
		}
		if at := sort.Search(len(row), func(i int) bool { return internals.Made(row[i]) >= made }); at < len(row) && row[at] == v {
			return true
		}
	}
	return false
}

// maxRows bounds how many rows are looked through for a variable.
const maxRows = 16

// addRow puts variables into the set that were made one after the other, unless one of
// them is there, or there are many rows: then the set stays and ok is false. The set
// keeps the list.
func (s *objectSet) addRow(row []*trackable.Variable) (ok bool) {
	if len(s.rows) == maxRows {
		return false
	}
	alone := objectSet{rows: [][]*trackable.Variable{row}}
	for _, v := range s.vars.All() {
		if alone.inRow(v) {
			return false
		}
	}
	for _, other := range s.rows {
		if internals.Made(other[0]) > internals.Made(row[len(row)-1]) || internals.Made(row[0]) > internals.Made(other[len(other)-1]) {
			continue
		}
		for _, v := range row {
			if s.inRow(v) {
				return false
			}
		}
		break
	}
	s.rows = append(s.rows, row)
	s.inRows += len(row)
	return true
}

// add puts obj into the set and reports whether it was there before.
func (s *objectSet) add(obj any) (there bool) {
	if v := variableOf(obj); v != nil {
		if s.inRow(v) {
			return true
		}
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
	for _, row := range more.rows {
		if !s.addRow(row) {
			for _, v := range row {
				s.add(v)
			}
		}
	}
	for _, v := range more.vars.All() {
		s.add(v)
	}
	if s.others == nil {
		s.others = more.others
		return
	}
	maps.Copy(s.others, more.others)
}

func (s *objectSet) len() int { return s.inRows + s.vars.Len() + len(s.others) }
