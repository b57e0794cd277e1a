package parse

import (
	"fmt"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/kernel/internal/shapes"
	"github.com/cairnml/cairn/tensor"
)

// The kernels of DecodeRaw and DecodePaddedRaw.

// raw reads the bytes of strings as elements of a type.
type raw struct {
	dtype tensor.DType
	swap  int // the bytes of each group of this size are reversed; 1: none are
}

func newRaw(n *engine.Node) (raw, error) {
	d := n.Attrs.Type("out_type", tensor.Invalid)
	switch d {
	case tensor.Bool, tensor.Int8, tensor.Int16, tensor.Int32, tensor.Int64, tensor.Uint8, tensor.Uint16, tensor.Uint32, tensor.Uint64,
		tensor.Float16, tensor.BFloat16, tensor.Float32, tensor.Float64, tensor.Complex64, tensor.Complex128:
	default:
		return raw{}, fmt.Errorf("reads no %v", d)
	}
	r := raw{d, 1}
	if n.Attrs.Has("little_endian") && !n.Attrs.Bool("little_endian") {
		r.swap = max(d.Swap(), 1)
	}
	return r, nil
}

// put writes a string's bytes to dst.
func (r raw) put(dst []byte, s string) {
	copy(dst, s)
	if r.dtype == tensor.Bool {
		for i, b := range dst {
			dst[i] = min(b, 1)
		}
	}
	for i := 0; r.swap > 1 && i+r.swap <= len(dst); i += r.swap {
		for j := range r.swap / 2 {
			dst[i+j], dst[i+r.swap-1-j] = dst[i+r.swap-1-j], dst[i+j]
		}
	}
}

// decodeRaw returns the kernel of DecodeRaw: all strings have the same length.
func decodeRaw(n *engine.Node) (func(*engine.Call) error, error) {
	r, err := newRaw(n)
	if err != nil {
		return nil, err
	}
	return func(c *engine.Call) error {
		if err := c.Need(1); err != nil {
			return err
		}
		t := c.In(0)
		if t.DType() != tensor.String {
			return fmt.Errorf("takes strings, not %v", t.DType())
		}
		length := 0
		for i, s := range t.Strings() {
			if i == 0 {
				length = len(s)
			}
			if len(s) != length {
				return fmt.Errorf("string %d has %d bytes, the first %d", i, len(s), length)
			}
		}
		return r.decode(c, length)
	}, nil
}

// decodePaddedRaw returns the kernel of DecodePaddedRaw: strings are cut, or filled with
// zeros, to the length in input 1.
func decodePaddedRaw(n *engine.Node) (func(*engine.Call) error, error) {
	r, err := newRaw(n)
	if err != nil {
		return nil, err
	}
	return func(c *engine.Call) error {
		if err := c.Need(2); err != nil {
			return err
		}
		if d := c.In(0).DType(); d != tensor.String {
			return fmt.Errorf("takes strings, not %v", d)
		}
		length, err := shapes.Int(c.In(1), "the length")
		if err != nil {
			return err
		}
		if length <= 0 || length != int64(int(length)) {
			return fmt.Errorf("the length is %d", length)
		}
		return r.decode(c, int(length))
	}, nil
}

// decode sets the output from the first length bytes of each string. A shorter
// string is filled with zeros.
func (r raw) decode(c *engine.Call, length int) error {
	size := r.dtype.Size()
	if length%size != 0 {
		return fmt.Errorf("%d bytes are no whole number of %v, which have %d", length, r.dtype, size)
	}
	t := c.In(0)
	out, err := c.AllocZero(0, r.dtype, append(t.Shape().Clone(), length/size))
	if err != nil {
		return err
	}
	for i, s := range t.Strings() {
		r.put(out.Bytes()[i*length:(i+1)*length], s[:min(len(s), length)])
	}
	return nil
}
