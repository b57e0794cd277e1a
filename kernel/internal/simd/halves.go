package simd

// Rounding is the type to which the steps of [Products] are rounded.
type Rounding int

const (
	// ToFloat16 rounds to IEEE 754's binary16, halves to even.
	ToFloat16 Rounding = iota
	// ToBFloat16 rounds to the upper half of a float32, halves to even.
	ToBFloat16
)

// Steps are those of sums of products of half precision, widened to float32: with Products
// each product is rounded before it is added.
//
//	for k := 0; k*Step < len(x); k++ {
//		sums[j] = round(sums[j] + round(x[k*Step]*right[k*Stride+j]))
//	}
type Steps struct {
	To       Rounding
	Products bool
	Step     int // at least 1
	Stride   int
}
