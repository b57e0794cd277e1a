package simd

// Taps are the steps of a depthwise convolution over a row of places, in
// elements:
//
//	for p in [0, Places), c in [0, Channels):
//		s := 0
//		for r in [0, Rows), k in [0, Columns):
//			s += w[r*WeightStep+k*Channels+c] * src[p*PlaceStep+r*RowStep+k*ColumnStep+c]
//		dst[p*Channels+c] = s // after an Ending, if there is one
//
// All counts are at least 1, and no step is negative. src is an image with the
// channels last, w the filter, one number for each tap and channel. kernel/conv
// passes Taps to vec.Depthwise. The order of the sum must stay, and so must the
// rounding of each product and each sum.
type Taps struct {
	Rows, Columns       int
	RowStep, ColumnStep int
	WeightStep          int // between the rows of weights
	Places, PlaceStep   int
	Channels            int
}

// Ending is applied to each sum before it is stored:
//
//	s = min(max(s + Bias[c], Low), High)
//
// NaN stays NaN.
type Ending[T any] struct {
	Bias      []T
	Low, High T
}

// Check panics if the steps lead out of the slices' lengths.
func (t *Taps) Check(dst, src, w int) {
	if (t.Places-1)*t.PlaceStep+(t.Rows-1)*t.RowStep+(t.Columns-1)*t.ColumnStep+t.Channels > src ||
		t.Places*t.Channels > dst || (t.Rows-1)*t.WeightStep+t.Columns*t.Channels > w ||
		t.Rows < 1 || t.Columns < 1 || t.Places < 1 || t.Channels < 1 || t.RowStep < 0 || t.ColumnStep < 0 || t.PlaceStep < 0 || t.WeightStep < 0 {
		panic("BUG: simd: the taps lead out of the image")
	}
}
