// Package summary writes the elements of a tensor as TensorFlow's messages do.
package summary

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/cairnml/cairn/tensor"
)

// Of returns the first elements of t, at most as many as most says, all where
// that is below 0: "1 2 3", "[1 2][3 4]", "1 2...". The rows of a tensor of more
// than one dimension stand in brackets.
func Of(t *tensor.Tensor, most int64) string {
	w := writer{t: t, left: t.Len()}
	if most >= 0 && int64(w.left) > most {
		w.left = int(most)
	}
	limited := w.left < t.Len()
	if len(t.Shape()) <= 1 {
		for i := range w.left {
			if i > 0 {
				w.WriteByte(' ')
			}
			w.WriteString(element(t, i))
		}
		if limited {
			w.WriteString("...")
		}
		return w.String()
	}
	if t.Len() > 0 {
		w.dim(0)
	}
	if limited {
		w.WriteString("...")
	}
	return w.String()
}

type writer struct {
	strings.Builder
	t        *tensor.Tensor
	at, left int
}

// dim writes the part of the tensor from w.at on below dimension d.
func (w *writer) dim(d int) {
	s := w.t.Shape()
	for i := range s[d] {
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

// short returns the shortest text that gives x again, in C's form.
func short(x float64, bits int) string {
	switch {
	case math.IsNaN(x):
		return "nan"
	case math.IsInf(x, 1):
		return "inf"
	case math.IsInf(x, -1):
		return "-inf"
	}
	return strconv.FormatFloat(x, 'g', -1, bits)
}
