package simd

// Rows describes rows of a matrix that are rotated in turn, each with the next.
// kernel/linalg passes it to vec.Rotations. turns has a cosine and a sine for each
// rotation:
//
//	for k := 0; 2*k < len(turns); k++ {
//		c, s := turns[2*k], turns[2*k+1]
//		row k, row k+1 = c*row k + s*row k+1, c*row k+1 - s*row k
//	}
type Rows struct {
	At    int // the index of the first row's first element
	Step  int // from a row to the next; may be below zero
	Width int
}
