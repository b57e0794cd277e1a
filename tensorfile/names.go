package tensorfile

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/cairnml/cairn/internal/objects"
)

// Selected is a tensor, or a part of one, selected by a name.
type Selected struct {
	Entry
	Index []Index // nil for the whole tensor
}

// Find finds the tensor that a name means: its name in the file, which may lack
// [ValueSuffix], any path of the object graph that leads to it, or the name of a
// SavedModel's variable (see [File.VariableNames]). A subscript as in Python's
// slices may follow ("kernel[0:2,:]"). If there is no such tensor, the error
// lists the nearest names.
func (s *File) Find(ctx context.Context, arg string) (Entry, []Index, error) {
	e, err := s.lookUp(ctx, arg)
	if err == nil || !strings.HasSuffix(arg, "]") {
		return e, nil, err
	}
	name, subscript, ok := cutSubscript(arg)
	if !ok {
		return e, nil, err
	}
	if e, err = s.lookUp(ctx, name); err != nil {
		return e, nil, err
	}
	index, err := parseIndex(subscript, e.Shape)
	if err != nil {
		return e, nil, fmt.Errorf("%s: %w", arg, err)
	}
	return e, index, nil
}

// cutSubscript splits "name[0:2]" into "name" and "0:2".
func cutSubscript(arg string) (name, subscript string, ok bool) {
	open := strings.LastIndexByte(arg, '[')
	if open < 0 || !strings.HasSuffix(arg, "]") {
		return arg, "", false
	}
	return arg[:open], arg[open+1 : len(arg)-1], true
}

// lookUp finds a tensor by its name, its short name, a path to it or its variable's name. The first
// of these that there is counts, so that a tensor's own name always finds it.
func (s *File) lookUp(ctx context.Context, name string) (Entry, error) {
	if !s.Has(name) {
		if s.Has(name + ValueSuffix) {
			name += ValueSuffix
		} else if key, ok := s.keyOf(ctx, name); ok {
			name = key
		} else if key, ok := s.keyOfVariable(ctx, name); ok {
			name = key
		}
	}
	return s.Entry(name)
}

// keyOf returns the name of the tensor to which a path of the object graph
// leads.
func (s *File) keyOf(ctx context.Context, path string) (string, bool) {
	g, err := s.Graph(ctx)
	if err != nil || g == nil {
		return "", false // a damaged graph leaves the names
	}
	key, ok := objects.Key(g.Nodes, path)
	return key, ok && s.Has(key)
}

// keyOfVariable returns the name of the tensor of a SavedModel's variable.
func (s *File) keyOfVariable(ctx context.Context, variable string) (string, bool) {
	variable = strings.TrimSuffix(variable, ":0")
	for key, name := range s.VariableNames(ctx) {
		if name == variable {
			return key, true
		}
	}
	return "", false
}

// IsPattern reports whether a name contains a * or ?, which match other
// characters.
func IsPattern(name string) bool { return strings.ContainsAny(name, "*?") }

// Match reports whether a name matches a pattern, in which * matches any
// characters, slashes too, and ? any one.
func Match(pattern, name string) bool {
	p, n := 0, 0
	star, from := -1, 0 // the last * in the pattern, and the end in the name of the bytes that it matches
	for n < len(name) {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, from = p, n
			p++
		case p < len(pattern) && (pattern[p] == '?' || pattern[p] == name[n]):
			n++
			if pattern[p] == '?' {
				for n < len(name) && name[n]&0xc0 == 0x80 {
					n++ // the rest of a letter
				}
			}
			p++
		case star >= 0:
			from++
			p, n = star+1, from
		default:
			return false
		}
	}
	return strings.Trim(pattern[p:], "*") == ""
}

// aliases returns the paths of the object graph at which people find a store's
// tensors, by name.
func (s *File) aliases(ctx context.Context) map[string]string {
	g, err := s.Graph(ctx)
	if err != nil || g == nil {
		return nil
	}
	out := map[string]string{}
	tree := objects.NewTree(g.Nodes)
	for i, n := range g.Nodes {
		for _, a := range n.Attributes {
			if s.Has(a.CheckpointKey) {
				out[a.CheckpointKey] = tree.Path(i)
			}
		}
	}
	return out
}

// Filter lists the entries that patterns select, in the order of the store: those whose name,
// short name, path in the object graph or variable's name matches one of them or, if the
// pattern contains no * or ?, contains it. No patterns select all. A pattern that selects
// nothing is an error, which lists the names nearest to it.
func (s *File) Filter(ctx context.Context, patterns []string) (Entries, error) {
	if len(patterns) == 0 {
		return s.Entries(), nil
	}
	paths, variables := s.aliases(ctx), s.VariableNames(ctx)
	found := make([]bool, len(patterns))
	out := s.Entries().Keep(func(e Entry) bool {
		kept := false
		for i, p := range patterns {
			if fits(p, e.Name, strings.Contains, paths[e.Name], variables[e.Name]) {
				kept, found[i] = true, true
			}
		}
		return kept
	})
	if i := slices.Index(found, false); i >= 0 {
		return Entries{}, s.noMatch(patterns[i])
	}
	return out, nil
}

// Select lists the tensors of names in order: each is a pattern with * or ?, or
// a name as for [File.Find], either with a subscript or without. Patterns leave
// the object graph out.
func (s *File) Select(ctx context.Context, names []string) ([]Selected, error) {
	var out []Selected
	var paths map[string]string
	for _, name := range names {
		if !IsPattern(name) || s.Has(name) || s.Has(name+ValueSuffix) {
			e, index, err := s.Find(ctx, name)
			if err != nil {
				return nil, err
			}
			out = append(out, Selected{e, index})
			continue
		}
		pattern, subscript, part := cutSubscript(name)
		if paths == nil {
			if paths = s.aliases(ctx); paths == nil {
				paths = map[string]string{}
			}
		}
		found := false
		same := func(name, pattern string) bool { return name == pattern }
		for e := range s.Entries().All() {
			if e.Name == GraphKey || !fits(pattern, e.Name, same, paths[e.Name], s.VariableNames(ctx)[e.Name]) {
				continue
			}
			found = true
			x := Selected{Entry: e}
			if part {
				var err error
				if x.Index, err = parseIndex(subscript, e.Shape); err != nil {
					return nil, fmt.Errorf("%s[%s]: %w", Short(e.Name), subscript, err)
				}
			}
			out = append(out, x)
		}
		if !found {
			return nil, s.noMatch(pattern)
		}
	}
	return out, nil
}

// fits reports whether a pattern matches one of the names of an entry, of which others
// may be empty. If it contains no * or ?, plain compares.
func fits(pattern, name string, plain func(name, pattern string) bool, others ...string) bool {
	match := plain
	if IsPattern(pattern) {
		match = func(name, pattern string) bool { return Match(pattern, name) }
	}
	return match(name, pattern) || match(Short(name), pattern) ||
		slices.ContainsFunc(others, func(other string) bool { return other != "" && match(other, pattern) })
}

// noMatch returns the error for a pattern that fits no tensor.
func (s *File) noMatch(pattern string) error {
	_, err := s.Entry(pattern)
	return err
}
