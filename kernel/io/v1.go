package io

import (
	"fmt"

	"github.com/cairnml/cairn/bundle"
	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/tensor"
)

// The kernels of Save, SaveSlices, Restore and RestoreSlice.

// saveV1 writes a V1 checkpoint, one table with all tensors. With slices, for SaveSlices,
// input 2 has each tensor's shape-and-slice; it is empty for a whole tensor.
func saveV1(slices bool) func(*engine.Call) error {
	first := 2
	if slices {
		first = 3
	}
	return func(c *engine.Call) error {
		if c.NumIn() < first {
			return fmt.Errorf("takes a file's name, tensors' names and tensors")
		}
		if err := c.NeedTensors(0); err != nil {
			return err
		}
		file, err := text(c, 0, "the file's name")
		if err != nil {
			return err
		}
		for i := 1; i < first; i++ {
			if t := c.In(i); t.DType() != tensor.String || len(t.Shape()) != 1 || t.Len() != c.NumIn()-first {
				return fmt.Errorf("there are %d tensors for the %v%v of input %d", c.NumIn()-first, t.DType(), t.Shape(), i)
			}
		}
		dir, place, err := c.Writing(file)
		if err != nil {
			return err
		}
		parts := make([]bundle.V1Part, c.NumIn()-first)
		for i := range parts {
			parts[i] = bundle.V1Part{Name: c.In(1).Strings()[i], Tensor: c.In(first + i)}
			if !slices || c.In(2).Strings()[i] == "" {
				continue
			}
			var part bundle.Slice
			if parts[i].Full, part, err = bundle.ParseShapeAndSlice(c.In(2).Strings()[i]); err != nil {
				return err
			}
			parts[i].Slice = &part
		}
		return bundle.WriteV1(c.Context(), dir, place, parts)
	}
}

// restoreV1 reads one tensor or, with slices, the part of it in input 2, from
// the files that match a pattern.
func restoreV1(slices bool) func(*engine.Call) error {
	n := 2
	if slices {
		n = 3
	}
	return func(c *engine.Call) error {
		if err := c.Need(n); err != nil {
			return err
		}
		file, err := text(c, 0, "the file's name")
		if err != nil {
			return err
		}
		name, err := text(c, 1, "the tensor's name")
		if err != nil {
			return err
		}
		spec := ""
		if slices {
			if spec, err = text(c, 2, "the shape and slice"); err != nil {
				return err
			}
		}
		fsys, place, err := c.Reading(file)
		if err != nil {
			return err
		}
		r, err := bundle.Open(c.Context(), fsys, place, nil)
		if err != nil {
			return err
		}
		defer r.Close()
		t, err := readPart(c, r, name, spec)
		if err != nil {
			return err
		}
		if d := c.Attrs().Type("dt", t.DType()); d != t.DType() {
			return fmt.Errorf("the tensor %q is %v, not %v", name, t.DType(), d)
		}
		c.Set(0, t)
		return nil
	}
}

// readPart returns a tensor, or the part that a text with shape and slice
// describes.
func readPart(c *engine.Call, r *bundle.Reader, name, spec string) (*tensor.Tensor, error) {
	if spec == "" {
		return r.Read(c.Context(), name)
	}
	full, part, err := bundle.ParseShapeAndSlice(spec)
	if err != nil {
		return nil, err
	}
	if e, ok := r.Entry(name); ok && !e.Shape.Equal(full) {
		return nil, fmt.Errorf("the tensor %q has shape %v, its shape-and-slice says %v", name, e.Shape, full)
	}
	return r.ReadSlice(c.Context(), name, part)
}
