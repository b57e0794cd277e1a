package bundle

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/cairnml/cairn/internal/pb"
	"github.com/cairnml/cairn/tensor"
)

// An Extent is a slice's part of one dimension.
type Extent struct {
	Start  int64 // the first index
	Length int64 // the number of indices; 0 if Full
	Full   bool  // the whole dimension, written "-"
}

// String returns "start,length", or "-" for a full extent.
func (e Extent) String() string {
	if e.Full {
		return "-"
	}
	return strconv.FormatInt(e.Start, 10) + "," + strconv.FormatInt(e.Length, 10)
}

// A Slice is a rectangular part of a tensor: an extent for each dimension.
type Slice struct {
	Extents []Extent
}

// FullSlice returns the slice that takes all of a tensor with rank dimensions.
func FullSlice(rank int) Slice {
	s := Slice{Extents: make([]Extent, rank)}
	for i := range s.Extents {
		s.Extents[i].Full = true
	}
	return s
}

// String returns TensorFlow's way to write a slice: the extents joined by ":",
// as in "0,5:-".
func (s Slice) String() string {
	parts := make([]string, len(s.Extents))
	for i, e := range s.Extents {
		parts[i] = e.String()
	}
	return strings.Join(parts, ":")
}

// ParseSlice reads a slice as [Slice.String] writes it, "0,5:-". An empty text has no extents.
func ParseSlice(text string) (Slice, error) {
	var s Slice
	if text == "" {
		return s, nil
	}
	for i, part := range strings.Split(text, ":") {
		if part == "-" {
			s.Extents = append(s.Extents, Extent{Full: true})
			continue
		}
		a, b, ok := strings.Cut(part, ",")
		if !ok {
			return Slice{}, fmt.Errorf(`bundle: slice %q: dimension %d is %q, want "-" or "start,length"`, text, i, part)
		}
		start, err1 := strconv.ParseInt(a, 10, 64)
		length, err2 := strconv.ParseInt(b, 10, 64)
		if err1 != nil || err2 != nil || start < 0 || length <= 0 {
			return Slice{}, fmt.Errorf(`bundle: slice %q: dimension %d is %q, want "start,length" with start 0 or more and length 1 or more`, text, i, part)
		}
		s.Extents = append(s.Extents, Extent{Start: start, Length: length})
	}
	return s, nil
}

// ParseShapeAndSlice reads TensorFlow's shape_and_slice: the whole tensor's
// sizes and then the slice, separated by spaces, as in "10 5 0,5:-". An empty
// text means the whole tensor: the shape is nil and the slice has no extents.
func ParseShapeAndSlice(text string) (tensor.Shape, Slice, error) {
	if text == "" {
		return nil, Slice{}, nil
	}
	fields := strings.Split(text, " ")
	shape := tensor.Shape{}
	for _, f := range fields[:len(fields)-1] {
		n, err := strconv.Atoi(f)
		if err != nil || n < 0 {
			return nil, Slice{}, fmt.Errorf("bundle: shape and slice %q: %q is no size", text, f)
		}
		shape = append(shape, n)
	}
	s, err := ParseSlice(fields[len(fields)-1])
	if err != nil {
		return nil, Slice{}, err
	}
	if _, err := s.Shape(shape); err != nil {
		return nil, Slice{}, err
	}
	return shape, s, nil
}

// Shape returns the shape of the slice taken out of a tensor of shape full. A
// slice of another rank, or one that reaches beyond full, is an error.
func (s Slice) Shape(full tensor.Shape) (tensor.Shape, error) {
	shape, err := s.of(full)
	if err != nil {
		return nil, fmt.Errorf("bundle: %w", err)
	}
	return shape, nil
}

// of works like Shape, with an error in words only.
func (s Slice) of(full tensor.Shape) (tensor.Shape, error) {
	if len(s.Extents) != len(full) {
		return nil, fmt.Errorf("slice %q has %d dimensions, the tensor %v has %d", s, len(s.Extents), full, len(full))
	}
	out := make(tensor.Shape, len(full))
	for i, e := range s.Extents {
		switch n := int64(full[i]); {
		case e.Full:
			out[i] = full[i]
		case e.Start < 0 || e.Length < 0 || e.Start > n || e.Length > n-e.Start:
			return nil, fmt.Errorf("slice %q reaches beyond the tensor %v in dimension %d", s, full, i)
		default:
			out[i] = int(e.Length)
		}
	}
	return out, nil
}

// sliceProto returns s as the index holds it: a full extent is an empty message.
func sliceProto(s Slice) *pb.TensorSliceProto {
	m := &pb.TensorSliceProto{Extent: make([]*pb.Extent, len(s.Extents))}
	for i, e := range s.Extents {
		m.Extent[i] = &pb.Extent{}
		if !e.Full {
			*m.Extent[i] = pb.Extent{Start: e.Start, Length: e.Length, HasLength: true}
		}
	}
	return m
}

// parseSlice returns a slice of a tensor of shape full from the index.
func parseSlice(m *pb.TensorSliceProto, full tensor.Shape) (Slice, error) {
	s := Slice{Extents: make([]Extent, len(m.Extent))}
	for i, e := range m.Extent {
		switch {
		case !e.HasLength && e.Start == 0:
			s.Extents[i].Full = true
		case !e.HasLength:
			return Slice{}, fmt.Errorf("the extent of dimension %d starts at %d and has no length", i, e.Start)
		case e.Start < 0 || e.Length < 0:
			return Slice{}, fmt.Errorf("the extent of dimension %d is negative: start %d, length %d", i, e.Start, e.Length)
		case e.Start > math.MaxInt64-e.Length:
			return Slice{}, fmt.Errorf("the extent of dimension %d overflows: start %d, length %d", i, e.Start, e.Length)
		default:
			s.Extents[i] = Extent{Start: e.Start, Length: e.Length}
		}
	}
	if _, err := s.of(full); err != nil {
		return Slice{}, err
	}
	return s, nil
}

// parseShape returns a shape from a version 1 checkpoint, and its number of elements. The rank
// must be known, and the number must fit 64 bits. The caller checks that the number fits
// this platform's int.
func parseShape(m *pb.TensorShapeProto) (shape tensor.Shape, elements int64, err error) {
	if m == nil {
		return tensor.Shape{}, 1, nil
	}
	f := shapeFields{unknown: m.UnknownRank, more: max(len(m.Dim)-tensor.MaxRank, 0)}
	for _, d := range m.Dim[:min(len(m.Dim), tensor.MaxRank)] {
		f.dims = append(f.dims, d.Size)
	}
	return f.shape(nil)
}
