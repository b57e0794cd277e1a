//go:build poison

package engine

import "bytes"

// poison fills memory of undefined contents, when it is released and when it is
// allocated. A read that is too late or too early then gets numbers that no
// test accepts.
func poison(mem []byte) {
	for mem = mem[:cap(mem)]; len(mem) > 0; {
		mem = mem[copy(mem, ones):]
	}
}

var ones = bytes.Repeat([]byte{0xff}, 64<<10)
