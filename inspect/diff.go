package inspect

import (
	"bytes"
	"context"
	"math"
	"slices"
	"strings"

	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/tensorfile"
)

// DiffOptions are the rules by which two stores (files of tensors) are equal; nil means
// the defaults.
type DiffOptions struct {
	// RTol and ATol let values differ: a and b are equal if |a-b| <= ATol +
	// RTol*|b|, NaNs if both are. With either of them numbers of different types
	// are compared as numbers. Default 0: equal values of equal types.
	RTol, ATol float64
	// Graph compares the object graphs too, if both have one, and all that SavedModels
	// have besides their variables' values. Default false.
	Graph bool
	// Progress is called with the bytes compared. Default nil.
	Progress Progress
	// OpenA and OpenB are the settings by which [Compare] opens the paths. Default:
	// paths of the operating system, no limit raised.
	OpenA, OpenB tensorfile.Options
}

// The ways in which two stores differ. They are in the JSON of diff, so they must stay.
const (
	OnlyInA = "only in A"
	OnlyInB = "only in B"
	DTypes  = "dtype"
	Shapes  = "shape"
	Values  = "values"
	Objects = "graph"
)

// Difference is one way in which two stores differ.
type Difference struct {
	Kind string `json:"kind"`
	Name string `json:"name"`        // the tensor, the object's path, the signature, the asset
	A    string `json:"a,omitempty"` // A's side in words: type and shape, or the first element that differs; "" if only B has it
	B    string `json:"b,omitempty"` // B's side

	// For values: the number of elements that differ, the number of all, the
	// largest difference, and the position of the first one.
	Differ int      `json:"differ,omitempty"`
	Count  int      `json:"count,omitempty"`
	MaxAbs *float64 `json:"max_abs,omitempty"`
	MaxRel *float64 `json:"max_rel,omitempty"`
	First  []int    `json:"first,omitempty"`
}

// Diff compares two stores tensor by tensor and, with o.Graph, their object graphs. The differences
// are sorted by name, those of the object graphs last.
// Between different kinds of files a type that the one had to widen (bfloat16
// in a .npz) counts as equal, and an object graph that only one of them can
// hold is left out. Small tensors are in memory by the batch, and of the others one
// of each store, or pieces of several.
func Diff(ctx context.Context, a, b *tensorfile.File, o *DiffOptions) ([]Difference, error) {
	if o == nil {
		o = &DiffOptions{}
	}
	cross := a.Kind != b.Kind && !(a.Kind.IsBundle() && b.Kind.IsBundle())
	var out []Difference
	var total, done int64
	for e := range a.Entries().All() {
		total += e.Bytes
	}
	x, y := a.Entries(), b.Entries()
	pairs := &pairs{a: a, b: b}
	settle := func() error {
		d, err := pairs.compare(ctx, o)
		out = append(out, d...)
		return err
	}
	i, j := 0, 0 // the next ones
	for i < x.Len() || j < y.Len() {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		var ex, ey tensorfile.Entry
		if i < x.Len() {
			ex = x.At(i)
		}
		if j < y.Len() {
			ey = y.At(j)
		}
		switch {
		case j == y.Len() || i < x.Len() && ex.Name < ey.Name:
			if !(cross && ex.Name == tensorfile.GraphKey) {
				out = append(out, Difference{Kind: OnlyInA, Name: ex.Name, A: describe(ex)})
			}
			done += ex.Bytes
			i++
		case i == x.Len() || ey.Name < ex.Name:
			if !(cross && ey.Name == tensorfile.GraphKey) {
				out = append(out, Difference{Kind: OnlyInB, Name: ey.Name, B: describe(ey)})
			}
			j++
		default:
			if ex.Name != tensorfile.GraphKey {
				d, comparable := diffEntries(ex, ey, cross, o)
				if !comparable {
					out = append(out, d)
				} else if pairs.add(ex, ey) {
					if err := settle(); err != nil {
						return nil, err
					}
				}
			}
			done += ex.Bytes
			i, j = i+1, j+1
		}
		if o.Progress != nil {
			o.Progress(done, total)
		}
	}
	if err := settle(); err != nil {
		return nil, err
	}
	slices.SortStableFunc(out, func(a, b Difference) int { return strings.Compare(a.Name, b.Name) })
	if o.Graph {
		d, err := diffGraphs(ctx, a, b)
		if err != nil {
			return nil, err
		}
		out = append(out, d...)
	}
	return out, nil
}

// diffEntries reports whether the values of two tensors can be compared, and if
// not, how the tensors differ.
func diffEntries(x, y tensorfile.Entry, cross bool, o *DiffOptions) (d Difference, comparable bool) {
	if !x.Shape.Equal(y.Shape) {
		return Difference{Kind: Shapes, Name: x.Name, A: describe(x), B: describe(y)}, false
	}
	tolerant := (o.RTol > 0 || o.ATol > 0) && sameKind(x.DType, y.DType)
	if x.DType != y.DType && !(cross && widens(x.DType, y.DType)) && !tolerant {
		return Difference{Kind: DTypes, Name: x.Name, A: describe(x), B: describe(y)}, false
	}
	return Difference{}, true
}

// sameKind reports whether values of two types are numbers of one kind.
func sameKind(a, b tensor.DType) bool {
	return a.Fixed() && b.Fixed() && a.IsComplex() == b.IsComplex()
}

// widens reports whether a .npz would hold both types as the same one.
func widens(a, b tensor.DType) bool {
	wa, err := tensor.NPYType(a)
	wb, _ := tensor.NPYType(b) // Invalid if numpy has none
	return err == nil && wa == wb
}

// valueDiff gathers the difference of two tensors, piece by piece.
type valueDiff struct {
	Difference
	o     *DiffOptions
	shape tensor.Shape
}

func newValueDiff(e tensorfile.Entry, o *DiffOptions) *valueDiff {
	return &valueDiff{Difference: Difference{Kind: Values, Name: e.Name}, o: o, shape: e.Shape}
}

// add compares the next elements, as many in a as in b.
func (d *valueDiff) add(a, b *tensor.Tensor) {
	base := d.Count
	d.Count += a.Len()
	if a.DType() == b.DType() && bytes.Equal(a.Bytes(), b.Bytes()) && slices.Equal(a.Strings(), b.Strings()) {
		return
	}
	note := func(i int) {
		if d.Differ++; d.Differ == 1 {
			d.First = unravel(base+i, d.shape)
			d.A, d.B = item(a, i), item(b, i)
		}
	}
	switch {
	case !a.DType().Fixed():
		for i, s := range a.Strings() {
			if s != b.Strings()[i] {
				note(i)
			}
		}
	case a.DType().IsComplex():
		for lo := 0; lo < a.Len(); lo += chunk {
			hi := min(lo+chunk, a.Len())
			last := -1 // an element counts once, though both its parts may differ
			diffFloats(&d.Difference, parts(a, lo, hi), parts(b, lo, hi), d.o, func(i int) {
				if i/2 != last {
					last = i / 2
					note(lo + last)
				}
			})
		}
	case exact(a.DType()) && exact(b.DType()) && d.o.RTol == 0 && d.o.ATol == 0:
		// 64-bit integers don't fit a float64.
		x, y, signed := wide(a), wide(b), a.DType() == tensor.Int64
		for i := range x {
			if x[i] == y[i] {
				continue
			}
			note(i)
			apart := x[i] - y[i]
			if signed && int64(x[i]) < int64(y[i]) || !signed && x[i] < y[i] {
				apart = -apart
			}
			raise(&d.MaxAbs, float64(apart))
		}
	default:
		var x, y [chunk]float64
		for lo := 0; lo < a.Len(); lo += chunk {
			hi := min(lo+chunk, a.Len())
			p, _ := a.AppendFloat64s(x[:0], lo, hi)
			q, _ := b.AppendFloat64s(y[:0], lo, hi)
			diffFloats(&d.Difference, p, q, d.o, func(i int) { note(lo + i) })
		}
	}
}

func exact(d tensor.DType) bool { return d == tensor.Int64 || d == tensor.Uint64 }

// wide returns the elements of an int64 or uint64 tensor, as bits.
func wide(t *tensor.Tensor) []uint64 {
	if t.DType() == tensor.Uint64 {
		return tensor.Values[uint64](t)
	}
	out := make([]uint64, t.Len())
	for i, v := range tensor.Values[int64](t) {
		out[i] = uint64(v)
	}
	return out
}

// parts returns the real and imaginary parts in turn of complex elements from
// lo up to hi.
func parts(t *tensor.Tensor, lo, hi int) []float64 {
	out := make([]float64, 0, 2*(hi-lo))
	if t.DType() == tensor.Complex64 {
		for _, c := range tensor.Values[complex64](t)[lo:hi] {
			out = append(out, float64(real(c)), float64(imag(c)))
		}
		return out
	}
	for _, c := range tensor.Values[complex128](t)[lo:hi] {
		out = append(out, real(c), imag(c))
	}
	return out
}

// diffFloats compares x with y, of the same length, and calls note with the index of each
// element that differs. An infinity differs from all but itself, whatever the tolerance.
func diffFloats(d *Difference, x, y []float64, o *DiffOptions, note func(i int)) {
	for i, a := range x {
		b := y[i]
		if a == b || a != a && b != b {
			continue
		}
		abs := math.Abs(a - b)
		if abs <= o.ATol+o.RTol*math.Abs(b) && !math.IsInf(b, 0) {
			continue
		}
		note(i)
		raise(&d.MaxAbs, abs)
		if b != 0 {
			raise(&d.MaxRel, abs/math.Abs(b))
		}
	}
}

// raise keeps the larger of a maximum and v; JSON can't express numbers that
// aren't finite.
func raise(most **float64, v float64) {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return
	}
	if *most == nil || v > **most {
		*most = &v
	}
}

// unravel returns the indices of element i in row-major order.
func unravel(i int, shape tensor.Shape) []int {
	at := make([]int, len(shape))
	for k := len(shape) - 1; k >= 0; k-- {
		at[k] = i % shape[k]
		i /= shape[k]
	}
	return at
}

// item prints one element.
func item(t *tensor.Tensor, i int) string {
	var e *tensor.Tensor
	var err error
	if t.DType().Fixed() {
		n := t.DType().Size()
		e, err = tensor.FromBytes(t.DType(), t.Bytes()[i*n:(i+1)*n:(i+1)*n])
	} else {
		e, err = tensor.FromStrings(t.DType(), t.Strings()[i:i+1])
	}
	if err != nil {
		return "?"
	}
	s := e.String()
	if len(s) > 60 {
		s = s[:57] + "..."
	}
	return s
}
