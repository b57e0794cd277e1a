// Package murmur has the 64-bit hash that TensorFlow's older ops and its hash maps use.
// Packages kernel/lookup and kernel/text use it.
package murmur

import "encoding/binary"

// Hash64 returns MurmurHash64A of s with TensorFlow's seed: tsl's Hash64. Its tail is read as one
// little-endian number. The values must stay: they decide buckets of StringToHashBucket and the
// order of hash maps, which checkpoints and results contain. Fingerprint64, the hash of the fast
// ops, is another one.
func Hash64(s string) uint64 {
	const seed, m, r = 0xDECAFCAFFE, 0xc6a4a7935bd1e995, 47
	b := []byte(s)
	h := seed ^ uint64(len(b))*m
	for ; len(b) >= 8; b = b[8:] {
		k := binary.LittleEndian.Uint64(b) * m
		k ^= k >> r
		h = (h ^ k*m) * m
	}
	if len(b) > 0 {
		var rest [8]byte
		copy(rest[:], b)
		h = (h ^ binary.LittleEndian.Uint64(rest[:])) * m
	}
	h ^= h >> r
	h *= m
	return h ^ h>>r
}
