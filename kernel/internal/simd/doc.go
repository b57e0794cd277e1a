// Package simd contains vector assembly for the loops over elements in which training spends most time. Package vec has all
// loops in plain Go and calls these for the cases that they cover. Many packages of kernels use it.
//
// A function takes slices that are all at least as long as the first, works on as many elements from the front as fill whole
// vectors, and returns their number; the caller's loop does the rest. It returns 0, and has done nothing, if the element
// type is not float32 or float64, the CPU has no AVX2, the architecture is not amd64, or build tag noasm is set. Slices may
// be the same, and must not overlap otherwise.
//
// Each operation is rounded by itself, in the order in its comment: results are those of the plain loop, bit for bit, if the
// compiler does not fuse (it does not on amd64 below GOAMD64=v3). Functions such as [Exp] compute in float64 and round once,
// in operations that package vec spells out so that no compiler fuses them: their results are the same everywhere.
//
// [FastExp] and the other fast functions compute in float32, with one rounding for a product and a sum: within a few units
// in the last place, in a quarter of the time. They do all elements, or nothing if the CPU has no AVX2 and FMA. An element's
// result doesn't depend on its position in the slice.
//
// [Round] and the other conversions convert between float32 and half precision with the bits of package tensor, except for
// NaN that [Round] rounds. [Products] rounds to half precision: its inputs are numbers of that precision, its results are
// those of plain steps bit for bit, except for the bits of NaN.
//
// The assembly is written by avo (directory _asm, a separate module);
//
//	go generate ./kernel/internal/simd && git diff --exit-code -- kernel/internal/simd
//
// must leave it as it is.
package simd

//go:generate sh -c "cd _asm && go run . && go run . functions && go run . fast && go run . depthwise && go run . pool && go run . halves && go run . rotations"
