package hdf5

import (
	"encoding/binary"
	"math/bits"
)

// lookup3 returns Bob Jenkins' lookup3 hash of b with the initial value 0. It is the
// checksum of every structure of superblock version 2 and later.
func lookup3(b []byte) uint32 {
	x := 0xdeadbeef + uint32(len(b))
	y, z := x, x
	for len(b) > 12 {
		x += binary.LittleEndian.Uint32(b)
		y += binary.LittleEndian.Uint32(b[4:])
		z += binary.LittleEndian.Uint32(b[8:])
		x, y, z = mix(x, y, z)
		b = b[12:]
	}
	if len(b) == 0 {
		return z
	}
	var last [12]byte
	copy(last[:], b)
	x += binary.LittleEndian.Uint32(last[:])
	y += binary.LittleEndian.Uint32(last[4:])
	z += binary.LittleEndian.Uint32(last[8:])
	z = (z ^ y) - bits.RotateLeft32(y, 14)
	x = (x ^ z) - bits.RotateLeft32(z, 11)
	y = (y ^ x) - bits.RotateLeft32(x, 25)
	z = (z ^ y) - bits.RotateLeft32(y, 16)
	x = (x ^ z) - bits.RotateLeft32(z, 4)
	y = (y ^ x) - bits.RotateLeft32(x, 14)
	z = (z ^ y) - bits.RotateLeft32(y, 24)
	return z
}

func mix(x, y, z uint32) (uint32, uint32, uint32) {
	x = (x - z) ^ bits.RotateLeft32(z, 4)
	z += y
	y = (y - x) ^ bits.RotateLeft32(x, 6)
	x += z
	z = (z - y) ^ bits.RotateLeft32(y, 8)
	y += x
	x = (x - z) ^ bits.RotateLeft32(z, 16)
	z += y
	y = (y - x) ^ bits.RotateLeft32(x, 19)
	x += z
	z = (z - y) ^ bits.RotateLeft32(y, 4)
	y += x
	return x, y, z
}
