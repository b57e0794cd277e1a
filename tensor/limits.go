package tensor

import "math"

// maxAlloc is the most bytes that one tensor's storage can take on this platform: alloc rounds
// up to words of 16 bytes.
const maxAlloc = math.MaxInt - 16
