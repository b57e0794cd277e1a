//go:build !amd64 || noasm

package crc32c

// copyFirst copies the first n bytes and returns their checksum: none here.
func copyFirst(dst, src []byte) (crc uint32, n int) { return 0, 0 }

func fence() {}
