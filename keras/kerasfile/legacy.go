package kerasfile

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/cairnml/cairn/hdf5"
	"github.com/cairnml/cairn/tensor"
)

// maxNames is the largest number of bytes of a list of names in one attribute: tf_keras's
// HDF5_OBJECT_HEADER_LIMIT.
const maxNames = 64512

// readLegacy lists the layers of a model or of a file of weights.
func (f *File) readLegacy() error {
	root := f.h5.Root()
	attributes, err := attributesOf(root)
	if err != nil {
		return err
	}
	text := func(name string) string {
		t := attributes[name]
		if t == nil || t.DType() != tensor.String || t.Len() != 1 {
			return ""
		}
		delete(attributes, name)
		return t.Strings()[0]
	}
	f.KerasVersion, f.Backend = text("keras_version"), text("backend")
	if s := text("model_config"); s != "" {
		f.Config = []byte(s)
	}
	if s := text("training_config"); s != "" {
		f.TrainingConfig = []byte(s)
	}
	weights := root
	if f.Format == LegacyModel {
		if weights, err = root.Group("model_weights"); err != nil {
			return err
		}
	}
	names, err := nameList(weights, "layer_names")
	if err != nil {
		return err
	}
	if f.Format == LegacyWeights {
		for name := range attributes {
			if rest, ok := strings.CutPrefix(name, "layer_names"); ok && strings.Trim(rest, "0123456789") == "" {
				delete(attributes, name)
			}
		}
	}
	if len(attributes) > 0 {
		f.Attributes = attributes
	}
	seen, listed := map[string]bool{}, map[string]bool{}
	add := func(in *hdf5.Group, path string) error {
		if seen[path] {
			return &FormatError{Name: path, What: "the layer is listed twice"}
		}
		seen[path] = true
		g, err := legacyGroup(in, path, listed)
		if err != nil {
			return err
		}
		f.Groups = append(f.Groups, *g)
		return nil
	}
	for _, name := range names {
		if err := add(weights, name); err != nil {
			return err
		}
	}
	switch _, err := weights.Group(TopLevel); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return err
	default:
		if err := add(weights, TopLevel); err != nil {
			return err
		}
	}
	if f.Format == LegacyModel {
		switch _, err := root.Group(OptimizerWeights); {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return err
		default:
			if err := add(root, OptimizerWeights); err != nil {
				return err
			}
		}
	}
	return root.Walk(func(o hdf5.Object) error { // an unlisted weight would be lost
		if _, ok := o.(*hdf5.Dataset); ok && !listed[o.Path()] {
			return &UnsupportedError{o.Path(), "a dataset that no list of weights has"}
		}
		return nil
	})
}

// legacyGroup lists the weights of one layer, in the order of the attribute weight_names, and notes
// the paths of their datasets.
func legacyGroup(in *hdf5.Group, path string, listed map[string]bool) (*Group, error) {
	group, err := in.Group(path)
	if err != nil {
		return nil, err
	}
	names, err := nameList(group, "weight_names")
	if err != nil {
		return nil, err
	}
	g := &Group{Path: path, Name: path}
	for _, name := range names {
		d, err := group.Dataset(name)
		if err != nil {
			return nil, err
		}
		w, err := weight(name, d)
		if err != nil {
			return nil, err
		}
		if listed[d.Path()] {
			return nil, &FormatError{Name: d.Path(), What: "the weight is listed twice"}
		}
		listed[d.Path()] = true
		g.Weights = append(g.Weights, w)
	}
	if g.Attributes, err = attributesOf(group); err != nil {
		return nil, err
	}
	for name := range g.Attributes {
		if rest, ok := strings.CutPrefix(name, "weight_names"); ok && strings.Trim(rest, "0123456789") == "" {
			delete(g.Attributes, name)
		}
	}
	return g, nil
}

// nameList returns the strings of an attribute, or of those into which it was divided: name0, name1
// and so on. tf_keras's hdf5_format.load_attributes_from_hdf5_group reads them so.
func nameList(g *hdf5.Group, name string) ([]string, error) {
	list, err := g.Attributes()
	if err != nil {
		return nil, err
	}
	byName := map[string]*hdf5.Attribute{}
	for _, a := range list {
		byName[a.Name()] = a
	}
	if a := byName[name]; a != nil {
		return a.Texts()
	}
	var names []string
	for i := 0; ; i++ {
		a := byName[fmt.Sprint(name, i)]
		if a == nil {
			if i == 0 {
				return nil, &FormatError{Name: g.Path(), What: fmt.Sprintf("no attribute %s", name)}
			}
			return names, nil
		}
		part, err := a.Texts()
		if err != nil {
			return nil, err
		}
		names = append(names, part...)
	}
}
