// Package summary writes the elements of a tensor as TensorFlow's messages do.
// Packages kernel/control and kernel/text use it.
package summary

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/cairnml/cairn/tensor"
)

// A Check is called after some elements, with the bytes of the text so far. Its error ends the work.
type Check func(size int) error

// checked is a text that calls a Check from time to time.
type checked struct {
	strings.Builder
	check Check
	after int // the number of elements until the next call
	err   error
}

// more calls the Check after every 256 elements. It reports whether no call has returned an error.
func (c *checked) more() bool {
	if c.after--; c.after < 0 {
		c.after = 256
		c.err = c.check(c.Len())
	}
	return c.err == nil
}

// Of returns the first elements of t: at most most, or all if most is negative.
// Examples are "1 2 3", "[1 2][3 4]", "1 2...". The rows of a tensor of more
// than one dimension are in brackets.
func Of(t *tensor.Tensor, most int64, check Check) (string, error) {
	w := writer{checked: checked{check: check}, t: t, left: t.Len()}
	if most >= 0 && int64(w.left) > most {
		w.left = int(most)
	}
	limited := w.left < t.Len()
	if len(t.Shape()) <= 1 {
		for i := range w.left {
			if !w.more() {
				return "", w.err
			}
			if i > 0 {
				w.WriteByte(' ')
			}
			w.WriteString(element(t, i))
		}
		if limited {
			w.WriteString("...")
		}
		return w.String(), nil
	}
	if t.Len() > 0 {
		w.dim(0)
	}
	if limited {
		w.WriteString("...")
	}
	return w.String(), w.err
}

type writer struct {
	checked
	t        *tensor.Tensor
	at, left int
}

// dim writes the part of the tensor from w.at on below dimension d.
func (w *writer) dim(d int) {
	s := w.t.Shape()
	for i := range s[d] {
		if !w.more() {
			return
		}
		if d == len(s)-1 {
			if w.left <= 0 {
				w.WriteString("...")
				return
			}
			if i > 0 {
				w.WriteByte(' ')
			}
			w.WriteString(element(w.t, w.at))
			w.at++
			w.left--
			continue
		}
		if w.left <= 0 {
			return
		}
		w.WriteByte('[')
		w.dim(d + 1)
		w.WriteByte(']')
	}
}

// element returns element i as text.
func element(t *tensor.Tensor, i int) string {
	switch t.DType() {
	case tensor.String:
		return t.Strings()[i]
	case tensor.Bool:
		if tensor.Values[bool](t)[i] {
			return "1"
		}
		return "0"
	case tensor.Float32:
		return short(float64(tensor.Values[float32](t)[i]), 32)
	case tensor.Float64:
		return short(tensor.Values[float64](t)[i], 64)
	case tensor.Float16:
		return short(float64(tensor.Values[tensor.F16](t)[i].Float()), 32)
	case tensor.BFloat16:
		return short(float64(tensor.Values[tensor.BF16](t)[i].Float()), 32)
	case tensor.Int8:
		return strconv.Itoa(int(tensor.Values[int8](t)[i]))
	case tensor.Int16:
		return strconv.Itoa(int(tensor.Values[int16](t)[i]))
	case tensor.Int32:
		return strconv.Itoa(int(tensor.Values[int32](t)[i]))
	case tensor.Int64:
		return strconv.FormatInt(tensor.Values[int64](t)[i], 10)
	case tensor.Uint8:
		return strconv.Itoa(int(tensor.Values[uint8](t)[i]))
	case tensor.Uint16:
		return strconv.Itoa(int(tensor.Values[uint16](t)[i]))
	case tensor.Uint32:
		return strconv.FormatUint(uint64(tensor.Values[uint32](t)[i]), 10)
	case tensor.Uint64:
		return strconv.FormatUint(tensor.Values[uint64](t)[i], 10)
	case tensor.Complex64:
		x := tensor.Values[complex64](t)[i]
		return fmt.Sprintf("(%s,%s)", short(float64(real(x)), 32), short(float64(imag(x)), 32))
	case tensor.Complex128:
		x := tensor.Values[complex128](t)[i]
		return fmt.Sprintf("(%s,%s)", short(real(x), 64), short(imag(x), 64))
	}
	return "?"
}

// short returns a decimal text for x. It has few digits if they parse to x
// again, otherwise the most that any number needs. tsl's FloatToBuffer and
// DoubleToBuffer do the same.
func short(x float64, bits int) string {
	switch {
	case math.IsNaN(x):
		return "nan"
	case math.IsInf(x, 1):
		return "inf"
	case math.IsInf(x, -1):
		return "-inf"
	}
	few, all := 6, 9 // digits
	if bits == 64 {
		few, all = 15, 17
	}
	s := strconv.FormatFloat(x, 'g', few, bits)
	if y, err := strconv.ParseFloat(s, bits); err == nil && y == x {
		return s
	}
	return strconv.FormatFloat(x, 'g', all, bits)
}

// Nested returns the elements of t in brackets, one line per row, as printing
// ops write them. Of every dimension it writes at most most elements at either
// end, or all if most is negative. Strings are quoted.
func Nested(t *tensor.Tensor, most int64, check Check) (string, error) {
	n := nested{checked: checked{check: check}, t: t, ends: t.Len()}
	if most >= 0 && most < int64(n.ends) {
		n.ends = int(most)
	}
	if most == 0 && len(t.Shape()) == 0 {
		return "...", nil
	}
	n.dim(0, 0, t.Len())
	return n.String(), n.err
}

type nested struct {
	checked
	t    *tensor.Tensor
	ends int // elements at each end of a dimension
}

// dim writes the n elements from at on, which are one of dimension d.
func (w *nested) dim(d, at, n int) {
	s := w.t.Shape()
	if d == len(s) {
		if w.t.DType() == tensor.String {
			w.WriteString(`"` + escape(w.t.Strings()[at]) + `"`)
			return
		}
		w.WriteString(element(w.t, at))
		return
	}
	w.WriteByte('[')
	per := 0
	if s[d] > 0 {
		per = n / s[d]
	}
	for i := 0; i < s[d] && w.more(); i++ {
		if i == w.ends && s[d]-i > w.ends {
			w.space(d)
			w.WriteString("...")
			i = s[d] - w.ends
			if i == s[d] {
				break
			}
		}
		if i > 0 {
			w.space(d)
		}
		w.dim(d+1, at+i*per, per)
	}
	w.WriteByte(']')
}

// space writes the separator of two elements of dimension d.
func (w *nested) space(d int) {
	if last := len(w.t.Shape()) - 1; d < last {
		w.WriteString(strings.Repeat("\n", last-d) + strings.Repeat(" ", d+1))
		return
	}
	w.WriteByte(' ')
}

// escape writes a text as C would have it in quotes. absl's Utf8SafeCEscape
// does the same.
func escape(s string) string {
	var b strings.Builder
	for i := range len(s) {
		switch c := s[i]; {
		case c == '\n':
			b.WriteString(`\n`)
		case c == '\r':
			b.WriteString(`\r`)
		case c == '\t':
			b.WriteString(`\t`)
		case c == '"' || c == '\'' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c < 0x20 || c == 0x7f:
			fmt.Fprintf(&b, "\\%03o", c)
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}
