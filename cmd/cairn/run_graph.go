package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/cairnml/cairn/cmd/cairn/internal/feed"
	"github.com/cairnml/cairn/inspect/render"
	"github.com/cairnml/cairn/savedmodel"
	modelrun "github.com/cairnml/cairn/savedmodel/run"
	"github.com/cairnml/cairn/tensorfile"
)

// This file has the parts of the verb run that --feed and --fetch need, and the opening of models.

// checkGraph returns an error if the flags that run a graph without a signature contradict each other
// or others.
func (f *runFlags) checkGraph() error {
	switch {
	case f.feeds != nil && f.inputs != "":
		return usagef("--inputs and --feed both set the inputs; use one")
	case f.feeds != nil && f.literals != nil:
		return usagef("--input is for signatures, --feed for graphs; use one")
	case f.feeds != nil && f.fetches == nil:
		return usagef("--feed needs --fetch NAME, the output to compute")
	case f.fetches != nil && f.signature != "":
		return usagef("--signature and --fetch both choose the outputs; use one")
	case f.fetches != nil && f.literals != nil:
		return usagef("--input is for signatures; with --fetch use --feed")
	}
	for _, x := range f.feeds {
		if name, _, ok := strings.Cut(x, "="); !ok || name == "" {
			return usagef("--feed %s: it has no name (want NAME=VALUE)", x)
		}
	}
	return nil
}

// load loads the SavedModel or the GraphDef at path.
func (f *runFlags) load(ctx context.Context, a *app, path string, o *modelrun.LoadOptions) (m *modelrun.Model, err error) {
	if err := a.checkModel(ctx, "run", path); err != nil {
		return nil, err
	}
	if tensorfile.IsGraphDef(nil, path) {
		m, err = modelrun.LoadGraphDef(ctx, os.DirFS(filepath.Dir(path)), filepath.Base(path), o)
	} else {
		if found, ok := a.modelDir(path); ok {
			path = found
		}
		if m, err = modelrun.Load(ctx, os.DirFS(path), o); errors.Is(err, fs.ErrNotExist) {
			if other := a.noModel(ctx, "run", path, err); other != err {
				return nil, other
			}
		}
	}
	if errors.Is(err, savedmodel.ErrNoCheckpoint) {
		return nil, fmt.Errorf("%s: the checkpoint %s is missing, which has the values of its variables; copy the model's whole directory", path, savedmodel.VariablesPrefix)
	}
	if err != nil {
		return nil, inFile(path, denied(err))
	}
	return m, nil
}

// inFile returns an error that begins with the path that the user gave. The name of the file
// isn't repeated if the path ends with it. run and show call it.
func inFile(path string, err error) error {
	if f, ok := errors.AsType[*savedmodel.FormatError](err); ok && f.File == filepath.Base(path) {
		err = f.Err
		if errors.Is(err, io.ErrUnexpectedEOF) {
			err = fmt.Errorf("the file is cut off or damaged: %w", err)
		}
	}
	return fmt.Errorf("%s: %w", path, err)
}

// callee returns the callee: the signature that the user or the request names, or the
// part of the graph between --feed and --fetch.
func (f *runFlags) callee(m *modelrun.Model, src *feed.Source, path string) (*modelrun.Signature, *savedmodel.SignatureDef, error) {
	if f.fetches == nil {
		if m.MetaGraph().SavedModel().IsGraphDef() {
			return nil, nil, noFetch(m, path)
		}
		name, err := f.choose(m, src)
		if err != nil {
			return nil, nil, err
		}
		s, err := m.Signature(name)
		if err != nil {
			return nil, nil, err
		}
		def, err := m.MetaGraph().Signature(name)
		return s, def, err
	}
	var feeds []string
	for _, x := range f.feeds {
		name, _, _ := strings.Cut(x, "=")
		feeds = append(feeds, name)
	}
	if f.inputs != "" {
		var err error
		if feeds, err = m.Placeholders(f.fetches); err != nil {
			return nil, nil, err
		}
	}
	s, err := m.Prune(feeds, f.fetches)
	if err != nil {
		return nil, nil, err
	}
	return s, &savedmodel.SignatureDef{Inputs: s.Inputs(), Outputs: s.Outputs()}, nil
}

// noFetch returns an error that names the results that a graph can compute.
func noFetch(m *modelrun.Model, path string) error {
	_, fetches, err := m.MetaGraph().Endpoints()
	if err != nil {
		return err
	}
	words := "cairn show lists its ops"
	if len(fetches) > 0 {
		var names []string
		for _, t := range fetches[:min(len(fetches), maxNamed)] {
			names = append(names, render.Printable(t.Name))
		}
		words = "no other node uses " + strings.Join(names, ", ")
		if n := len(fetches) - len(names); n > 0 {
			words += fmt.Sprintf(" and %d more", n)
		}
	}
	return usagef("%s is a graph alone, without signatures: --fetch NAME chooses an output; %s", path, words)
}

// maxNamed is the number of a graph's outputs that an error names.
const maxNamed = 8
