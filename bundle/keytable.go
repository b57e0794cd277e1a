package bundle

import "hash/maphash"

// A keyTable maps keys, which are stored elsewhere in a list, to their numbers.
// It takes half of a map's memory: eight bytes a slot, of which at most two
// thirds are used. Besides the number a slot has a part of the key's hash. Keys are
// scattered in memory, so they are compared only if these parts match. The zero value
// is an empty table.
type keyTable struct {
	seed  maphash.Seed
	slots []keySlot
	used  int // slots in use
}

// keySlot has 1 + a key's number, or 0 if the slot is free, and the low half of
// the key's hash.
type keySlot struct{ number, hash uint32 }

// grow reserves space for n keys in all.
func (t *keyTable) grow(n int) {
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
	t.slots = make([]keySlot, size)
	for _, s := range old {
		if s.number != 0 {
			t.put(s)
		}
	}
}

// put adds a key that the table lacks.
func (t *keyTable) put(s keySlot) {
	at := t.home(s.hash)
	for t.slots[at].number != 0 {
		at = (at + 1) & (len(t.slots) - 1)
	}
	t.slots[at] = s
}

// add adds key number i. The table must not have it.
func (t *keyTable) add(i int, name string) {
	t.used++
	t.grow(t.used)
	t.put(keySlot{uint32(i + 1), t.hash(name)})
}

func (t *keyTable) hash(key string) uint32 { return uint32(maphash.String(t.seed, key)) }

// home returns the slot at which the search for a key begins.
func (t *keyTable) home(hash uint32) int { return int(hash) & (len(t.slots) - 1) }

// find returns the number of the key name, or -1 and false if the table lacks it. The function key
// returns the keys of the list by number.
func (t *keyTable) find(name string, key func(i int) string) (int, bool) {
	if len(t.slots) == 0 {
		return -1, false
	}
	hash := t.hash(name)
	for at := t.home(hash); t.slots[at].number != 0; at = (at + 1) & (len(t.slots) - 1) {
		if s := t.slots[at]; s.hash == hash && key(int(s.number-1)) == name {
			return int(s.number - 1), true
		}
	}
	return -1, false
}
