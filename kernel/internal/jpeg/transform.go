package jpeg

import "math"

// The inverse transforms compute in fixed-point numbers of 13 binary places;
// between the two passes values have 2 more. The constants are the cosines of
// the algorithm of Loeffler, Ligtenberg and Moschytz, and of its reduced forms.
// Constants and roundings must stay libjpeg's: they decide the pixels.

// rounded divides by two to the number of places, and rounds halves up.
func rounded(x int32, places uint) int32 { return (x + 1<<(places-1)) >> places }

// clamp returns a sample from a number around zero.
func clamp(x int32) byte {
	x += 128
	if x < 0 {
		return 0
	}
	if x > 255 {
		return 255
	}
	return byte(x)
}

// line8 does the transform of 8 values.
func line8(v *[8]int32, places uint) {
	z1 := (v[2] + v[6]) * 4433
	t2, t3 := z1-v[6]*15137, z1+v[2]*6270
	t0, t1 := (v[0]+v[4])<<13, (v[0]-v[4])<<13
	e0, e3, e1, e2 := t0+t3, t0-t3, t1+t2, t1-t2
	z1, z2, z3, z4 := v[7]+v[1], v[5]+v[3], v[7]+v[3], v[5]+v[1]
	z5 := (z3 + z4) * 9633
	z1, z2, z3, z4 = -z1*7373, -z2*20995, z5-z3*16069, z5-z4*3196
	o0, o1, o2, o3 := v[7]*2446+z1+z3, v[5]*16819+z2+z4, v[3]*25172+z2+z3, v[1]*12299+z1+z4
	v[0], v[7] = rounded(e0+o3, places), rounded(e0-o3, places)
	v[1], v[6] = rounded(e1+o2, places), rounded(e1-o2, places)
	v[2], v[5] = rounded(e2+o1, places), rounded(e2-o1, places)
	v[3], v[4] = rounded(e3+o0, places), rounded(e3-o0, places)
}

// line4 does the transform of 8 values to 4.
func line4(v *[8]int32, places uint) {
	t0, t2 := v[0]<<14, v[2]*15137-v[6]*6270
	e0, e1 := t0+t2, t0-t2
	o0 := -v[7]*1730 + v[5]*11893 - v[3]*17799 + v[1]*8697
	o1 := -v[7]*4176 - v[5]*4926 + v[3]*7373 + v[1]*20995
	v[0], v[3] = rounded(e0+o1, places), rounded(e0-o1, places)
	v[1], v[2] = rounded(e1+o0, places), rounded(e1-o0, places)
}

// line2 does the transform of 8 values to 2.
func line2(v *[8]int32, places uint) {
	e := v[0] << 15
	o := -v[7]*5906 + v[5]*6967 - v[3]*10426 + v[1]*29692
	v[0], v[1] = rounded(e+o, places), rounded(e-o, places)
}

// scales are the factors by which the transform of Arai, Agui and Nakajima
// multiplies a line of coefficients first.
var scales = [8]float64{1, 1.387039845, 1.306562965, 1.175875602, 1, 0.785694958, 0.541196100, 0.275899379}

// prescaled returns a quantization table for [fast], in fixed-point numbers of 2
// binary places.
func prescaled(q *[64]int32) *[64]int32 {
	var out [64]int32
	for i, v := range q {
		by := int32(math.Round(16384 * scales[i/8] * scales[i%8]))
		out[i] = rounded(v*by, 12)
	}
	return &out
}

// fastLine does the transform of 8 values of Arai, Agui and Nakajima, with
// constants of 8 binary places.
func fastLine(v *[8]int32) {
	times := func(x, by int32) int32 { return x * by >> 8 }
	a, b, c := v[0]+v[4], v[0]-v[4], v[2]+v[6]
	d := times(v[2]-v[6], 362) - c
	e0, e3, e1, e2 := a+c, a-c, b+d, b-d
	z13, z10, z11, z12 := v[5]+v[3], v[5]-v[3], v[1]+v[7], v[1]-v[7]
	o7 := z11 + z13
	z5 := times(z10+z12, 473)
	o6 := times(z10, -669) + z5 - o7
	o5 := times(z11-z13, 362) - o6
	o4 := times(z12, 277) - z5 + o5
	*v = [8]int32{e0 + o7, e1 + o6, e2 + o5, e3 - o4, e3 + o4, e2 - o5, e1 - o6, e0 - o7}
}

// fast writes 8×8 pixels; q is [prescaled].
func fast(dst []byte, stride int, b []int16, q *[64]int32) {
	var mid [8][8]int32
	var v [8]int32
	for x := range 8 {
		for y := range 8 {
			v[y] = int32(b[8*y+x]) * q[8*y+x]
		}
		fastLine(&v)
		for y := range 8 {
			mid[y][x] = v[y]
		}
	}
	for y := range 8 {
		fastLine(&mid[y])
		for x, p := range mid[y] {
			dst[y*stride+x] = clamp(p >> 5)
		}
	}
}

// block writes n×n pixels, n being 8, 4, 2 or 1.
func block(dst []byte, stride int, b []int16, q *[64]int32, n int) {
	if n == 1 {
		dst[0] = clamp(rounded(int32(b[0])*q[0], 3))
		return
	}
	line, more := line8, uint(0)
	switch n {
	case 4:
		line, more = line4, 1
	case 2:
		line, more = line2, 2
	}
	var mid [8][8]int32
	var v [8]int32
	for x := range 8 {
		for y := range 8 {
			v[y] = int32(b[8*y+x]) * q[8*y+x]
		}
		line(&v, 11+more)
		for y := range n {
			mid[y][x] = v[y]
		}
	}
	for y := range n {
		v = mid[y]
		line(&v, 18+more)
		for x := range n {
			dst[y*stride+x] = clamp(v[x])
		}
	}
}
