package savedmodel

import (
	"fmt"
	"slices"

	"github.com/cairnml/cairn/graph"
)

// maxStructure bounds the nesting of structures, composites and messages in a file, so that a hostile one
// doesn't fill the stack. The number is Cairn's and may change.
const maxStructure = 64

// maxConstants limits the size of the constants in the structures and the
// defaults of one MetaGraph, in bytes. The number is Cairn's and may change.
const maxConstants = 64 << 20

// isSequence reports whether a structure is a list or a tuple.
func isSequence(s *graph.Structure) bool {
	return s != nil && (s.Kind == graph.ListStructure || s.Kind == graph.TupleStructure)
}

// staticOf returns the value of a static structure, or zero if s is of another
// kind or its value isn't a T.
func staticOf[T any](s *graph.Structure) (v T) {
	if s != nil && s.Kind == graph.StaticStructure {
		v, _ = s.Value.(T)
	}
	return v
}

// formatCall formats the arguments of a call: "x: float32[3], training=true". in is
// a tuple of two: the tuple of the positional arguments and the dict of the named
// ones. [ConcreteFunction.Takes] returns the text. Descriptions, comparisons and
// errors contain it, and so do goldens of the command.
func formatCall(in *graph.Structure) string {
	if in == nil || len(in.Elems) != 2 {
		return "unknown"
	}
	text := in.Elems[0].String()
	text = text[1 : len(text)-1] // the parentheses
	if n := len(in.Elems[0].Elems); n == 1 {
		text = text[:len(text)-1] // and a tuple's comma
	}
	kwargs := in.Elems[1]
	for _, i := range kwargs.Order() {
		if text != "" {
			text += ", "
		}
		text += fmt.Sprintf("%s=%v", kwargs.Keys[i], kwargs.Elems[i])
	}
	return text
}

// sortedKeys returns the keys of a map in order, so that saves are deterministic.
func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
