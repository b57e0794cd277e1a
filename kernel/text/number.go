package text

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/kernel/internal/number"
	"github.com/cairnml/cairn/tensor"
)

// The kernels of AsString and StringToNumber. Texts of numbers are those of C's
// printf, which TensorFlow uses; they must stay.

// maxWidth bounds the attributes width and precision. The limit is Cairn's, not TensorFlow's.
const maxWidth = 1 << 12

// style has the options of AsString, in the words of C's printf.
type style struct {
	flag             string
	width, precision int
	verb             byte
}

// asString prepares AsString.
func asString(n *engine.Node) (func(*engine.Call) error, error) {
	width, precision := n.Attrs.Int("width", -1), n.Attrs.Int("precision", -1)
	scientific, shortest := n.Attrs.Bool("scientific"), n.Attrs.Bool("shortest")
	if width > maxWidth || precision > maxWidth {
		return nil, fmt.Errorf("width %d and precision %d: more than %d characters a number", width, precision, maxWidth)
	}
	st := style{n.Attrs.String("fill", ""), int(max(width, -1)), int(max(precision, -1)), 'f'}
	switch {
	case scientific && shortest:
		return nil, fmt.Errorf("scientific and shortest exclude each other")
	case scientific:
		st.verb = 'e'
	case shortest:
		st.verb = 'g'
	}
	if len(st.flag) > 1 || !strings.Contains(" +-0#", st.flag) {
		return nil, fmt.Errorf("can't fill with %q", st.flag)
	}
	return func(c *engine.Call) error {
		if err := c.Need(1); err != nil {
			return err
		}
		t := c.In(0)
		f := st.of(t)
		switch d := t.DType(); {
		case f == nil:
			return fmt.Errorf("isn't defined for %v", d)
		case !fractional(d) && (scientific || shortest || precision >= 0):
			return fmt.Errorf("%v takes no precision, scientific or shortest form", d)
		}
		if err := c.Afford(int64(t.Len()) * int64(max(width, precision, 1))); err != nil {
			return err
		}
		out, err := c.Alloc(0, tensor.String, t.Shape())
		if err != nil {
			return err
		}
		for i := range out.Strings() {
			if c.Step(i); precision > 100 {
				c.Check()
			}
			out.Strings()[i] = f(i)
		}
		return nil
	}, nil
}

// fractional reports whether the precision applies to values of a type.
func fractional(d tensor.DType) bool {
	switch d {
	case tensor.Float16, tensor.BFloat16, tensor.Float32, tensor.Float64, tensor.String:
		return true
	}
	return d.IsComplex()
}

// of returns a function for the text of t's elements, nil if the type has none.
func (st style) of(t *tensor.Tensor) func(i int) string {
	switch t.DType() {
	case tensor.String:
		return func(i int) string { return st.text(t.Strings()[i]) }
	case tensor.Bool:
		v := tensor.Values[bool](t)
		return func(i int) string { return strconv.FormatBool(v[i]) }
	case tensor.Int8, tensor.Int16, tensor.Int32, tensor.Int64, tensor.Uint8, tensor.Uint16, tensor.Uint32:
		v, err := t.Int64s()
		if err != nil {
			return nil
		}
		format := st.unsigned(t.DType()).format('d')
		return func(i int) string { return fmt.Sprintf(format, v[i]) }
	case tensor.Uint64:
		v, format := tensor.Values[uint64](t), st.unsigned(tensor.Uint64).format('d')
		return func(i int) string { return fmt.Sprintf(format, v[i]) }
	case tensor.Float16:
		v := tensor.Values[tensor.F16](t)
		return func(i int) string { return st.float(single(v[i].Float())) }
	case tensor.BFloat16:
		v := tensor.Values[tensor.BF16](t)
		return func(i int) string { return st.float(single(v[i].Float())) }
	case tensor.Float32:
		v := tensor.Values[float32](t)
		return func(i int) string { return st.float(single(v[i])) }
	case tensor.Float64:
		v := tensor.Values[float64](t)
		return func(i int) string { return st.float(double(v[i])) }
	case tensor.Complex64:
		v := tensor.Values[complex64](t)
		return func(i int) string {
			return "(" + st.float(single(real(v[i]))) + "," + st.float(single(imag(v[i]))) + ")"
		}
	case tensor.Complex128:
		v := tensor.Values[complex128](t)
		return func(i int) string {
			return "(" + st.float(double(real(v[i]))) + "," + st.float(double(imag(v[i]))) + ")"
		}
	}
	return nil
}

// single returns the number that TensorFlow's threads read: subnormal numbers
// are zero.
func single(v float32) float64 {
	if v > -0x1p-126 && v < 0x1p-126 {
		return math.Copysign(0, float64(v))
	}
	return float64(v)
}

// double works as single, for float64.
func double(v float64) float64 {
	if v > -0x1p-1022 && v < 0x1p-1022 {
		return math.Copysign(0, v)
	}
	return v
}

// unsigned returns the style without the flag for signs if the type is
// unsigned, as in C's printf.
func (st style) unsigned(d tensor.DType) style {
	switch d {
	case tensor.Uint8, tensor.Uint16, tensor.Uint32, tensor.Uint64:
		if st.flag == "+" || st.flag == " " {
			st.flag = ""
		}
	}
	return st
}

// format returns the style as a format of package fmt.
func (st style) format(verb byte) string {
	s := "%" + st.flag
	if st.width >= 0 {
		s += strconv.Itoa(st.width)
	}
	if verb != 'd' {
		s += "." + strconv.Itoa(st.digits())
	}
	return s + string(verb)
}

// digits returns the digits that C's printf writes: 6 unless a precision is
// set.
func (st style) digits() int {
	if st.precision < 0 {
		return 6
	}
	return st.precision
}

// float returns the text of x. Infinities and NaN are padded with blanks, even
// if the style has zeros.
func (st style) float(x float64) string {
	if x-x == 0 {
		if st.verb == 'f' && st.flag == "" && st.width < 0 {
			var room [64]byte
			if b, ok := appendFixed(room[:0], x, st.digits()); ok {
				return string(b)
			}
		}
		if st.verb == 'g' && st.precision == 0 {
			st.precision = 1 // C's printf takes 0 as 1
		}
		return fmt.Sprintf(st.format(st.verb), x)
	}
	s := "inf"
	switch {
	case x != x:
		if s = "nan"; math.Signbit(x) {
			s = "-nan"
		}
	case x < 0:
		s = "-inf"
	}
	if s[0] != '-' && (st.flag == "+" || st.flag == " ") {
		s = st.flag + s
	}
	st.precision = -1
	return st.text(s)
}

// text pads a text to the width, and cuts it to so many bytes as the precision.
func (st style) text(s string) string {
	if st.precision >= 0 && len(s) > st.precision {
		s = s[:st.precision]
	}
	room := strings.Repeat(" ", max(0, st.width-len(s)))
	if st.flag == "-" {
		return s + room
	}
	return room + s
}

// toNumber reads numbers; white space around them is skipped.
func toNumber(n *engine.Node) (func(*engine.Call) error, error) {
	read := map[tensor.DType]func(string, *tensor.Tensor, int) error{
		tensor.Float32: func(s string, t *tensor.Tensor, i int) error {
			x, err := number.Float(s, 32)
			tensor.Values[float32](t)[i] = float32(x)
			return err
		},
		tensor.Float64: func(s string, t *tensor.Tensor, i int) (err error) {
			tensor.Values[float64](t)[i], err = number.Float(s, 64)
			return err
		},
		tensor.Int32: func(s string, t *tensor.Tensor, i int) error {
			x, err := number.Int(s, 32)
			tensor.Values[int32](t)[i] = int32(x)
			return err
		},
		tensor.Int64: func(s string, t *tensor.Tensor, i int) (err error) {
			tensor.Values[int64](t)[i], err = number.Int(s, 64)
			return err
		},
		tensor.Uint32: func(s string, t *tensor.Tensor, i int) error {
			x, err := number.Uint(s, 32)
			tensor.Values[uint32](t)[i] = uint32(x)
			return err
		},
		tensor.Uint64: func(s string, t *tensor.Tensor, i int) (err error) {
			tensor.Values[uint64](t)[i], err = number.Uint(s, 64)
			return err
		},
	}
	d := n.Attrs.Type("out_type", tensor.Float32)
	f := read[d]
	if f == nil {
		return nil, fmt.Errorf("reads no %v", d)
	}
	return func(c *engine.Call) error {
		if err := c.Need(1); err != nil {
			return err
		}
		in, err := texts(c, 0)
		if err != nil {
			return err
		}
		out, err := c.Alloc(0, d, c.In(0).Shape())
		if err != nil {
			return err
		}
		for i, s := range in {
			c.Step(i)
			if err := f(s, out, i); err != nil {
				return err
			}
		}
		return nil
	}, nil
}
