package matmul

import "testing"

// TestRoomOfALateHelperIsKept holds a helper that wasn't counted to the memory that an
// earlier call made for one.
func TestRoomOfALateHelperIsKept(t *testing.T) {
	a := &rowCall{rowChain: &rowChain{inputs: 1, steps: make([]rowStep, 2), room: 8}, perBlock: 3}
	counted := &rowRoom{values: make([][]float32, 3), mem: make([]float32, 3*8)}
	a.idle = append(a.idle, counted)
	var late *float32
	for call := range 3 {
		counted.mem = make([]float32, 3*8)
		first, second := a.take(), a.take()
		if first != counted || len(second.mem) < 3*8 || len(second.values) != 3 {
			t.Fatalf("call %d: %d numbers of room, %d values", call, len(second.mem), len(second.values))
		}
		if late == nil {
			late = &second.mem[0]
		} else if late != &second.mem[0] {
			t.Errorf("call %d makes room anew", call)
		}
		a.idle = append(a.idle, first, second)
		a.end()
	}
	a.perBlock = 5
	if r := a.take(); len(r.mem) < 5*8 {
		t.Errorf("%d numbers of room for larger blocks", len(r.mem))
	}
}
