package checkpoint

import (
	"fmt"
	"testing"
	"time"

	"github.com/cairnml/cairn/trackable"
)

// TestTheFirstOfTwoEdgesGetsTheValue: two edges of the file lead to one variable, and the program gives both fields
// their own. The same one gets the value each time.
func TestTheFirstOfTwoEdgesGetsTheValue(t *testing.T) {
	type pair struct{ A, B *trackable.Variable }
	type root struct{ Left, Right *pair }
	v := variable(5)
	src := written(t, &root{&pair{v, v}, &pair{v, v}}, nil)
	for range 40 {
		r := &root{&pair{}, &pair{}}
		ck := newCheckpoint(t, r, nil)
		report := restored(t, ck, src, lenientRestore)
		r.Left.A, r.Left.B, r.Right.A, r.Right.B = variable(0), variable(0), variable(0), variable(0)
		_ = report.AssertConsumed() // it delivers, and fails since three variables have no value
		var got []float32
		for _, v := range []*trackable.Variable{r.Left.A, r.Left.B, r.Right.A, r.Right.B} {
			got = append(got, floats(t, v)[0])
		}
		if want := "[5 0 0 0]"; fmt.Sprint(got) != want {
			t.Fatalf("got %v, want %s", got, want)
		}
	}
}

// TestManySlotsAreComparedInLinearTime: a hostile file may have a million slots for one variable.
func TestManySlotsAreComparedInLinearTime(t *testing.T) {
	const n = 40_000
	slots := func() []pendingSlot {
		out := make([]pendingSlot, n)
		for i := range out {
			out[i] = pendingSlot{name: fmt.Sprintf("slot%06d", i), owner: 2, slot: 3, variable: t}
		}
		return out
	}
	l := func() *load {
		return &load{slotsOf: map[int32][]pendingSlot{1: slots()}, slotsLeft: map[int32][]pendingSlot{2: slots()}}
	}
	c := &comparison{old: l(), later: l(), same: map[int32]int32{1: 1, 2: 2}}
	start := time.Now()
	if !c.hasSlotsOf() || !c.hasSlots(c.old.slotsLeft) {
		t.Error("equal slots differ")
	}
	c.later.slotsOf[1][n/2].name = "other"
	c.later.slotsLeft[2][n/2].variable = c
	if c.hasSlotsOf() || c.hasSlots(c.old.slotsLeft) {
		t.Error("other slots are equal")
	}
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("it took %v", took)
	}
}
