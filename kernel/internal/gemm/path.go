package gemm

import "sync/atomic"

// The choice of the implementation, and the properties of each.

// Path is one implementation of the micro-kernels.
type Path uint8

const (
	// Generic is plain Go, on every architecture and under the noasm tag.
	Generic Path = iota
	// AVX2 is amd64 with AVX2 and FMA: 6×16 tiles of float32, 6×8 of float64.
	AVX2
	// AVX512 is amd64 with AVX-512F: 12×32 tiles of float32, 12×16 of float64.
	AVX512
)

var pathNames = [...]string{"generic", "avx2", "avx512"}

// String returns the path's name in lower case.
func (p Path) String() string { return pathNames[p] }

// Available lists the paths that this machine can run, the fastest last.
func Available() []Path { return available() }

// current is the path in use, chosen when the program starts.
var current = newCurrent()

func newCurrent() *atomic.Uint32 {
	v := new(atomic.Uint32)
	paths := available()
	v.Store(uint32(paths[len(paths)-1]))
	return v
}

// Force makes products run on path p until restore is called, so that tests can
// compare all paths with one reference on one machine. It panics if the machine
// does not have p.
func Force(p Path) (restore func()) {
	for _, q := range available() {
		if p == q {
			old := current.Swap(uint32(p))
			return func() { current.Store(old) }
		}
	}
	panic("BUG: gemm: this machine has no " + p.String())
}

// geometry has the properties of a path that the driver needs.
type geometry struct {
	rows   int  // of a full tile
	lanes  int  // elements in a vector
	vecs   int  // vectors in a row of a full tile
	wide   int  // vectors in a row of a tile of one row
	masked bool // elements after a cut last vector of B aren't read
	// gflops is the approximate speed of one core, to size pieces of work.
	gflops float64
}

// cost returns the approximate time of a product on one core, in nanoseconds:
// it is bound by arithmetic or, for few rows, by reading B.
func (g *geometry) cost(m, n, k int) float64 {
	steps := float64(n) * float64(k)
	return 20 + max(2*steps*float64(m)/g.gflops, steps/float64(4*g.lanes))
}

// Cost returns the approximate time, in nanoseconds, of a product of m×k by k×n
// elements of size bytes (4 or 8) on one core, for callers that divide many
// among workers.
func Cost(size, m, n, k int) float64 {
	return geometries[current.Load()][size/8].cost(m, n, k)
}

// geometries is by path, then for elements of 4 and 8 bytes.
var geometries = [...][2]geometry{
	Generic: {
		{rows: 2, lanes: 4, vecs: 1, wide: 1, masked: true, gflops: 7},
		{rows: 2, lanes: 4, vecs: 1, wide: 1, masked: true, gflops: 6},
	},
	AVX2: {
		{rows: 6, lanes: 8, vecs: 2, wide: 8, gflops: 80},
		{rows: 6, lanes: 4, vecs: 2, wide: 8, gflops: 40},
	},
	AVX512: {
		{rows: 12, lanes: 16, vecs: 2, wide: 8, masked: true, gflops: 140},
		{rows: 12, lanes: 8, vecs: 2, wide: 8, masked: true, gflops: 70},
	},
}
