package pointers

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"unsafe"
)

type object struct{ _ [26]uint64 }

// TestNumbersAreThoseOfAMap checks pointers at any distances in memory, also if
// they are repeated and in any order.
func TestNumbersAreThoseOfAMap(t *testing.T) {
	near := make([]object, 5000)
	far := make([][1 << 16]object, 3)
	var all []*object
	for i := range near {
		all = append(all, &near[i])
	}
	for i := range far {
		for k := 0; k < len(far[i]); k += 512 {
			all = append(all, &far[i][k])
		}
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for _, shuffled := range []bool{false, true} {
		if shuffled {
			rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		}
		var s Numbers[object]
		if _, ok := s.Get(all[0]); ok {
			t.Error("an empty table has a pointer")
		}
		want := map[*object]int{}
		for i := range 2 * len(all) {
			p := all[i*7%len(all)]
			if i == 100 {
				s.Grow(1000)
			}
			known, ok := want[p]
			if !ok {
				known = len(want)
				want[p] = known
			}
			if n, there := s.Add(p); n != known || there != ok {
				t.Fatalf("pointer %d: %d, %v, want %d, %v", i, n, there, known, ok)
			}
		}
		if s.Len() != len(want) || s.Len() != len(all) {
			t.Errorf("%d pointers, want %d", s.Len(), len(want))
		}
		for p, known := range want {
			if n, ok := s.Get(p); !ok || n != known || s.All()[n] != p {
				t.Fatalf("%d, %v, want %d", n, ok, known)
			}
		}
		if _, ok := s.Get(new(object)); ok {
			t.Error("a pointer that wasn't added has a number")
		}
	}
}

// TestPagesAreFoundAtOnce checks that a search looks at few slots, however far
// apart objects are and whatever is between them.
func TestPagesAreFoundAtOnce(t *testing.T) {
	search := func(name string, s *Numbers[[2]byte]) {
		steps := 0
		shift, _, _ := s.layout()
		for _, p := range s.All() {
			number := uintptr(unsafe.Pointer(p)) >> shift
			const golden = 0x9E3779B1
			at := int(uint64(uint32(number)*golden) * uint64(len(s.pages)) >> 32)
			for ; s.pages[at&(len(s.pages)-1)].number != number; at++ {
				steps++
			}
		}
		if steps > 4*s.Len() {
			t.Errorf("%s: %d steps for %d pointers", name, steps, s.Len())
		}
	}
	for _, stride := range []int{1, 2, 3, 64, 1024, 1 << 14} {
		all := make([][2]byte, 4096*stride)
		var s Numbers[[2]byte]
		for i := range 4096 {
			s.Add(&all[i*stride])
		}
		search(fmt.Sprint("stride ", stride), &s)
	}
	var s Numbers[[2]byte]
	var between []byte
	for i := range 50_000 {
		between = make([]byte, i%1500)
		s.Add((*[2]byte)(make([]byte, 2+i%100)))
	}
	search("between others", &s)
	_ = between
}

func TestRoomIsMadeAtOnce(t *testing.T) {
	objects := make([]object, 10_000)
	if n := testing.AllocsPerRun(3, func() {
		var s Numbers[object]
		s.Grow(len(objects))
		for i := range objects {
			s.Add(&objects[i])
		}
	}); n > 3 {
		t.Errorf("%v allocations", n)
	}
}
