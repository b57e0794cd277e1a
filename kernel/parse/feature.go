package parse

import (
	"errors"
	"fmt"
	"math"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/cairnml/cairn/tensor"
)

// Serialized features, for example.go, sequence.go, json.go and others.
// Features are read as by TensorFlow's fast parser
// (example_proto_fast_parsing.cc), and these oddities must stay: only the first
// list of a feature is read, and bytes after it are ignored; a list with
// another field than 1 is an error; a feature whose list is empty is present.

// values are the elements of a feature, of all examples one after the other.
type values struct {
	strs   []string
	floats []float32
	ints   []int64
}

// len returns the number of elements.
func (v *values) len() int { return len(v.strs) + len(v.floats) + len(v.ints) }

// tensor returns the elements, which are of type d, as a vector.
func (v *values) tensor(d tensor.DType) *tensor.Tensor {
	switch d {
	case tensor.String:
		return tensor.Vector(v.strs...)
	case tensor.Float32:
		return tensor.Vector(v.floats...)
	}
	return tensor.Vector(v.ints...)
}

// put writes all elements to t from element at on.
func (v *values) put(t *tensor.Tensor, at int) {
	switch t.DType() {
	case tensor.String:
		copy(t.Strings()[at:], v.strs)
	case tensor.Float32:
		copy(tensor.Values[float32](t)[at:], v.floats)
	case tensor.Int64:
		copy(tensor.Values[int64](t)[at:], v.ints)
	}
}

// clear drops the elements and keeps the memory.
func (v *values) clear() { v.strs, v.floats, v.ints = v.strs[:0], v.floats[:0], v.ints[:0] }

// errMessage is the error for bytes that aren't the expected protocol buffer.
var errMessage = errors.New("the message is damaged")

// fields calls f with every field of an encoded message: its number, its type
// and its bytes, without the length if the type has one.
func fields(b []byte, f func(num protowire.Number, typ protowire.Type, value []byte) error) error {
	for len(b) > 0 {
		num, typ, n := protowire.ConsumeTag(b)
		if n < 0 {
			return errMessage
		}
		b = b[n:]
		m := protowire.ConsumeFieldValue(num, typ, b)
		if m < 0 {
			return errMessage
		}
		value := b[:m]
		if typ == protowire.BytesType {
			value, _ = protowire.ConsumeBytes(b)
		}
		if err := f(num, typ, value); err != nil {
			return err
		}
		b = b[m:]
	}
	return nil
}

// entries calls f with the entries of the map in field 1 of a message. A field
// of another number or type is skipped, as in the fast parser.
func entries(b []byte, f func(key string, value []byte) error) error {
	return fields(b, func(num protowire.Number, typ protowire.Type, entry []byte) error {
		if num != 1 || typ != protowire.BytesType {
			return nil
		}
		var key string
		var value []byte
		err := fields(entry, func(num protowire.Number, typ protowire.Type, v []byte) error {
			switch {
			case typ != protowire.BytesType: // unknown, skipped
			case num == 1:
				key = string(v)
			case num == 2:
				value = v
			}
			return nil
		})
		if err != nil {
			return err
		}
		return f(key, value)
	})
}

// kinds are the types of a feature's lists by their field's number.
var kinds = map[protowire.Number]tensor.DType{1: tensor.String, 2: tensor.Float32, 3: tensor.Int64}

// kindOf returns the type of a feature, Invalid if it has no list.
func kindOf(feature []byte) (tensor.DType, error) {
	if len(feature) == 0 {
		return tensor.Invalid, nil
	}
	num, typ, n := protowire.ConsumeTag(feature)
	d, ok := kinds[num]
	if n < 0 || !ok || typ != protowire.BytesType {
		return 0, errMessage
	}
	return d, nil
}

// add appends a feature's elements, which must be of type d. It reports whether
// the feature has a list. An error may leave some of the elements in v.
func (v *values) add(feature []byte, d tensor.DType) (bool, error) {
	got, err := kindOf(feature)
	switch {
	case err != nil:
		return false, err
	case got == tensor.Invalid:
		return false, nil
	case got != d:
		return false, fmt.Errorf("it holds %v, not %v", got, d)
	}
	list, n := protowire.ConsumeBytes(feature[protowire.SizeTag(1):])
	if n < 0 {
		return false, errMessage
	}
	return true, fields(list, func(num protowire.Number, typ protowire.Type, b []byte) error {
		if num != 1 {
			return errMessage
		}
		switch {
		case d == tensor.String && typ == protowire.BytesType:
			v.strs = append(v.strs, string(b))
		case d == tensor.Float32 && typ == protowire.BytesType:
			if len(b)%4 != 0 {
				return errMessage
			}
			for ; len(b) > 0; b = b[4:] {
				x, _ := protowire.ConsumeFixed32(b)
				v.floats = append(v.floats, math.Float32frombits(x))
			}
		case d == tensor.Float32 && typ == protowire.Fixed32Type:
			x, _ := protowire.ConsumeFixed32(b)
			v.floats = append(v.floats, math.Float32frombits(x))
		case d == tensor.Int64 && typ == protowire.BytesType:
			for len(b) > 0 {
				x, n := protowire.ConsumeVarint(b)
				if n < 0 {
					return errMessage
				}
				v.ints = append(v.ints, int64(x))
				b = b[n:]
			}
		case d == tensor.Int64 && typ == protowire.VarintType:
			x, _ := protowire.ConsumeVarint(b)
			v.ints = append(v.ints, int64(x))
		default:
			return errMessage
		}
		return nil
	})
}
