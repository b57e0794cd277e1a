package tensor

import "math"

// maxAlloc is the most bytes one tensor's storage can take on this platform.
const maxAlloc = math.MaxInt - 16
