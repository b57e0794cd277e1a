package graph

import (
	"github.com/cairnml/cairn/internal/pb"
	"github.com/cairnml/cairn/tensor"
)

// The fields of a list of shapes in an AttrValue.
const (
	fieldList     = 1 // of an AttrValue
	fieldShapes   = 7 // of a list
	fieldDim      = 2 // of a shape
	fieldUnranked = 3
	fieldSize     = 1 // of a dimension
)

// shapesOf returns an encoded attribute value that is a list of shapes with
// nothing but sizes. Most nodes of a file have one, _output_shapes, whose
// message takes many times the memory of its sizes. ok is false for all other
// values, invalid ones too.
func shapesOf(value []byte) (list []PartialShape, ok bool) {
	v := pb.Fields{Rest: value}
	if !v.Next() || v.Number != fieldList || v.Bytes == nil || len(v.Rest) > 0 || v.Passed {
		return nil, false
	}
	shapes, dims := 0, 0
	for l := (pb.Fields{Rest: v.Bytes}); ; shapes++ {
		if !l.Next() {
			if l.Bad || l.Passed || shapes == 0 {
				return nil, false
			}
			break
		}
		if l.Number != fieldShapes || l.Bytes == nil {
			return nil, false
		}
		rank, unranked := 0, false
		s := pb.Fields{Rest: l.Bytes}
		for s.Next() {
			switch {
			case s.Number == fieldDim && s.Bytes != nil && onlySize(s.Bytes):
				rank++
			case s.Number == fieldUnranked && s.Bytes == nil:
				unranked = s.Varint != 0
			default:
				return nil, false
			}
		}
		if s.Bad || s.Passed || unranked && rank > 0 || rank > tensor.MaxRank {
			return nil, false
		}
		dims += rank
	}
	list, sizes := make([]PartialShape, 0, shapes), make(tensor.Shape, 0, dims)
	for l := (pb.Fields{Rest: v.Bytes}); l.Next(); {
		from, shape := len(sizes), PartialShape{known: true}
		for s := (pb.Fields{Rest: l.Bytes}); s.Next(); {
			if s.Number == fieldUnranked {
				shape.known = s.Varint == 0
				continue
			}
			var size int64
			for d := (pb.Fields{Rest: s.Bytes}); d.Next(); {
				size = int64(d.Varint)
			}
			if size < -1 || int64(int(size)) != size {
				return nil, false
			}
			sizes = append(sizes, int(size))
		}
		if shape.known {
			shape.dims = sizes[from:len(sizes):len(sizes)]
		}
		list = append(list, shape)
	}
	return list, true
}

// onlySize reports whether an encoded dimension has no field but its size.
func onlySize(dim []byte) bool {
	d := pb.Fields{Rest: dim}
	for d.Next() {
		if d.Number != fieldSize || d.Bytes != nil {
			return false
		}
	}
	return !d.Bad && !d.Passed
}
