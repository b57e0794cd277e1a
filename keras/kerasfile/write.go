package kerasfile

import (
	"archive/zip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/cairnml/cairn/hdf5"
	"github.com/cairnml/cairn/tensor"
)

// Write writes contents as a file of a format. The same contents produce the same bytes. Weights
// are asked for one after the other. Contents that the format can't hold are an error: a
// configuration in a file of weights, a training configuration or a backend in an archive, members
// in an HDF5 file.
func Write(ctx context.Context, out io.Writer, format Format, c *Contents) error {
	if err := c.check(format); err != nil {
		return err
	}
	var h hdf5.Writer
	if format.legacy() {
		if err := c.legacy(ctx, &h, format); err != nil {
			return err
		}
		return h.Write(ctx, out)
	}
	for i := range c.Groups {
		if err := writeObject(ctx, h.Root(), &c.Groups[i]); err != nil {
			return err
		}
	}
	if format == Weights {
		return h.Write(ctx, out)
	}
	return c.archive(ctx, out, &h)
}

// check returns an error if a format can't hold the contents.
func (c *Contents) check(format Format) error {
	lost := func(what string) error {
		return &UnsupportedError{Feature: fmt.Sprintf("%s in a file of the format %q", what, format)}
	}
	switch {
	case format < Archive || format > LegacyWeights:
		return fmt.Errorf("kerasfile: write: no such format (got %d)", int(format))
	case (format == Weights || format == LegacyWeights) && c.Config != nil:
		return lost("a configuration")
	case format != LegacyModel && c.TrainingConfig != nil:
		return lost("a training configuration")
	case format != Archive && c.Metadata != nil:
		return lost("metadata")
	case format != Archive && len(c.Members) > 0:
		return lost("assets")
	case !format.legacy() && len(c.Attributes) > 0:
		return lost("attributes of the file")
	case (format == Archive || format == LegacyModel) && !json.Valid(c.Config):
		return &FormatError{Name: "Config", What: "not valid JSON"}
	}
	seen := map[string]bool{}
	for _, g := range c.Groups {
		if seen[g.Path] {
			return &FormatError{Name: g.Path, What: "two groups have the path"}
		}
		seen[g.Path] = true
		names := map[string]bool{}
		for _, w := range g.Weights {
			if w.Name == "" || names[w.Name] {
				return &FormatError{Name: g.Path, What: fmt.Sprintf("two weights have the name %q, or it is empty", w.Name)}
			}
			names[w.Name] = true
		}
	}
	return nil
}

// writeObject makes the group of an object.
func writeObject(ctx context.Context, root *hdf5.GroupWriter, g *Group) error {
	vars, err := root.Group(path.Join(g.Path, varsName))
	if err != nil {
		return err
	}
	if g.Name != "" {
		if err := vars.SetAttribute("name", tensor.Scalar(g.Name), nil); err != nil {
			return err
		}
	}
	return writeGroup(ctx, vars, g)
}

// writeGroup makes the datasets and the other attributes of a group.
func writeGroup(ctx context.Context, in *hdf5.GroupWriter, g *Group) error {
	for _, w := range g.Weights {
		if err := writeWeight(ctx, in, w); err != nil {
			return err
		}
	}
	return setAttributes(in.SetAttribute, g.Attributes)
}

// setAttributes sets attributes, sorted by name.
func setAttributes(set func(string, *tensor.Tensor, *hdf5.ValueOptions) error, list map[string]*tensor.Tensor) error {
	var names []string
	for name := range list {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		if err := set(name, list[name], nil); err != nil {
			return err
		}
	}
	return nil
}

// described reports whether h5py stores elements of the type as numbers of HDF5, and not as
// opaque bytes.
func described(d tensor.DType) bool {
	return !(d == tensor.BFloat16 || d.Size() == 1 && d != tensor.Int8 && d != tensor.Uint8 && d != tensor.Bool)
}

// writeWeight makes the dataset of a weight. Numbers are read when the file is written, strings now,
// since their lengths decide the layout. Element types that numpy lacks are opaque bytes with
// their name as an attribute.
func writeWeight(ctx context.Context, in *hdf5.GroupWriter, w Weight) error {
	o := &hdf5.DatasetOptions{}
	o.Opaque = w.DType != tensor.String && !described(w.DType)
	var d *hdf5.DatasetWriter
	var err error
	if w.DType == tensor.String {
		var t *tensor.Tensor
		if t, err = w.Read(ctx); err == nil {
			d, err = in.Dataset(w.Name, t, o)
		}
	} else {
		d, err = in.DatasetFunc(w.Name, w.DType, w.Shape, w.Read, o)
	}
	if err != nil || !o.Opaque {
		return err
	}
	return d.SetAttribute("dtype", tensor.Scalar(w.DType.String()), nil)
}

// archive writes an archive with the weights of h.
func (c *Contents) archive(ctx context.Context, out io.Writer, h *hdf5.Writer) error {
	metadata := c.Metadata
	if metadata == nil {
		var err error
		if metadata, err = json.Marshal(map[string]string{"keras_version": c.KerasVersion}); err != nil {
			return err
		}
	}
	z := zip.NewWriter(out)
	create := func(name string) (io.Writer, error) {
		head := &zip.FileHeader{Name: name, Method: zip.Store}
		head.SetMode(0o600)
		return z.CreateHeader(head)
	}
	for _, m := range []struct {
		name string
		b    []byte
	}{{metadataName, metadata}, {configName, c.Config}} {
		w, err := create(m.name)
		if err == nil {
			_, err = w.Write(m.b)
		}
		if err != nil {
			return fmt.Errorf("kerasfile: write %s: %w", m.name, err)
		}
	}
	w, err := create(weightsName)
	if err != nil {
		return fmt.Errorf("kerasfile: write %s: %w", weightsName, err)
	}
	if err := h.Write(ctx, w); err != nil {
		return err
	}
	taken := map[string]bool{metadataName: true, configName: true, weightsName: true}
	for _, m := range c.Members {
		if !strings.HasPrefix(m.Name, "assets/") || path.Clean(m.Name) != m.Name || strings.ContainsAny(m.Name, "\\:\x00") || taken[m.Name] {
			return &FormatError{Name: m.Name, What: "a member must have a separate path below assets/"}
		}
		taken[m.Name] = true
		if err := copyMember(ctx, create, m); err != nil {
			return fmt.Errorf("kerasfile: write %s: %w", m.Name, err)
		}
	}
	if err := z.Close(); err != nil {
		return fmt.Errorf("kerasfile: write: %w", err)
	}
	return nil
}

func copyMember(ctx context.Context, create func(string) (io.Writer, error), m Member) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	r, err := m.Open()
	if err != nil {
		return err
	}
	defer r.Close()
	w, err := create(m.Name)
	if err != nil {
		return err
	}
	_, err = io.Copy(w, within{ctx, r})
	return err
}
