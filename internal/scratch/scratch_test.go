package scratch_test

import (
	"testing"

	"github.com/cairnml/cairn/internal/scratch"
)

func TestListsGrowAndAreUsedAgain(t *testing.T) {
	var p scratch.Pool[int]
	list := p.Get()
	if got := scratch.Of(list, 10); len(got) != 10 {
		t.Fatalf("%d elements, asked for 10", len(got))
	}
	first := &(*list)[0]
	if again := scratch.Of(list, 3); len(again) != 3 || &again[0] != first {
		t.Error("a shorter list has other memory")
	}
	if longer := scratch.Of(list, 100); len(longer) != 100 {
		t.Errorf("%d elements, asked for 100", len(longer))
	}
	p.Put(list)
	if allocs := testing.AllocsPerRun(100, func() {
		list := p.Get()
		scratch.Of(list, 50)
		p.Put(list)
	}); allocs > 1 { // the pool may lose one
		t.Errorf("%v allocations for a list that there is", allocs)
	}
}

func TestExtraordinaryListsAreNotKept(t *testing.T) {
	var p scratch.Pool[[16]byte]
	list := p.Get()
	scratch.Of(list, 1<<20)
	p.Put(list)
	if kept := p.Get(); cap(*kept) > 0 {
		t.Errorf("a list of %d elements of 16 bytes is kept", cap(*kept))
	}
}
