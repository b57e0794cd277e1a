package savedmodel

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/cairnml/cairn/internal/nearest"
)

// A FormatError reports that a SavedModel's file contradicts itself or can't be
// decoded.
type FormatError struct {
	File string // such as "saved_model.pb"; "" leaves it out of the text
	Err  error
}

// Error names the file.
func (e *FormatError) Error() string {
	if e.File == "" {
		return fmt.Sprintf("savedmodel: %v", e.Err)
	}
	return fmt.Sprintf("savedmodel: %s: %v", e.File, e.Err)
}

// Unwrap returns the cause.
func (e *FormatError) Unwrap() error { return e.Err }

// A LimitError reports that a file would take more memory than the limit.
type LimitError struct {
	File string
	Need int64 // the memory that it would take, in bytes
	Most int64 // the limit
}

// Error names the option that raises the limit.
func (e *LimitError) Error() string {
	return fmt.Sprintf("savedmodel: %s would take about %d bytes in memory, the most is %d; ReadOptions.MaxMemory raises it", e.File, e.Need, e.Most)
}

// Is reports whether target is errors.ErrUnsupported: the file may be valid, and only the
// limit refuses it.
func (e *LimitError) Is(target error) bool { return target == errors.ErrUnsupported }

// A TagsError reports that no MetaGraph has the requested tags, or that more
// than one has them. It also reports that tags must be requested, because the model has
// several MetaGraphs and no default.
type TagsError struct {
	Want []string   // the requested tags; nil if there were none
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

// A NotFoundError reports that a model has nothing of that name.
type NotFoundError struct {
	Kind string   // such as "signature", "object" or "function"
	Name string   // the requested name
	Near []string // names that may have been meant, best first
	Note string   // an explanation; "" for none
}

// Error lists similar names.
func (e *NotFoundError) Error() string {
	s := fmt.Sprintf("savedmodel: there is no %s %q", e.Kind, e.Name)
	if len(e.Near) > 0 {
		s += "; " + nearest.ThereAre(e.Near)
	}
	if e.Note != "" {
		s += "; " + e.Note
	}
	return s
}

// ErrNoCheckpoint reports that a model has variables and no checkpoint for
// them.
var ErrNoCheckpoint = errors.New("there is no checkpoint " + VariablesPrefix)
