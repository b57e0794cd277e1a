package savedmodel

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A FormatError says that a SavedModel's file contradicts itself or can't be
// decoded.
type FormatError struct {
	File string // "saved_model.pb"; "" for what lies inside
	Err  error
}

// Error names the file.
func (e *FormatError) Error() string {
	if e.File == "" {
		return fmt.Sprintf("savedmodel: %v", e.Err)
	}
	return fmt.Sprintf("savedmodel: %s: %v", e.File, e.Err)
}

// Unwrap gives the cause.
func (e *FormatError) Unwrap() error { return e.Err }

// A LimitError says that a file would take more memory than it may.
type LimitError struct {
	File string
	Need int64 // what it would take, in bytes
	Most int64 // what it may
}

// Error names the option that raises the limit.
func (e *LimitError) Error() string {
	return fmt.Sprintf("savedmodel: %s would take about %d bytes in memory, the most is %d: ReadOptions.MaxMemory raises that", e.File, e.Need, e.Most)
}

// Is reports whether target is errors.ErrUnsupported.
func (e *LimitError) Is(target error) bool { return target == errors.ErrUnsupported }

// A TagsError says that no MetaGraph has the tags that were asked for, or that
// several could be meant.
type TagsError struct {
	Want []string   // the tags that were asked for; nil where none were
	Have [][]string // those of each MetaGraph
}

// Error lists the tags of each MetaGraph.
func (e *TagsError) Error() string {
	var b strings.Builder
	if e.Want == nil {
		fmt.Fprintf(&b, "savedmodel: the SavedModel has %d MetaGraphs, so the tags of one must be given:", len(e.Have))
	} else {
		fmt.Fprintf(&b, "savedmodel: %d of the %d MetaGraphs have the tags %q; there are:", e.matching(), len(e.Have), e.Want)
	}
	for _, tags := range e.Have {
		fmt.Fprintf(&b, "\n  %q", tags)
	}
	return b.String()
}

func (e *TagsError) matching() (n int) {
	for _, tags := range e.Have {
		if sameTags(tags, e.Want) {
			n++
		}
	}
	return n
}

// sameTags reports whether two lists hold the same tags.
func sameTags(a, b []string) bool {
	set := func(s []string) []string { s = slices.Clone(s); slices.Sort(s); return slices.Compact(s) }
	return slices.Equal(set(a), set(b))
}

// A NotFoundError says that a model has nothing of that name.
type NotFoundError struct {
	Kind string   // "signature", "object", "function"
	Name string   // what was asked for
	Near []string // names that may have been meant, best first
	Note string   // what else is to know; "" for nothing
}

// Error lists similar names.
func (e *NotFoundError) Error() string {
	s := fmt.Sprintf("savedmodel: there is no %s %q", e.Kind, e.Name)
	if len(e.Near) > 0 {
		s += "; " + thereAre(e.Near)
	}
	if e.Note != "" {
		s += "; " + e.Note
	}
	return s
}

// SaverError says that variables have no values of their own in the checkpoint: a
// registered saver wrote them, which only the program that has it can read. Such a
// program loads the model with LoadOptions.Partial and restores the variables'
// folder into [Model.Variable] with checkpoint.Savers.
type SaverError struct {
	// Saver is the saver's name, "package.name".
	Saver string
	// Paths are the paths of the variables to its objects.
	Paths []string
}

// Error returns what is missing and what to do.
func (e *SaverError) Error() string {
	return fmt.Sprintf("savedmodel: the registered saver %q wrote the values of %s: load the model with LoadOptions.Partial, and restore %s with a saver of that name in checkpoint.Savers", e.Saver, few(e.Paths), VariablesPrefix)
}

// thereAre says which names there are, one or many.
func thereAre(names []string) string {
	if len(names) == 1 {
		return "there is " + quoted(names)
	}
	return "there are " + quoted(names)
}

// quoted lists all names, each in quotes.
func quoted(names []string) string {
	list := make([]string, len(names))
	for i, n := range names {
		list[i] = strconv.Quote(n)
	}
	return strings.Join(list, ", ")
}

// few lists the first few of names.
func few(names []string) string {
	const most = 4
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}
