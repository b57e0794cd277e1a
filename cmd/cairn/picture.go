package main

import (
	"io"

	"github.com/cairnml/cairn/tensorfile"
)

// checkPicture returns an error if a picture must not be written to path. It is never written
// over a file of the checkpoint s that it shows, and over another file only with force, the
// flag --force. The verbs show and stat call it before the work that the picture needs.
func checkPicture(s *tensorfile.File, path string, force bool) error {
	if err := s.Protect(path); err != nil {
		return err
	}
	return tensorfile.CheckFree(path, force)
}

// writePicture writes draw's picture of s to a file: PNG, SVG or DOT, as draw decides. After an
// error the file is as it was before. The name of the file is a note on stderr.
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
