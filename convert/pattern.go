package convert

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/cairnml/cairn/internal/nearest"
	"github.com/cairnml/cairn/tensorfile"
)

// PatternError reports patterns of [Edits] or [ModelEdits] that match no name.
// [Edit] and [EditModel] return it.
type PatternError struct {
	Path     string   // the source
	What     string   // the kind of names that patterns match; "" for the names of tensors
	Patterns []string // each with its field of the edits: "Drop slot"
	Nearest  []string // the names most like the first pattern, best first
}

// Error names the patterns and the nearest names.
func (e *PatternError) Error() string {
	words := make([]string, len(e.Patterns))
	for i, p := range e.Patterns {
		words[i] = "Edits." + p
	}
	what := e.What
	if what == "" {
		what = "tensor"
	}
	s := fmt.Sprintf("%s: no %s's name matches %s", e.Path, what, strings.Join(words, ", "))
	if len(e.Nearest) > 0 {
		s += "; similar names: " + strings.Join(e.Nearest, ", ")
	}
	return s
}

// notInNames matches the parts of a pattern that no name contains.
var notInNames = regexp.MustCompile(`\\.|[^A-Za-z0-9_/.]+`)

// checkMatches returns a *[PatternError] if a pattern matches no item's name.
func (e Edits) checkMatches(path string, all []item) error {
	err := &PatternError{Path: path}
	text := ""
	check := func(field string, p *regexp.Regexp) {
		if slices.ContainsFunc(all, func(i item) bool { return e.match(p, i.from()) }) {
			return
		}
		if err.Patterns = append(err.Patterns, field+" "+p.String()); len(err.Patterns) == 1 {
			text = likeness(p)
		}
	}
	for _, p := range e.Drop {
		check("Drop", p)
	}
	for _, c := range e.Cast {
		check("Cast", c.Match)
	}
	for _, r := range e.Rename {
		check("Rename", r.Match)
	}
	if len(err.Patterns) == 0 {
		return nil
	}
	names := make([]string, len(all))
	for i := range all {
		names[i] = tensorfile.Short(all[i].from())
	}
	err.Nearest = nearest.Names(text, names, 3)
	return err
}

// likeness returns a pattern without its regexp syntax, to search for similar names.
func likeness(p *regexp.Regexp) string {
	return strings.Trim(notInNames.ReplaceAllString(p.String(), " "), " .")
}
