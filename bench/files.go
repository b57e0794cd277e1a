package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/cairnml/cairn/convert"
	"github.com/cairnml/cairn/inspect"
	"github.com/cairnml/cairn/tensorfile"
)

// fileVerbs adds the command's work on a saved checkpoint: verify it, compare
// it with a copy, convert it. The warm-up round makes the copy. directory must
// have the checkpoint "ck" of one data file.
func fileVerbs(folder string, verbs map[string]verb) {
	prefix, twin := filepath.Join(folder, "ck"), filepath.Join(folder, "twin")
	verbs["verify"] = func(ctx context.Context) error {
		_, faults, err := inspect.Verify(ctx, prefix, nil)
		if err == nil && len(faults) > 0 {
			err = fmt.Errorf("%v", faults[0])
		}
		return err
	}
	verbs["diff"] = func(ctx context.Context) error {
		if err := copyOnce(prefix+".data-00000-of-00001", twin+".data-00000-of-00001"); err != nil {
			return err
		}
		if err := copyOnce(prefix+".index", twin+".index"); err != nil {
			return err
		}
		a, err := tensorfile.Open(ctx, prefix, nil)
		if err != nil {
			return err
		}
		defer a.Close()
		b, err := tensorfile.Open(ctx, twin, nil)
		if err != nil {
			return err
		}
		defer b.Close()
		list, err := inspect.Diff(ctx, a, b, nil)
		if err == nil && len(list) > 0 {
			err = fmt.Errorf("%+v", list[0])
		}
		return err
	}
	verbs["convert"] = func(ctx context.Context) error {
		_, err := convert.Convert(ctx, prefix, filepath.Join(folder, "out.safetensors"), &convert.Options{Force: true})
		return err
	}
}

// rawFileVerbs adds the same verbs for a file of bytes: read it, compare it with a
// copy, copy it and sync the copy. No contender can be faster.
func rawFileVerbs(path string, verbs map[string]verb) {
	twin := path + ".twin"
	verbs["verify"] = func(context.Context) error {
		return eachMiB(path, func([]byte) error { return nil })
	}
	verbs["diff"] = func(context.Context) error {
		if err := copyOnce(path, twin); err != nil {
			return err
		}
		f, err := os.Open(twin)
		if err != nil {
			return err
		}
		defer f.Close()
		other := make([]byte, 1<<20)
		return eachMiB(path, func(b []byte) error {
			if _, err := io.ReadFull(f, other[:len(b)]); err != nil {
				return err
			}
			if !bytes.Equal(b, other[:len(b)]) {
				return errors.New("the copy differs")
			}
			return nil
		})
	}
	verbs["convert"] = func(context.Context) error {
		f, err := os.Create(path + ".out")
		if err != nil {
			return err
		}
		defer f.Close()
		if err := eachMiB(path, func(b []byte) error {
			_, err := f.Write(b)
			return err
		}); err != nil {
			return err
		}
		return f.Sync()
	}
}

// eachMiB reads a file from its front.
func eachMiB(path string, f func([]byte) error) error {
	in, err := os.Open(path)
	if err != nil {
		return err
	}
	defer in.Close()
	buf := make([]byte, 1<<20)
	for {
		n, err := io.ReadFull(in, buf)
		if n > 0 {
			if err := f(buf[:n]); err != nil {
				return err
			}
		}
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// copyOnce copies a file unless the copy is there.
func copyOnce(from, to string) error {
	if _, err := os.Stat(to); err == nil {
		return nil
	}
	b, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, b, 0o666)
}
