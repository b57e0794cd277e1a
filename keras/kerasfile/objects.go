package kerasfile

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/cairnml/cairn/hdf5"
	"github.com/cairnml/cairn/tensor"
)

// varsName is the group with an object's variables.
const varsName = "vars"

// readObjects lists the groups of a file that has objects by path: .weights.h5, and the one in an
// archive. A dataset outside of a group "vars" belongs to the group that it is in.
func (f *File) readObjects() error {
	groups := map[string]*Group{}
	group := func(dir string) *Group {
		p := strings.TrimPrefix(dir, "/")
		if path.Base(p) == varsName {
			p = strings.TrimPrefix(path.Dir("/"+p), "/")
		}
		if groups[p] == nil {
			groups[p] = &Group{Path: p}
		}
		return groups[p]
	}
	err := f.h5.Root().Walk(func(o hdf5.Object) error {
		switch o := o.(type) {
		case *hdf5.Group:
			if path.Base(o.Path()) != varsName {
				return nil
			}
			g := group(o.Path())
			var err error
			g.Attributes, err = attributesOf(o)
			if name := g.Attributes["name"]; name != nil && name.DType() == tensor.String && name.Len() == 1 {
				g.Name = name.Strings()[0]
				delete(g.Attributes, "name")
			}
			return err
		case *hdf5.Dataset:
			w, err := weight(path.Base(o.Path()), o)
			if err != nil {
				return err
			}
			g := group(path.Dir(o.Path()))
			g.Weights = append(g.Weights, w)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, g := range groups {
		slices.SortFunc(g.Weights, func(a, b Weight) int { return compareNames(a.Name, b.Name) })
		f.Groups = append(f.Groups, *g)
	}
	slices.SortFunc(f.Groups, func(a, b Group) int { return cmp.Compare(a.Path, b.Path) })
	return nil
}

// compareNames orders variables: numbers by their values, before other names.
func compareNames(a, b string) int {
	x, errA := strconv.ParseUint(a, 10, 64)
	y, errB := strconv.ParseUint(b, 10, 64)
	switch {
	case errA == nil && errB == nil && x != y:
		return cmp.Compare(x, y)
	case (errA == nil) != (errB == nil):
		if errA == nil {
			return -1
		}
		return 1
	}
	return cmp.Compare(a, b)
}

// attributesOf returns an object's attributes.
func attributesOf(o hdf5.Object) (map[string]*tensor.Tensor, error) {
	list, err := o.Attributes()
	if err != nil || len(list) == 0 {
		return nil, err
	}
	out := map[string]*tensor.Tensor{}
	for _, a := range list {
		if a.Null() {
			continue
		}
		if out[a.Name()], err = a.Value(); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Tensors lists all datasets of an HDF5 file, sorted by path, whether Keras wrote it or not. Their
// names are their paths, as "layers/dense/vars/0".
func Tensors(h *hdf5.File) ([]Weight, error) {
	var list []Weight
	err := h.Root().Walk(func(o hdf5.Object) error {
		d, ok := o.(*hdf5.Dataset)
		if !ok {
			return nil
		}
		w, err := weight(strings.TrimPrefix(d.Path(), "/"), d)
		if err != nil {
			return err
		}
		list = append(list, w)
		return nil
	})
	slices.SortFunc(list, func(a, b Weight) int { return cmp.Compare(a.Path, b.Path) })
	return list, err
}

// SetTensor makes a dataset at a path of an HDF5 file, as Keras stores a weight: elements of types
// that numpy lacks are opaque bytes, with the attribute dtype.
func SetTensor(ctx context.Context, root *hdf5.GroupWriter, w Weight) error {
	return writeWeight(ctx, root, w)
}

// weight describes a dataset. Opaque elements have the type that the attribute dtype names, as
// Keras stores bfloat16.
func weight(name string, d *hdf5.Dataset) (Weight, error) {
	w := Weight{Name: name, DType: d.Type().DType, Shape: d.Shape(), Path: strings.TrimPrefix(d.Path(), "/"), Read: d.Read, ReadInto: d.ReadInto}
	if d.Type().Class == hdf5.Opaque {
		a, err := d.Attribute("dtype")
		if err != nil {
			return w, &UnsupportedError{d.Path(), fmt.Sprintf("%v without the attribute dtype", d.Type())}
		}
		text, err := a.Text()
		if err != nil {
			return w, err
		}
		if w.DType, err = tensor.ParseDType(text); err != nil || w.DType.Size() != d.Type().Size {
			return w, &UnsupportedError{d.Path(), fmt.Sprintf("%v as elements of type %.40q", d.Type(), text)}
		}
		w.Read, w.ReadInto = func(ctx context.Context) (*tensor.Tensor, error) { return readOpaque(ctx, d, w.DType) }, nil
	}
	if w.DType == tensor.Invalid || d.Null() {
		return w, &UnsupportedError{d.Path(), fmt.Sprintf("weights that are %v", d.Type())}
	}
	return w, nil
}

// readOpaque reads elements that HDF5 does not know the type of, which are little-endian.
func readOpaque(ctx context.Context, d *hdf5.Dataset, dtype tensor.DType) (*tensor.Tensor, error) {
	b, err := d.ReadRaw(ctx)
	if err != nil {
		return nil, err
	}
	t, err := tensor.Zeros(dtype, d.Shape()...)
	if err != nil {
		return nil, err
	}
	copy(t.Bytes(), b)
	toHost(t)
	return t, nil
}
