package kerasfile

import (
	"context"
	"fmt"

	"github.com/cairnml/cairn/hdf5"
	"github.com/cairnml/cairn/tensor"
)

// legacy makes the groups of a legacy file. The order of attributes and groups decides the bytes and
// is that of tf_keras's hdf5_format.save_model_to_hdf5.
func (c *Contents) legacy(ctx context.Context, h *hdf5.Writer, format Format) error {
	root := h.Root()
	ascii := &hdf5.ValueOptions{Text: hdf5.VariableASCII}
	text := func(g *hdf5.GroupWriter, name, value string) error {
		if value == "" {
			return nil
		}
		return g.SetAttribute(name, tensor.Scalar(value), ascii)
	}
	versions := func(g *hdf5.GroupWriter) error {
		if err := text(g, "backend", c.Backend); err != nil {
			return err
		}
		return text(g, "keras_version", c.KerasVersion)
	}
	weights := root
	if format == LegacyModel {
		if err := versions(root); err != nil {
			return err
		}
		if err := text(root, "model_config", string(c.Config)); err != nil {
			return err
		}
		if err := text(root, "training_config", string(c.TrainingConfig)); err != nil {
			return err
		}
		var err error
		if weights, err = root.Group("model_weights"); err != nil {
			return err
		}
	}
	if err := setAttributes(root.SetAttribute, c.Attributes); err != nil {
		return err
	}
	var layers []string
	for _, g := range c.Groups {
		if g.Path != TopLevel && g.Path != OptimizerWeights {
			layers = append(layers, g.Path)
		}
	}
	if err := setNames(weights, "layer_names", layers); err != nil {
		return err
	}
	if err := versions(weights); err != nil {
		return err
	}
	for i := range c.Groups {
		g := &c.Groups[i]
		in := weights
		switch {
		case g.Path == "":
			return &FormatError{What: "a layer without a name"}
		case g.Path == OptimizerWeights && format == LegacyWeights:
			return &UnsupportedError{g.Path, "the optimizer's weights in a file of weights"}
		case g.Path == OptimizerWeights:
			in = root
		}
		group, err := in.Group(g.Path)
		if err != nil {
			return err
		}
		var names []string
		for _, w := range g.Weights {
			names = append(names, w.Name)
		}
		if err := setNames(group, "weight_names", names); err != nil {
			return err
		}
		if err := writeGroup(ctx, group, g); err != nil {
			return err
		}
	}
	return nil
}

// maxVariable is the largest number of strings of varying length in an attribute: HDF5 limits an
// attribute to 64 KiB, and each string takes 16 bytes in it.
const maxVariable = 4000

// setNames stores a list of names as Keras does. A list too long for an attribute is divided among
// several, as strings of a fixed size. An empty list is stored as an empty list of numbers.
func setNames(g *hdf5.GroupWriter, name string, list []string) error {
	if len(list) == 0 {
		return g.SetAttribute(name, tensor.Must(tensor.Zeros(tensor.Float64, 0)), nil)
	}
	longest := 1
	for _, s := range list {
		longest = max(longest, len(s))
	}
	if longest > maxNames {
		return &UnsupportedError{Feature: fmt.Sprintf("a name of %d bytes (the most is %d)", longest, maxNames)}
	}
	if len(list)*longest <= maxNames && len(list) <= maxVariable {
		return g.SetAttribute(name, tensor.Vector(list...), &hdf5.ValueOptions{Text: hdf5.VariableASCII})
	}
	// As numpy's array_split into n parts: the first ones are longer by one.
	n := 1
	for (len(list)+n-1)/n*longest > maxNames {
		n++
	}
	n = max(n, 2)
	all := len(list)
	for i := range n {
		size := all / n
		if i < all%n {
			size++
		}
		part := list[:size]
		list = list[size:]
		if err := g.SetAttribute(fmt.Sprint(name, i), tensor.Vector(part...), &hdf5.ValueOptions{Text: hdf5.FixedASCII}); err != nil {
			return err
		}
	}
	return nil
}
