//go:build poison

package engine

import "testing"

// TestPoisonedMemory: memory that an arena allocates, and memory that it got
// back, is all ones.
func TestPoisonedMemory(t *testing.T) {
	for _, n := range []int{16, 100 << 10} {
		a := new(Arena)
		mem, b := a.Alloc(n)
		check := func(when string) {
			for i, x := range mem {
				if x != 0xff {
					t.Fatalf("%s, byte %d of %d is %#x", when, i, n, x)
				}
			}
			clear(mem)
		}
		check("when it is new")
		a.release(b)
		check("when it is given back")
		a.Alloc(n)
		check("when it is handed out again")
		a.Recycle()
		check("when the call ends")
	}
}
