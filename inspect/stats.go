package inspect

import (
	"context"
	"encoding/json"
	"math"

	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/tensorfile"
)

// Stats summarizes one tensor. Min, Max, Mean and Std are over the finite
// elements (complex numbers by their magnitude) and NaN if there are none; Std
// is the population's, as numpy's. For strings they are over the lengths in
// bytes.
type Stats struct {
	Name  string
	DType tensor.DType
	Shape tensor.Shape
	Count int // number of elements

	Min, Max, Mean, Std float64

	Zeros  int // elements equal to zero, or empty strings
	NaN    int
	PosInf int
	NegInf int
}

// Infinite returns the number of infinities of either sign.
func (s Stats) Infinite() int { return s.PosInf + s.NegInf }

// MarshalJSON returns the object that `cairn stat --json` prints; numbers that
// aren't finite are null.
func (s Stats) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Name   string   `json:"name"`
		DType  string   `json:"dtype"`
		Shape  []int    `json:"shape"`
		Count  int      `json:"count"`
		Min    *float64 `json:"min"`
		Max    *float64 `json:"max"`
		Mean   *float64 `json:"mean"`
		Std    *float64 `json:"std"`
		Zeros  int      `json:"zeros"`
		NaN    int      `json:"nan"`
		PosInf int      `json:"posinf"`
		NegInf int      `json:"neginf"`
	}{s.Name, s.DType.String(), append([]int{}, s.Shape...), s.Count,
		finite(s.Min), finite(s.Max), finite(s.Mean), finite(s.Std), s.Zeros, s.NaN, s.PosInf, s.NegInf})
}

func finite(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}

// each hands over a tensor's elements as float64, some at a time; it can be
// called again.
type each func(f func([]float64)) error

// StatOf sums up t.
func StatOf(name string, t *tensor.Tensor) Stats {
	s, _ := statOf(name, t.DType(), t.Shape(), ofTensor(t))
	return s
}

// StatEntry summarizes a tensor of a store, of which it holds some elements at
// a time if the store allows that.
func StatEntry(ctx context.Context, s *tensorfile.File, e tensorfile.Entry, c *tensorfile.Scratch) (Stats, error) {
	elements, err := ofEntry(ctx, s, e, c)
	if err != nil {
		return Stats{}, err
	}
	return statOf(e.Name, e.DType, e.Shape, elements)
}

// StatEach sums up tensors of a store, small ones read together, and calls done
// for each in their order.
func StatEach(ctx context.Context, s *tensorfile.File, list tensorfile.Entries, done func(e tensorfile.Entry, sum Stats)) error {
	var c tensorfile.Scratch
	var batch []tensorfile.Entry
	for at := 0; at < list.Len(); at += len(batch) {
		batch = batch[:0]
		for bytes := int64(0); at+len(batch) < list.Len() && len(batch) < maxPairs && bytes <= maxBatch; {
			e := list.At(at + len(batch))
			if e.Bytes <= whole {
				bytes += e.Bytes
			}
			batch = append(batch, e)
		}
		small, err := readSmall(ctx, s, batch, func(i int) bool { return batch[i].Bytes <= whole })
		if err != nil {
			return err
		}
		for i, e := range batch {
			if err := ctx.Err(); err != nil {
				return err
			}
			var sum Stats
			if small[i] != nil {
				sum = StatOf(e.Name, small[i])
			} else if sum, err = StatEntry(ctx, s, e, &c); err != nil {
				return err
			}
			done(e, sum)
		}
	}
	return nil
}

func ofTensor(t *tensor.Tensor) each {
	return func(f func([]float64)) error {
		eachChunk(t, f)
		return nil
	}
}

// whole is the number of bytes up to which a tensor is read once and kept. A larger one is read
// again for the second pass. The number may change.
const whole = 1 << 20

// ofEntry returns the elements of a tensor of a store.
func ofEntry(ctx context.Context, s *tensorfile.File, e tensorfile.Entry, c *tensorfile.Scratch) (each, error) {
	if e.Bytes <= whole {
		t, err := s.ReadScratch(ctx, e.Name, c)
		return ofTensor(t), err
	}
	return func(f func([]float64)) error {
		for t, err := range s.Pieces(ctx, e.Name, c) {
			if err != nil {
				return err
			}
			eachChunk(t, f)
		}
		return nil
	}, nil
}

// statOf sums up elements in two passes. The sums are made by chunks in order, so a tensor has the
// same sums whether it is read whole or in pieces.
func statOf(name string, d tensor.DType, shape tensor.Shape, elements each) (Stats, error) {
	s := Stats{Name: name, DType: d, Shape: shape, Min: math.Inf(1), Max: math.Inf(-1)}
	n, sum := 0, 0.0
	err := elements(func(v []float64) {
		s.Count += len(v)
		part := 0.0
		for _, x := range v {
			switch {
			case x != x:
				s.NaN++
				continue
			case math.IsInf(x, 1):
				s.PosInf++
				continue
			case math.IsInf(x, -1):
				s.NegInf++
				continue
			case x == 0:
				s.Zeros++
			}
			n++
			part += x
			s.Min, s.Max = min(s.Min, x), max(s.Max, x)
		}
		sum += part
	})
	if err != nil {
		return s, err
	}
	if n == 0 {
		s.Min, s.Max, s.Mean, s.Std = math.NaN(), math.NaN(), math.NaN(), math.NaN()
		return s, nil
	}
	s.Mean = sum / float64(n)
	// A second pass, since the difference of two large sums would lose digits.
	square := 0.0
	err = elements(func(v []float64) {
		part := 0.0
		for _, x := range v {
			if d := x - s.Mean; !math.IsNaN(d) && !math.IsInf(x, 0) {
				part += d * d
			}
		}
		square += part
	})
	s.Std = math.Sqrt(square / float64(n))
	return s, err
}

// chunk is the number of elements that are summed up, or compared, at a time. It decides the roundings of
// the sums, which goldens contain.
const chunk = 4096

// eachChunk hands t's elements over as float64, some at a time: magnitudes of
// complex numbers, lengths of strings.
func eachChunk(t *tensor.Tensor, f func([]float64)) {
	buf := make([]float64, 0, min(chunk, t.Len()))
	for lo := 0; lo < t.Len(); lo += chunk {
		hi := min(lo+chunk, t.Len())
		buf = buf[:0]
		switch t.DType() {
		case tensor.String, tensor.Variant, tensor.Resource:
			for _, s := range t.Strings()[lo:hi] {
				buf = append(buf, float64(len(s)))
			}
		case tensor.Complex64:
			for _, c := range tensor.Values[complex64](t)[lo:hi] {
				buf = append(buf, math.Hypot(float64(real(c)), float64(imag(c))))
			}
		case tensor.Complex128:
			for _, c := range tensor.Values[complex128](t)[lo:hi] {
				buf = append(buf, math.Hypot(real(c), imag(c)))
			}
		default:
			buf, _ = t.AppendFloat64s(buf, lo, hi) // every other type is real
		}
		f(buf)
	}
}

// Histogram counts t's finite elements in bins of equal width from the smallest
// to the largest; equal elements fall into one bin around them.
type Histogram struct {
	Name     string
	Stats    Stats
	Low      float64 // the value at which the first bin begins
	BinWidth float64 // in values; 0 if no element is finite
	Counts   []int   // elements in each bin
}

// Hist makes a histogram of t with n bins.
func Hist(name string, t *tensor.Tensor, n int) Histogram {
	h, _ := hist(name, t.DType(), t.Shape(), ofTensor(t), n)
	return h
}

// HistEntry returns the same as [Hist], for a tensor of a store, as [StatEntry]
// reads it.
func HistEntry(ctx context.Context, s *tensorfile.File, e tensorfile.Entry, c *tensorfile.Scratch, n int) (Histogram, error) {
	elements, err := ofEntry(ctx, s, e, c)
	if err != nil {
		return Histogram{}, err
	}
	return hist(e.Name, e.DType, e.Shape, elements, n)
}

// hist makes a histogram with n bins, in three passes over the elements.
func hist(name string, d tensor.DType, shape tensor.Shape, elements each, n int) (Histogram, error) {
	h := Histogram{Name: name, Counts: make([]int, n)}
	var err error
	if h.Stats, err = statOf(name, d, shape, elements); err != nil {
		return h, err
	}
	lo, hi := h.Stats.Min, h.Stats.Max
	switch {
	case math.IsNaN(lo):
		return h, nil
	case lo == hi || math.IsInf(hi-lo, 0) || (hi-lo)/float64(n) == 0:
		d := max(0.5, math.Abs(lo)*0.5)
		lo, hi = lo/2+hi/2-d, lo/2+hi/2+d
	}
	h.Low, h.BinWidth = lo, (hi-lo)/float64(n)
	err = elements(func(v []float64) {
		for _, x := range v {
			if math.IsNaN(x) || math.IsInf(x, 0) {
				continue
			}
			h.Counts[int(min(max((x-lo)/h.BinWidth, 0), float64(n-1)))]++ // it may be infinite
		}
	})
	return h, err
}
