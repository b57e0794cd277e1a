package bundle

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"slices"

	"github.com/cairnml/cairn/internal/pb"
	"github.com/cairnml/cairn/internal/table"
	"github.com/cairnml/cairn/internal/tensorproto"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/vfs"
)

// V1Part is a tensor of a version 1 checkpoint, or a slice of one.
type V1Part struct {
	// Name is the name of the whole tensor.
	Name string
	// Full is the shape of the whole tensor, and Slice the part that Tensor is.
	// Default: Tensor is the whole.
	Full  tensor.Shape
	Slice *Slice
	// Tensor has the elements.
	Tensor *tensor.Tensor
}

// WriteV1 writes a checkpoint of version 1, one table called name, byte for byte
// as TensorFlow's Save and SaveSlices do. New checkpoints are better written by a
// [Writer]: this form is for graphs of TensorFlow 1 that save so, and holds one
// encoded part at a time in memory. The file takes its name when it is whole and
// durable.
func WriteV1(ctx context.Context, dir vfs.Dir, name string, parts []V1Part) error {
	if err := checkPrefix(name); err != nil {
		return err
	}
	meta, rows, err := v1Rows(parts)
	if err != nil {
		return err
	}
	names := newSwap(dir)
	temp := name + newToken()
	if err := writeV1(ctx, dir, temp, meta, rows); err != nil {
		_ = dir.Remove(temp) // it may not be there
		return fmt.Errorf("bundle: write %s: %w", name, err)
	}
	if err := names.rename(temp, name); err != nil {
		return names.back(fmt.Errorf("bundle: rename %s: %w", temp, err))
	}
	if err := dir.Sync(); err != nil {
		return names.back(fmt.Errorf("bundle: make the name of %s durable: %w", name, err))
	}
	names.done()
	return nil
}

// v1Row is a slice with its key in the table.
type v1Row struct {
	key   []byte
	name  string
	slice Slice
	data  *tensor.Tensor
}

// v1Rows returns the list of tensors, in the order in which they come, and their
// slices in the order of their keys.
func v1Rows(parts []V1Part) (*pb.SavedTensorSliceMeta, []v1Row, error) {
	meta := &pb.SavedTensorSliceMeta{Versions: &pb.VersionDef{Producer: v1Producer}}
	byName := map[string]*pb.SavedSliceMeta{}
	rows := make([]v1Row, 0, len(parts))
	for _, p := range parts {
		d, full, s := p.Tensor.DType(), p.Tensor.Shape(), FullSlice(len(p.Tensor.Shape()))
		if p.Slice != nil {
			full, s = p.Full, *p.Slice
			if shape, err := s.Shape(full); err != nil {
				return nil, nil, fmt.Errorf("bundle: tensor %q: %w", p.Name, err)
			} else if !shape.Equal(p.Tensor.Shape()) {
				return nil, nil, fmt.Errorf("bundle: the slice %s of tensor %q%v is given %v", s, p.Name, full, p.Tensor.Shape())
			}
		}
		if p.Name == "" || !v1Writable(d) {
			return nil, nil, errUnsupported("tensor %q: elements of %v can't be written in version 1", p.Name, d)
		}
		m := byName[p.Name]
		if m == nil {
			m = &pb.SavedSliceMeta{Name: p.Name, Shape: tensorproto.EncodeShape(full), Type: pb.DataType(d)}
			byName[p.Name] = m
			meta.Tensor = append(meta.Tensor, m)
		}
		if before, err := tensorproto.Shape(m.Shape); err != nil || m.Type != pb.DataType(d) || !before.Equal(full) {
			return nil, nil, fmt.Errorf("bundle: tensor %q is %v%v in one part and %v%v in another", p.Name, tensor.DType(m.Type), before, d, full)
		}
		m.Slice = append(m.Slice, sliceProto(s))
		rows = append(rows, v1Row{key: appendSliceKey(nil, p.Name, s), name: p.Name, slice: s, data: p.Tensor})
	}
	slices.SortFunc(rows, func(a, b v1Row) int { return bytes.Compare(a.key, b.key) })
	for i := 1; i < len(rows); i++ {
		if bytes.Equal(rows[i].key, rows[i-1].key) {
			return nil, nil, fmt.Errorf("bundle: the slice %s of tensor %q is added twice", rows[i].slice, rows[i].name)
		}
	}
	return meta, rows, nil
}

// v1Producer is the version that TensorFlow writes (TF_CHECKPOINT_VERSION).
const v1Producer = 1

// v1Writable reports whether TensorFlow writes elements of the type in version 1.
func v1Writable(d tensor.DType) bool {
	switch d {
	case tensor.Float32, tensor.Float64, tensor.Float16, tensor.BFloat16, tensor.Bool, tensor.String, tensor.Complex64, tensor.Complex128,
		tensor.Int8, tensor.Int16, tensor.Int32, tensor.Int64, tensor.Uint8, tensor.Uint16,
		tensor.QInt8, tensor.QUint8, tensor.QInt16, tensor.QUint16, tensor.QInt32:
		return true
	}
	return false
}

// writeV1 writes a table as TensorFlow's TensorSliceWriter: first the list of tensors under the empty key, then
// the slices by their keys. rows are sorted by key.
func writeV1(ctx context.Context, dir vfs.Dir, temp string, meta *pb.SavedTensorSliceMeta, rows []v1Row) (err error) {
	f, err := dir.Create(temp)
	if err != nil {
		return err
	}
	defer func() {
		if e := f.Close(); err == nil {
			err = e
		}
	}()
	buf := bufio.NewWriterSize(f, 1<<18)
	w := table.NewWriter(buf)
	if err := w.Add(nil, (&pb.SavedTensorSlices{Meta: meta}).Marshal()); err != nil {
		return err
	}
	for _, r := range rows {
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		data, err := tensorproto.EncodeList(r.data)
		if err != nil {
			return fmt.Errorf("tensor %q: %w", r.name, err)
		}
		row := &pb.SavedTensorSlices{Data: &pb.SavedSlice{Name: r.name, Slice: sliceProto(r.slice), Data: data}}
		if err := w.Add(r.key, row.Marshal()); err != nil {
			return err
		}
	}
	if err := w.Finish(); err != nil {
		return err
	}
	if err := buf.Flush(); err != nil {
		return err
	}
	return f.Sync()
}
