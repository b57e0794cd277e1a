//go:build amd64 && !noasm

package simd

// Rotations of rows, for the eigenvalues and singular values of kernel/linalg. loops_noasm.go has
// the form for other machines.

// mostTurns is how many rotations one call of assembly makes at most.
const mostTurns = 1 << 10

// Rotations rotates rows, see [Rows], in as many columns from the left as fill whole
// vectors, and returns how many these are.
func Rotations(v []float64, r Rows, turns []float64) int {
	width := start(r.Width, lanes64)
	if width == 0 || len(turns) == 0 {
		return width
	}
	last := r.At + len(turns)/2*r.Step
	_, _ = v[r.At+width-1], v[last+width-1]
	for j := 0; j < width; {
		columns := lanes64
		if width-j >= 16 {
			columns = 16
		}
		at := r.At + j
		for left := turns; len(left) > 0; {
			n := min(len(left)/2, mostTurns)
			if columns == 16 {
				rotations16(&v[at], 8*r.Step, &left[0], n)
			} else {
				rotations4(&v[at], 8*r.Step, &left[0], n)
			}
			at += n * r.Step
			left = left[2*n:]
		}
		j += columns
	}
	return width
}

// RotationsTwice rotates the rows of two sweeps, see [Rows], if r has 16 columns, and reports
// whether it has done so. Rotation k of first is of rows k+1 and k+2, and comes before rotation k of
// second, of rows k and k+1. So a row is loaded and stored once for both. The sweeps have as many
// rotations.
func RotationsTwice(v []float64, r Rows, first, second []float64) bool {
	if !enabled || r.Width != 16 {
		return false
	}
	last := r.At + (len(first)/2+1)*r.Step
	_, _ = v[r.At+15], v[last+15]
	second = second[:len(first)]
	for at := r.At; len(first) > 0; {
		n := min(len(first)/2, mostTurns)
		rotations16Twice(&v[at], 8*r.Step, &first[0], &second[0], n)
		at += n * r.Step
		first, second = first[2*n:], second[2*n:]
	}
	return true
}
