package convert

import (
	"fmt"
	"math"

	"github.com/cairnml/cairn/tensor"
)

// CastError is the error of a cast that would lose more than digits.
type CastError struct {
	Name     string
	From, To tensor.DType
	Index    int    // of the first element that is lost, in row-major order
	Value    string // the value of that element
	Becomes  string // the value after the cast
	Lost     int    // number of elements that are lost
}

// Error names the tensor, the first value that the cast would change, and the flag
// that allows it.
func (e *CastError) Error() string {
	return fmt.Sprintf("%q: cast from %v to %v, %s would become %s, and %d in all change their value; Options.Lossy casts them all the same", e.Name, e.From, e.To, e.Value, e.Becomes, e.Lost)
}

// castChunk is the number of elements that are compared at a time.
const castChunk = 4096

// exactCast casts t and returns a CastError if an element becomes another
// number. Rounding to the nearest of a floating type is the purpose of a cast;
// becoming infinite, losing NaN, a fraction, high bits or an imaginary part is
// not.
func exactCast(name string, t *tensor.Tensor, d tensor.DType) (*tensor.Tensor, error) {
	c, err := tensor.Cast(t, d)
	if err != nil {
		return nil, err
	}
	e := &CastError{Name: name, From: t.DType(), To: d}
	k := keeper{to: d, top: topOf(d)}
	var x, y []float64
	for lo := 0; lo < t.Len(); lo += castChunk {
		hi := min(lo+castChunk, t.Len())
		x, y = reals(x[:0], t, lo, hi), reals(y[:0], c, lo, hi)
		for i := range hi - lo {
			if k.element(t, c, lo+i, x[i], y[i]) {
				continue
			}
			if e.Lost++; e.Lost == 1 {
				e.Index, e.Value, e.Becomes = lo+i, element(t, lo+i), element(c, lo+i)
			}
		}
	}
	if e.Lost > 0 {
		return nil, e
	}
	return c, nil
}

// keeper judges whether values survive a cast.
type keeper struct {
	to  tensor.DType
	top float64 // the largest number of a type that has no infinity, else 0
}

// topOf returns the result of numbers beyond a type's range, if that is a
// number.
func topOf(d tensor.DType) float64 {
	if !d.IsFloating() {
		return 0
	}
	t, err := tensor.Cast(tensor.Scalar(math.MaxFloat64), d)
	if err != nil {
		return 0
	}
	v, err := t.Float64s()
	if err != nil || math.IsInf(v[0], 0) || math.IsNaN(v[0]) {
		return 0
	}
	return v[0]
}

// element reports whether element i of t, x as a float64, has the same value in
// c, as y.
func (k keeper) element(t, c *tensor.Tensor, i int, x, y float64) bool {
	from, to := t.DType(), c.DType()
	switch {
	case from.IsComplex() && to.IsComplex():
		re, im := complexAt(t, i)
		a, b := complexAt(c, i)
		return k.number(re, a) && k.number(im, b)
	case from.IsComplex():
		re, im := complexAt(t, i)
		return im == 0 && k.number(re, y)
	case to.IsComplex():
		y, _ = complexAt(c, i)
	case to == tensor.Int64 || to == tensor.Uint64:
		// A float64 has not all of 64 bits, but their sign.
		return x < 0 == (y < 0) && k.number(x, y)
	}
	return k.number(x, y)
}

// number reports whether y is x to the precision of the new type. A type without an infinity
// has top in its place, so numbers of up to 1.25 times top count as rounded, and greater ones
// as lost. The factor is ours and may change.
func (k keeper) number(x, y float64) bool {
	switch {
	case math.IsNaN(x):
		return math.IsNaN(y)
	case math.IsInf(x, 0):
		return x == y
	case !k.to.IsFloating() && !k.to.IsComplex():
		return x == y
	case math.IsNaN(y) || math.IsInf(y, 0):
		return false
	}
	return k.top == 0 || math.Abs(y) < k.top || math.Abs(x) <= k.top*1.25
}

// reals appends elements lo to hi as float64; of complex ones zeros, since
// these are looked up one by one.
func reals(dst []float64, t *tensor.Tensor, lo, hi int) []float64 {
	if t.DType().IsComplex() {
		for range hi - lo {
			dst = append(dst, 0)
		}
		return dst
	}
	dst, _ = t.AppendFloat64s(dst, lo, hi) // every other type that casts is real
	return dst
}

func complexAt(t *tensor.Tensor, i int) (re, im float64) {
	if t.DType() == tensor.Complex64 {
		v := tensor.Values[complex64](t)[i]
		return float64(real(v)), float64(imag(v))
	}
	v := tensor.Values[complex128](t)[i]
	return real(v), imag(v)
}

// element prints one element.
func element(t *tensor.Tensor, i int) string {
	n := t.DType().Size()
	e, err := tensor.FromBytes(t.DType(), t.Bytes()[i*n:(i+1)*n:(i+1)*n])
	if err != nil {
		return "?"
	}
	return e.String()
}
