package vec

// Matrix is a matrix in a slice: element (i, j) is Data[i*Row+j*Col]. One of
// the strides is 1; swapping them transposes the matrix.
type Matrix[T any] struct {
	Data     []T
	Row, Col int
}

// Gemm computes dst = a*b for a of m by k and b of k by n; dst is dense, row
// after row. It is the plain loop for any type; float32 and float64 have faster
// ones in packed form.
func Gemm[T Number](dst []T, a, b Matrix[T], m, n, k int) {
	if b.Col != 1 && n > 1 && k > 1 {
		gemmDots(dst, a, b, m, n, k)
		return
	}
	for i := range m {
		row := dst[i*n : i*n+n]
		clear(row)
		for p := range k {
			x := a.Data[i*a.Row+p*a.Col]
			axpy(row, b.Data[p*b.Row:], x, b.Col)
		}
	}
}

func axpy[T Number](dst, y []T, x T, step int) {
	if step == 1 {
		y = y[:len(dst)]
		for j := range dst {
			dst[j] += x * y[j]
		}
		return
	}
	for j := range dst {
		dst[j] += x * y[j*step]
	}
}

// gemmDots multiplies as Gemm does, for a b whose columns are contiguous.
func gemmDots[T Number](dst []T, a, b Matrix[T], m, n, k int) {
	var buf []T
	if a.Col != 1 {
		buf = make([]T, k)
	}
	for i := range m {
		var row []T
		if a.Col == 1 {
			row = a.Data[i*a.Row : i*a.Row+k]
		} else {
			row = buf
			for p := range row {
				row[p] = a.Data[i*a.Row+p*a.Col]
			}
		}
		for j := range n {
			dst[i*n+j] = dot(row, b.Data[j*b.Col:j*b.Col+k])
		}
	}
}

func dot[T Number](x, y []T) T {
	y = y[:len(x)]
	var s0, s1, s2, s3 T
	i := 0
	for ; i+4 <= len(x); i += 4 {
		s0 += x[i] * y[i]
		s1 += x[i+1] * y[i+1]
		s2 += x[i+2] * y[i+2]
		s3 += x[i+3] * y[i+3]
	}
	for ; i < len(x); i++ {
		s0 += x[i] * y[i]
	}
	return (s0 + s2) + (s1 + s3)
}
