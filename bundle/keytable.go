package bundle

import "hash/maphash"

// A keyTable finds the numbers of keys that lie elsewhere, in a list. It takes a
// quarter of a map's memory: four bytes a slot, of which at most two thirds are
// used. The zero value is an empty table.
type keyTable struct {
	seed  maphash.Seed
	slots []int32 // a key's number and one, 0 where the slot is free
	used  int
}

// grow makes room for n keys in all; key returns those that are there.
func (t *keyTable) grow(n int, key func(i int) string) {
	size := max(len(t.slots), 16)
	for size*2/3 < n {
		size *= 2
	}
	if size == len(t.slots) {
		return
	}
	if t.slots == nil {
		t.seed = maphash.MakeSeed()
	}
	old := t.slots
	t.slots = make([]int32, size)
	for _, s := range old {
		if s != 0 {
			t.put(key(int(s-1)), s)
		}
	}
}

// put takes up a key that the table lacks.
func (t *keyTable) put(key string, slot int32) {
	at := t.home(key)
	for t.slots[at] != 0 {
		at = (at + 1) & (len(t.slots) - 1)
	}
	t.slots[at] = slot
}

// add takes up key number i, which the table lacks; key returns the others.
func (t *keyTable) add(i int, name string, key func(i int) string) {
	t.used++
	t.grow(t.used, key)
	t.put(name, int32(i+1))
}

// home returns where the search for a key begins.
func (t *keyTable) home(key string) int {
	return int(maphash.String(t.seed, key) & uint64(len(t.slots)-1))
}

// find returns a key's number; key returns those of the list.
func (t *keyTable) find(name string, key func(i int) string) (int, bool) {
	if len(t.slots) == 0 {
		return -1, false
	}
	for at := t.home(name); t.slots[at] != 0; at = (at + 1) & (len(t.slots) - 1) {
		if i := int(t.slots[at] - 1); key(i) == name {
			return i, true
		}
	}
	return -1, false
}
