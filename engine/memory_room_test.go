package engine

import (
	"strings"
	"testing"

	"github.com/cairnml/cairn/tensor"
)

// TestCallsLeaveRoomForTheProcess checks that a call without a limit can't have all memory of
// the machine, in one piece or in many.
func TestCallsLeaveRoomForTheProcess(t *testing.T) {
	most := machineMemory()
	whole := func() *Env { return &Env{Arena: NewArena()} }
	used := func(n int64) *Env {
		e := whole()
		e.Arena.inUse = n
		return e
	}
	for name, err := range map[string]error{
		"one output":               whole().afford(tensor.Float32, tensor.Shape{1}, most-most/16),
		"scratch memory":           whole().affordScratch(int(most - most/16)),
		"texts":                    whole().affordAll(most - most/16),
		"without an arena":         new(Env).afford(tensor.Float32, tensor.Shape{1}, most-most/16),
		"negative scratch memory":  whole().affordScratch(-1),
		"more than the limit left": func() error { e := used(90); e.Arena.Limit = 100; return e.afford(tensor.Float32, tensor.Shape{3}, 12) }(),
	} {
		if err == nil || !strings.Contains(err.Error(), "bytes") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := whole().afford(tensor.Float32, tensor.Shape{1 << 25}, 128<<20); err != nil {
		t.Errorf("128 MiB: %v", err)
	}
	e := whole()
	if err := e.affordAll(100 << 20); err != nil || e.Arena.grantedText != 164<<20 {
		t.Errorf("100 MiB of texts: %v, granted %d", err, e.Arena.grantedText)
	}
	if err := e.affordAll(70 << 20); err != nil || e.Arena.grantedText != 134<<20 {
		t.Errorf("the next kernel's texts: %v, granted %d", err, e.Arena.grantedText)
	}
}

// TestACallAsksAgainForEachStep checks that a call which grows in small steps looks at the
// process's memory every 64 MiB.
func TestACallAsksAgainForEachStep(t *testing.T) {
	e := &Env{Arena: NewArena()}
	const step = 1 << 20
	asked, granted := 0, int64(0)
	for range 500 {
		if err := e.afford(tensor.Uint8, tensor.Shape{step}, step); err != nil {
			t.Fatal(err)
		}
		e.Arena.inUse += step
		if e.Arena.granted != granted {
			asked, granted = asked+1, e.Arena.granted
		}
	}
	if asked < 6 || asked > 8 {
		t.Errorf("500 MiB in steps of 1 MiB made %d looks, want 7", asked)
	}
}
