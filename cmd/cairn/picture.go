package main

import (
	"io"

	"github.com/cairnml/cairn/tensorfile"
)

// checkPicture makes sure that a picture may be written to path: never over a
// file of the checkpoint that it shows, and over another one only if forced.
func checkPicture(s *tensorfile.File, path string, force bool) error {
	if err := s.Protect(path); err != nil {
		return err
	}
	return tensorfile.CheckFree(path, force)
}

// writePicture writes draw's picture of s to a file, whole or not at all.
func (a *app) writePicture(s *tensorfile.File, path string, force bool, draw func(w io.Writer) error) error {
	if err := checkPicture(s, path, force); err != nil {
		return err
	}
	f, err := tensorfile.CreateFile(path, force)
	if err != nil {
		return err
	}
	defer f.Abort()
	if err := draw(f); err != nil {
		return err
	}
	if err := f.Commit(); err != nil {
		return err
	}
	a.note("wrote %s", path)
	return nil
}
