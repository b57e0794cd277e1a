// Package io implements the kernels that read and write checkpoints and other files,
// and those that make summaries. They open files only through the call's grant.
package io

import (
	"fmt"

	"github.com/cairnml/cairn/bundle"
	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/tensor"
)

// Kernels returns the family's table.
func Kernels() []engine.Kernel {
	return []engine.Kernel{
		{Op: "SaveV2", Run: save},
		{Op: "RestoreV2", Run: restore},
		{Op: "MergeV2Checkpoints", Run: merge},
		{Op: "LoadAndRemapMatrix", Prepare: loadAndRemap},
		{Op: "Save", Run: saveV1(false)},
		{Op: "SaveSlices", Run: saveV1(true)},
		{Op: "Restore", Run: restoreV1(false)},
		{Op: "RestoreSlice", Run: restoreV1(true)},
		{Op: "ShardedFilename", Run: shardedFilename},
		{Op: "ShardedFilespec", Run: shardedFilespec},
		{Op: "ReadFile", Run: readFile},
		{Op: "WriteFile", Run: writeFile},
		{Op: "MatchingFiles", Run: matchingFiles},
		{Op: "ScalarSummary", Run: scalarSummary},
		{Op: "HistogramSummary", Run: histogramSummary},
		{Op: "MergeSummary", Run: mergeSummary},
		{Op: "TensorSummary", Run: tensorSummary},
		{Op: "TensorSummaryV2", Run: tensorSummaryV2},
		{Op: "SummaryWriter", Prepare: summaryWriter},
		{Op: "CreateSummaryFileWriter", Run: openWriter},
		{Op: "FlushSummaryWriter", Run: flushWriter},
		{Op: "CloseSummaryWriter", Run: closeWriter},
		{Op: "WriteScalarSummary", Run: writeTagged(scalarOf)},
		{Op: "WriteHistogramSummary", Run: writeTagged(histogramOf)},
		{Op: "WriteSummary", Run: writeTensor},
		{Op: "WriteRawProtoSummary", Run: writeRaw},
		{Op: "WriteGraphSummary", Run: writeGraph},
		{Op: "ImportEvent", Run: importEvent},
	}
}

// text returns the only string of input i. Another type or number of elements is an error,
// and what is the input's name in it.
func text(c *engine.Call, i int, what string) (string, error) {
	t := c.In(i)
	if t.DType() != tensor.String || t.Len() != 1 {
		return "", fmt.Errorf("%s is %v%v, not a string", what, t.DType(), t.Shape())
	}
	return t.Strings()[0], nil
}

// named returns the prefix, the names and the specs, which are the first inputs
// of SaveV2 and RestoreV2.
func named(c *engine.Call) (prefix string, names, specs []string, err error) {
	if c.NumIn() < 3 {
		return "", nil, nil, fmt.Errorf("takes a prefix, names and shapes-and-slices")
	}
	if err := c.NeedTensors(0); err != nil {
		return "", nil, nil, err
	}
	if prefix, err = text(c, 0, "the prefix"); err != nil {
		return "", nil, nil, err
	}
	n, s := c.In(1), c.In(2)
	if n.DType() != tensor.String || s.DType() != tensor.String || n.Len() != s.Len() || len(n.Shape()) != 1 || len(s.Shape()) != 1 {
		return "", nil, nil, fmt.Errorf("the names are %v%v and the shapes-and-slices %v%v, not two string vectors of one length", n.DType(), n.Shape(), s.DType(), s.Shape())
	}
	return prefix, n.Strings(), s.Strings(), nil
}

// save writes a bundle. Input 0 is the prefix, 1 the names, then the shapes-and-slices, then the
// tensors. A shape-and-slice describes a slice; it is empty for a whole tensor. An error leaves
// the old files.
func save(c *engine.Call) error {
	prefix, names, specs, err := named(c)
	if err != nil {
		return err
	}
	if got := c.NumIn() - 3; got != len(names) {
		return fmt.Errorf("there are %d names for %d tensors", len(names), got)
	}
	dir, place, err := c.Writing(prefix)
	if err != nil {
		return err
	}
	w, err := bundle.NewWriter(dir, place, nil)
	if err != nil {
		return err
	}
	defer func() { _ = w.Abort() }() // after Finish it has no effect
	for i, name := range names {
		t := c.In(i + 3)
		if specs[i] == "" {
			err = w.Add(c.Context(), name, t)
		} else {
			var full tensor.Shape
			var part bundle.Slice
			if full, part, err = bundle.ParseShapeAndSlice(specs[i]); err == nil {
				err = w.AddSlice(c.Context(), name, full, part, t)
			}
		}
		if err != nil {
			return err
		}
	}
	return w.Finish(c.Context())
}

// restore reads tensors of a bundle, or of a V1 checkpoint, which bundle.Open reads, too.
func restore(c *engine.Call) error {
	prefix, names, specs, err := named(c)
	if err != nil {
		return err
	}
	types := c.Attrs().Types("dtypes")
	if len(types) != len(names) {
		return fmt.Errorf("there are %d names for %d dtypes", len(names), len(types))
	}
	fsys, place, err := c.Reading(prefix)
	if err != nil {
		return err
	}
	r, err := bundle.Open(c.Context(), fsys, place, nil)
	if err != nil {
		return err
	}
	defer r.Close()
	reqs := make([]bundle.ReadRequest, len(names))
	for i, name := range names {
		reqs[i].Name = name
		if specs[i] == "" {
			continue
		}
		full, part, err := bundle.ParseShapeAndSlice(specs[i])
		if err != nil {
			return err
		}
		if e, ok := r.Entry(name); ok && !e.Shape.Equal(full) {
			return fmt.Errorf("the tensor %q has shape %v, its shape-and-slice says %v", name, e.Shape, full)
		}
		reqs[i].Slice = &part
	}
	if err := r.ReadAll(c.Context(), reqs, nil); err != nil {
		return err
	}
	for i, req := range reqs {
		if d := req.Dst.DType(); d != types[i] {
			return fmt.Errorf("the tensor %q is %v, not %v", names[i], d, types[i])
		}
		c.Set(i, req.Dst)
	}
	return nil
}

// merge joins the bundles of several prefixes to one.
func merge(c *engine.Call) error {
	if err := c.Need(2); err != nil {
		return err
	}
	if d := c.In(0).DType(); d != tensor.String {
		return fmt.Errorf("the prefixes are %v, not strings", d)
	}
	dst, err := text(c, 1, "the destination")
	if err != nil {
		return err
	}
	dir, to, err := c.Writing(dst)
	if err != nil {
		return err
	}
	from := make([]string, c.In(0).Len())
	for i, prefix := range c.In(0).Strings() {
		if _, from[i], err = c.Writing(prefix); err != nil {
			return err
		}
	}
	// delete_old_dirs is true by default
	keep := c.Attrs().Has("delete_old_dirs") && !c.Attrs().Bool("delete_old_dirs")
	return bundle.Merge(c.Context(), dir, to, from, &bundle.MergeOptions{
		KeepSources: keep, AllowMissing: c.Attrs().Bool("allow_missing_files"),
	})
}

// shardedFilename returns the name of a shard.
func shardedFilename(c *engine.Call) error {
	if err := c.Need(3); err != nil {
		return err
	}
	base, err := text(c, 0, "the base name")
	if err != nil {
		return err
	}
	var n [2]int32
	for i := range n {
		v, err := tensor.Item[int32](c.In(i + 1))
		if err != nil {
			return err
		}
		n[i] = v
	}
	c.Set(0, tensor.Scalar(fmt.Sprintf("%s-%05d-of-%05d", base, n[0], n[1])))
	return nil
}
