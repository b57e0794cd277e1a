//go:build poison

package engine

// poison fills memory of undefined contents, when it is released and when it is
// allocated. A read that is too late or too early then gets numbers that no
// test accepts.
func poison(mem []byte) {
	mem = mem[:cap(mem)]
	for i := range mem {
		mem[i] = 0xff
	}
}
