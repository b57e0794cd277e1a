package inspect

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/cairnml/cairn/bundle"
	"github.com/cairnml/cairn/savedmodel"
	"github.com/cairnml/cairn/tensorfile"
)

// Comparison is the result of [Compare].
type Comparison struct {
	// Differences are the differences; nil if there are none.
	Differences []Difference
	// A and B name the compared files: checkpoints' prefixes, files, or the
	// directories of SavedModels.
	A, B string
	// Tensors is the number of tensors of A.
	Tensors int
	// Models reports that both are SavedModels, so that signatures, functions, objects
	// and assets were compared.
	Models bool
	// NotCompared lists parts and files of the two that weren't compared.
	NotCompared []string
	// Notes are facts that the caller should know, such as a checkpoint that is in
	// another directory than the one given.
	Notes []string
}

// Compare opens the files or directories at two paths, which may be of different kinds,
// and compares their tensors as [Diff] does. If both are SavedModels, it also compares
// their signatures, functions, objects and assets: functions by their content, whatever
// numbers their names end with.
func Compare(ctx context.Context, a, b string, opts *DiffOptions) (*Comparison, error) {
	if opts == nil {
		opts = &DiffOptions{}
	}
	x, err := openSide(ctx, a, &opts.OpenA)
	if err != nil {
		return nil, err
	}
	defer x.file.Close()
	y, err := openSide(ctx, b, &opts.OpenB)
	if err != nil {
		return nil, err
	}
	defer y.file.Close()
	c := &Comparison{A: x.file.Prefix, B: y.file.Prefix, Tensors: x.file.Entries().Len()}
	for _, s := range []*side{x, y} {
		if s.file.Elsewhere {
			c.Notes = append(c.Notes, fmt.Sprintf("%s: %s: %s", s.file.Path, s.file.Found, s.file.Prefix))
		}
	}
	o := *opts
	switch {
	case x.model != nil && y.model != nil:
		c.A, c.B, c.Models = a, b, true
		o.Graph = false // the object graphs are compared below
	case x.model != nil:
		c.NotCompared = []string{"the graphs and assets of " + a}
	case y.model != nil:
		c.NotCompared = []string{"the graphs and assets of " + b}
	}
	if c.Differences, err = Diff(ctx, x.file, y.file, &o); err != nil || !c.Models {
		return c, err
	}
	if !opts.Graph {
		c.NotCompared = []string{"the graphs and assets"}
		return c, nil
	}
	more, skipped, err := diffModels(ctx, x.model, y.model)
	c.Differences, c.NotCompared = append(c.Differences, more...), skipped
	if err != nil || !x.hasGraph() || !y.hasGraph() {
		return c, err
	}
	// The checkpoints have object graphs too, which can be damaged or another save's.
	saved, err := diffGraphs(ctx, x.file, y.file)
	saved = slices.DeleteFunc(saved, func(d Difference) bool { return strings.HasPrefix(d.Name, "signatures/") }) // compared above
	if !slices.ContainsFunc(more, func(d Difference) bool { return d.Kind == Objects }) {
		c.Differences = append(c.Differences, saved...)
	}
	return c, err
}

// hasGraph reports whether the side's file contains an object graph.
func (s *side) hasGraph() bool {
	for e := range s.file.Entries().All() {
		if e.Name == tensorfile.GraphKey {
			return true
		}
	}
	return false
}

// side is one of two paths that are compared.
type side struct {
	file  *tensorfile.File // without tensors if a model has no variables
	model *model           // nil unless it is a SavedModel's directory
}

// openSide opens one of the two. A SavedModel without a checkpoint is a file without tensors, not
// an error.
func openSide(ctx context.Context, path string, opts *tensorfile.Options) (*side, error) {
	found, ok := tensorfile.FindModel(opts.FS, path)
	if !ok {
		f, err := tensorfile.Open(ctx, path, opts)
		return &side{file: f}, err
	}
	dir, err := directory(opts.FS, found)
	if err != nil {
		return nil, err
	}
	path = found
	m, err := readModel(ctx, dir, &savedmodel.ReadOptions{MaxMemory: opts.MaxMemory})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if _, err := fs.Stat(dir, bundle.IndexName(savedmodel.VariablesPrefix)); errors.Is(err, fs.ErrNotExist) {
		return &side{&tensorfile.File{Path: path, Kind: tensorfile.SavedModel, Prefix: path}, m}, nil
	}
	f, err := tensorfile.Open(ctx, path, opts)
	return &side{f, m}, err
}
