package inspect

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"

	"github.com/cairnml/cairn/bundle"
	"github.com/cairnml/cairn/savedmodel"
)

// verifyModel lists the faults of a SavedModel besides those of its checkpoint:
// graphs that can't be decoded, missing assets, and a missing checkpoint if there are
// variables. shown is the directory's name.
func verifyModel(ctx context.Context, dir fs.FS, shown string, o *VerifyOptions) ([]Fault, error) {
	opts := savedmodel.ReadOptions{MaxMemory: o.Open.MaxMemory}
	fault := func(file, what string) Fault {
		return Fault{File: filepath.Join(shown, filepath.FromSlash(file)), Offset: -1, What: what}
	}
	broken := func(file string, err error) ([]Fault, error) {
		var e *savedmodel.FormatError
		if errors.Is(err, errors.ErrUnsupported) || !errors.As(err, &e) {
			return nil, err
		}
		if e.File != "" {
			file = e.File
		}
		return []Fault{fault(file, e.Err.Error())}, nil
	}
	m, err := savedmodel.Read(ctx, dir, &opts)
	if err != nil {
		return broken(savedmodel.GraphFile, err)
	}
	var faults []Fault
	variables, seen := 0, map[string]bool{}
	for _, g := range m.MetaGraphs {
		if _, err := g.Graph(); err != nil {
			more, err := broken(m.File, err)
			if err != nil {
				return nil, err
			}
			faults = append(faults, more...)
		}
		variables = max(variables, ModelVariables(g))
		for _, a := range g.Assets {
			file := path.Join(savedmodel.AssetsDir, a.Name)
			if seen[file] {
				continue
			}
			seen[file] = true
			if _, err := fs.Stat(dir, file); errors.Is(err, fs.ErrNotExist) {
				f := fault(file, "the asset is missing")
				f.Missing = true
				faults = append(faults, f)
			} else if err != nil {
				faults = append(faults, fault(file, fmt.Sprintf("the asset can't be read: %v", err)))
			}
		}
	}
	index := bundle.IndexName(savedmodel.VariablesPrefix)
	_, err = fs.Stat(dir, index)
	missing := errors.Is(err, fs.ErrNotExist) && variables > 0
	if missing {
		f := fault(index, "the checkpoint is missing; "+lieInIt(variables, false))
		f.Tensors, f.Missing = variables, true
		faults = append(faults, f)
	}
	if len(faults) > 0 && slices.ContainsFunc(faults, func(f Fault) bool { return !f.Missing }) {
		return faults, nil // the hashes would differ for the same reason
	}
	more, skipped, err := verifyFingerprint(ctx, dir, m, o.Open.MaxMemory, fault)
	if err != nil {
		return broken(m.File, err)
	}
	if skipped != "" && o.Note != nil {
		o.Note(filepath.Join(shown, skipped))
	}
	if missing {
		more = slices.DeleteFunc(more, func(f Fault) bool { return f.File == fault(index, "").File })
	}
	return append(faults, more...), nil
}

// ModelVariables returns the number of variables that a MetaGraph lists, among its
// objects or, in a model of TensorFlow 1, in its collection of them.
func ModelVariables(g *savedmodel.MetaGraph) int {
	n := len(g.Variables())
	for _, c := range g.Collections() {
		if c.Name == "variables" {
			n = max(n, c.Len)
		}
	}
	return n
}
