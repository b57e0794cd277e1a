package numpyrand

import (
	"hash/fnv"
	"slices"
	"testing"
)

// TestShuffleIsNumpys compares with numpy.random.RandomState(seed).shuffle(arange(n)).
func TestShuffleIsNumpys(t *testing.T) {
	for _, c := range []struct {
		seed uint64
		want []int
	}{
		{0, []int{2, 0, 1, 3, 4}},
		{1, []int{2, 9, 6, 4, 0, 3, 1, 7, 8, 5}},
		{1337, []int{6, 5, 3, 10, 1, 0, 4, 14, 2, 11, 9, 15, 8, 12, 13, 7}},
		{4294967295, []int{11, 8, 5, 9, 1, 10, 6, 0, 4, 7, 2, 3}},
		{42, []int{0}},
	} {
		s, err := New(c.seed)
		if err != nil {
			t.Fatal(err)
		}
		got := make([]int, len(c.want))
		for i := range got {
			got[i] = i
		}
		if Shuffle(s, got); !slices.Equal(got, c.want) {
			t.Errorf("seed %d: got %v, want %v", c.seed, got, c.want)
		}
	}
}

// TestWordsAreNumpys compares the first 2000 words of seed 7.
func TestWordsAreNumpys(t *testing.T) {
	s, err := New(7)
	if err != nil {
		t.Fatal(err)
	}
	h := fnv.New64a()
	for range 2000 {
		x := s.Uint32()
		h.Write([]byte{byte(x), byte(x >> 8), byte(x >> 16), byte(x >> 24)})
	}
	if got := h.Sum64(); got != 0x19a52c66e7434350 {
		t.Errorf("got the hash %#x", got)
	}
	if _, err := New(1 << 32); err == nil {
		t.Error("a seed beyond 32 bits is taken")
	}
}
