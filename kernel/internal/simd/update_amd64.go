//go:build amd64 && !noasm

package simd

// Changes of four rows, for the reductions of kernel/linalg. loops_noasm.go has the forms for other
// machines.

// UpdateAndSum adds a[r] times x to row r of v, and then z[r] times that row to sum, for four rows in
// turn, which begin stride elements after each other. It returns the number of columns, from the
// left, in which it has done so.
func UpdateAndSum(v []float64, stride int, a *[4]float64, x []float64, z *[4]float64, sum []float64) int {
	n := start(len(x), lanes64)
	if n == 0 {
		return 0
	}
	_, _ = v[n-1], v[3*stride+n-1]
	sum = sum[:n]
	for i := 0; i < n; i += piece {
		updateAndSum(&v[i], 8*stride, &a[0], &x[i], &z[0], &sum[i], min(piece, n-i))
	}
	return n
}

// UpdateAndDot adds a[r] times x to row r of v, and then the product of that row's element i and
// y[i] to sums[r][i%8], for four rows, which begin stride elements after each other. It returns the
// number of columns, from the left, in which it has done so.
func UpdateAndDot(v []float64, stride int, a *[4]float64, x, y []float64, sums *[4][8]float64) int {
	n := start(len(x), 8)
	if n == 0 {
		return 0
	}
	_, _ = v[n-1], v[3*stride+n-1]
	y = y[:n]
	for i := 0; i < n; i += piece {
		updateAndDot(&v[i], 8*stride, &a[0], &x[i], &y[i], sums, min(piece, n-i))
	}
	return n
}
