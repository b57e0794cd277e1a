package crc32c

//go:generate sh -c "cd _asm && go run ."

// CopyPast copies src to dst, which has the same length and doesn't overlap it, and
// returns the checksum of the bytes. Where it can it writes around the processor's
// caches, for what is more than these hold: memory needn't be read to be overwritten then.
// Other goroutines may look at dst after [Fence].
func CopyPast(dst, src []byte) uint32 {
	dst = dst[:len(src)]
	crc, n := copyFirst(dst, src)
	copy(dst[n:], src[n:])
	return Extend(crc, src[n:])
}

// Fence puts what [CopyPast] wrote before all that the goroutine writes from now on.
func Fence() { fence() }
