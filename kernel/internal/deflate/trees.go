package deflate

// Bits and Huffman codes, with zlib's order of equal weights.

// bitWriter writes bits, the lowest first.
type bitWriter struct {
	bytes []byte
	bits  uint64
	count uint
}

// put writes the n low bits of v.
func (w *bitWriter) put(v uint32, n uint) {
	w.bits |= uint64(v) << w.count
	for w.count += n; w.count >= 8; w.count -= 8 {
		w.bytes = append(w.bytes, byte(w.bits))
		w.bits >>= 8
	}
}

// align fills the last byte with zeros.
func (w *bitWriter) align() {
	if w.count > 0 {
		w.put(0, 8-w.count)
	}
}

// begin writes the header of a block of a kind.
func (w *bitWriter) begin(kind uint32, last bool) {
	if last {
		kind |= 1
	}
	w.put(kind, 3)
}

// stored writes a block of bytes as they are.
func (w *bitWriter) stored(b []byte, last bool) {
	w.begin(0, last)
	w.align()
	n := uint16(len(b))
	w.bytes = append(w.bytes, byte(n), byte(n>>8), byte(^n), byte(^n>>8))
	w.bytes = append(w.bytes, b...)
}

// code is a Huffman code: of each symbol how often it occurs, its bits with the
// first one lowest, and how many they are.
type code struct {
	freq   []int
	bits   []uint32
	length []int
}

func newCode(n int) code { return code{make([]int, n), make([]uint32, n), make([]int, n)} }

// assign assigns codes to the symbols of each length, in order.
func (c *code) assign() {
	var count, next [17]int
	for _, n := range c.length {
		if n > 0 {
			count[n]++
		}
	}
	for n, v := 1, 0; n < 17; n++ {
		if n > 1 {
			v = (v + count[n-1]) << 1
		}
		next[n] = v
	}
	for s, n := range c.length {
		if n == 0 {
			continue
		}
		v, r := next[n], uint32(0)
		next[n]++
		for range n {
			r, v = r<<1|uint32(v&1), v>>1
		}
		c.bits[s] = r
	}
}

// build makes the lengths of at most so many bits and returns the last symbol that
// has one. Ties are broken by zlib's heap: two trees as light are ordered by how
// deep they are.
func (c *code) build(most int) (last int) {
	n := len(c.freq)
	freq, dad, depth := append(append(make([]int, 0, 2*n+1), c.freq...), make([]int, n+1)...), make([]int, 2*n+1), make([]int, 2*n+1)
	heap := make([]int, 1, n+1) // from 1 on
	last = -1
	for s, k := range c.freq {
		if c.length[s] = 0; k > 0 {
			heap = append(heap, s)
			last = s
		}
	}
	for len(heap) < 3 { // there are at least two codes
		s := 0
		if last < 2 {
			last++
			s = last
		}
		freq[s] = 1
		heap = append(heap, s)
	}
	less := func(a, b int) bool { return freq[a] < freq[b] || freq[a] == freq[b] && depth[a] <= depth[b] }
	down := func(k int) {
		v := heap[k]
		for j := 2 * k; j < len(heap); j = 2 * k {
			if j+1 < len(heap) && less(heap[j+1], heap[j]) {
				j++
			}
			if less(v, heap[j]) {
				break
			}
			heap[k] = heap[j]
			k = j
		}
		heap[k] = v
	}
	for k := (len(heap) - 1) / 2; k >= 1; k-- {
		down(k)
	}
	var order []int // nodes as they leave the heap, the lightest first
	node := n
	for len(heap) > 2 {
		a := heap[1]
		heap[1] = heap[len(heap)-1]
		heap = heap[:len(heap)-1]
		down(1)
		b := heap[1]
		order = append(order, a, b)
		freq[node] = freq[a] + freq[b]
		depth[node] = max(depth[a], depth[b]) + 1
		dad[a], dad[b] = node, node
		heap[1] = node
		node++
		down(1)
	}
	order = append(order, heap[1])
	c.limit(order, dad, most)
	c.assign()
	return last
}

// limit makes lengths of the tree: nodes at most so deep. Too deep ones take the
// place of shallower ones.
func (c *code) limit(order, dad []int, most int) {
	n := len(c.freq)
	lengths := make([]int, 2*n+1)
	var count [17]int
	over := 0
	root := order[len(order)-1]
	for i := len(order) - 2; i >= 0; i-- {
		v := order[i]
		bits := 1
		if dad[v] != root {
			bits = lengths[dad[v]] + 1
		}
		if bits > most {
			bits = most
			over++
		}
		if lengths[v] = bits; v < n {
			c.length[v] = bits
			count[bits]++
		}
	}
	if over == 0 {
		return
	}
	for ; over > 0; over -= 2 {
		bits := most - 1
		for count[bits] == 0 {
			bits--
		}
		count[bits]--
		count[bits+1] += 2
		count[most]--
	}
	i := 0
	for bits := most; bits > 0; bits-- {
		for k := count[bits]; k > 0; {
			v := order[i]
			if i++; v < n {
				c.length[v] = bits
				k--
			}
		}
	}
}
