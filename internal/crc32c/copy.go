package crc32c

//go:generate sh -c "cd _asm && go run ."

// CopyPast copies src to dst and returns the checksum of the bytes. dst has the length of src and doesn't overlap it. If
// possible it writes around the processor's caches, for data larger than these: then memory needn't be read to be
// overwritten. Other goroutines may read dst after [Fence]. Package bundle reads tensors by it. The checksum is that of
// [Value] on every machine (crc32c_test.go).
func CopyPast(dst, src []byte) uint32 {
	dst = dst[:len(src)]
	crc, n := copyFirst(dst, src)
	copy(dst[n:], src[n:])
	return Extend(crc, src[n:])
}

// Fence orders the writes of [CopyPast] before all later writes of the goroutine.
func Fence() { fence() }
