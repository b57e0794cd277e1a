package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/cairnml/cairn/tensorfile"
)

// noModel returns the error of a verb that takes SavedModels for a path without one. It
// says what the path is instead.
func (a *app) noModel(ctx context.Context, verb, path string, err error) error {
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	const want = "give a SavedModel's directory or a frozen graph"
	if s, opened := tensorfile.Open(ctx, path, a.source()); opened == nil {
		defer s.Close()
		if s.Kind == tensorfile.SavedModel {
			return err
		}
		return fmt.Errorf("%s %s: it is a %s, not a SavedModel; %s", verb, path, kindNoun(s.Kind), want)
	}
	if _, stat := os.Stat(path); errors.Is(stat, fs.ErrNotExist) {
		return fmt.Errorf("%s %s: there is no such file or directory; %s", verb, path, want)
	}
	return err
}

// kindNoun names a kind of file in a sentence.
func kindNoun(k tensorfile.Kind) string {
	if k == tensorfile.Checkpoint {
		return "checkpoint"
	}
	return k.String()
}
