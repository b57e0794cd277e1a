package io

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/vfs"
)

// The kernels of ReadFile, WriteFile, MatchingFiles and ShardedFilespec.

// readFile reads a whole file.
func readFile(c *engine.Call) error {
	if err := c.Need(1); err != nil {
		return err
	}
	name, err := text(c, 0, "the file's name")
	if err != nil {
		return err
	}
	fsys, place, err := c.Reading(name)
	if err != nil {
		return err
	}
	f, err := fsys.Open(place)
	if err != nil {
		return err
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil {
		if err := c.Afford(info.Size()); err != nil {
			return err
		}
	}
	var all strings.Builder
	for {
		n, err := io.CopyN(&all, f, 1<<20)
		if tooMuch := c.Afford(int64(all.Len())); tooMuch != nil {
			return tooMuch
		}
		if err == io.EOF && n < 1<<20 {
			break
		}
		if err != nil {
			return err
		}
		if err := c.Context().Err(); err != nil {
			return err
		}
	}
	c.Set(0, tensor.Scalar(all.String()))
	return nil
}

// writeFile writes a file with the given contents, and makes the directories
// above it. As in TensorFlow, a write that fails may leave a part of the contents.
func writeFile(c *engine.Call) error {
	if err := c.Need(2); err != nil {
		return err
	}
	name, err := text(c, 0, "the file's name")
	if err != nil {
		return err
	}
	contents, err := text(c, 1, "the contents")
	if err != nil {
		return err
	}
	dir, place, err := c.Writing(name)
	if err != nil {
		return err
	}
	err = vfs.WriteFile(dir, place, func(w io.Writer) error {
		_, err := io.WriteString(w, contents)
		return err
	})
	if err != nil {
		return err
	}
	return dir.Sync()
}

// matchingFiles returns the files that match one or several patterns, in order.
func matchingFiles(c *engine.Call) error {
	if err := c.Need(1); err != nil {
		return err
	}
	in := c.In(0)
	if in.DType() != tensor.String || len(in.Shape()) > 1 {
		return fmt.Errorf("the patterns are %v%v, not a string or a vector of strings", in.DType(), in.Shape())
	}
	var all []string
	for _, pattern := range in.Strings() {
		list, err := c.Glob(c.Node(), pattern)
		if err != nil {
			return err
		}
		all = append(all, list...)
	}
	slices.Sort(all)
	c.Set(0, tensor.Vector(all...))
	return nil
}

// shardedFilespec returns the pattern that matches all shards of a checkpoint.
func shardedFilespec(c *engine.Call) error {
	if err := c.Need(2); err != nil {
		return err
	}
	base, err := text(c, 0, "the base name")
	if err != nil {
		return err
	}
	n, err := tensor.Item[int32](c.In(1))
	if err != nil {
		return err
	}
	c.Set(0, tensor.Scalar(fmt.Sprintf("%s-?????-of-%05d", base, n)))
	return nil
}
