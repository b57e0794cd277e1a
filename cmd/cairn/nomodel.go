package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cairnml/cairn/savedmodel"
	"github.com/cairnml/cairn/tensorfile"
)

const wantModel = "give a SavedModel's directory or a frozen graph"

// The errors of this file end run and scan with exit code 2, like every error but errFound. So
// their texts may change, together with the goldens in testdata. They must name the verb, the
// path and the kind of the file, and end with a hint.

// checkModel returns an error if the path is a file that a verb for models can't take, with
// the kind of the file. The verbs run and scan call it before they open the path. A directory
// or a missing path is no error here: the verb opens it, and noModel describes the failure.
//
// suffixes are those of files of Keras that the verb takes: run passes none, scan three. A verb
// with suffixes also takes files of unknown content, since scan looks for a graph under any name.
func (a *app) checkModel(ctx context.Context, verb, path string, suffixes ...string) error {
	if path == "" {
		return fmt.Errorf("%s: the path is empty; %s", verb, wantModel)
	}
	info, err := os.Stat(path)
	if err != nil || info.IsDir() {
		return nil
	}
	if err := tensorfile.CheckContents(path); err != nil {
		return err
	}
	suffix := strings.ToLower(filepath.Ext(path))
	if suffix == ".pb" || suffix == ".pbtxt" || slices.Contains(suffixes, suffix) || tensorfile.IsGraphDef(nil, path) {
		return nil
	}
	if s, err := tensorfile.Open(ctx, path, a.source()); err == nil {
		defer s.Close()
		return a.otherKind(verb, path, s.Kind)
	}
	if strings.HasSuffix(strings.ToLower(path), ".safetensors.index.json") {
		return fmt.Errorf("%s %s: it is an index of safetensors files, not a SavedModel; %s", verb, path, wantModel)
	}
	var foreign *tensorfile.ForeignError
	if errors.As(tensorfile.CheckForeign(path), &foreign) {
		return fmt.Errorf("%s %s: it is %s; %s", verb, path, foreign.Kind, wantModel)
	}
	if len(suffixes) == 0 || info.Size() == 0 {
		return fmt.Errorf("%s %s: it is no SavedModel and no GraphDef; %s", verb, path, wantModel)
	}
	return nil // only scan comes here: unknownFile refuses the file if it isn't a graph
}

// noModel returns the error of run or scan for a path without a SavedModel, with the kind of
// the path. err is the error of opening it, verb the verb's name. noModel returns err itself
// if there is nothing to add: err isn't [fs.ErrNotExist], or the path has a SavedModel that
// lacks another file. The verb run compares the two.
func (a *app) noModel(ctx context.Context, verb, path string, err error) error {
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if s, opened := tensorfile.Open(ctx, path, a.source()); opened == nil {
		defer s.Close()
		if s.Kind == tensorfile.SavedModel {
			return err
		}
		return a.otherKind(verb, path, s.Kind)
	}
	if _, stat := os.Stat(path); errors.Is(stat, fs.ErrNotExist) {
		return fmt.Errorf("%s %s: there is no such file or directory; %s", verb, path, wantModel)
	}
	var none *savedmodel.NoModelError
	if errors.As(err, &none) {
		return fmt.Errorf("%s %s: %s", verb, path, none.Reason())
	}
	return err
}

// otherKind returns the error for a file that has tensors and no graph.
func (a *app) otherKind(verb, path string, kind tensorfile.Kind) error {
	want := wantModel
	if kind == tensorfile.Keras || kind == tensorfile.HDF5 {
		want = "'cairn convert " + path + " DIR' writes a SavedModel of a whole model"
	}
	noun := "a " + kind.String()
	if kind == tensorfile.HDF5 {
		noun = "an " + kind.String()
	}
	return fmt.Errorf("%s %s: it is %s, not a SavedModel; %s", verb, path, noun, want)
}
