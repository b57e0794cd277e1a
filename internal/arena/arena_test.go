package arena

import (
	"bytes"
	"strconv"
	"strings"
	"testing"
)

func TestStringsStayWhatTheyWere(t *testing.T) {
	var a Strings
	var got, want []string
	for i := range 5000 {
		part := strings.Repeat("x", i%300)
		b := []byte(strconv.Itoa(i))
		got = append(got, a.Join(part, "/", strconv.Itoa(i)), a.Copy(b), a.Join())
		want = append(want, part+"/"+strconv.Itoa(i), string(b), "")
		copy(b, bytes.Repeat([]byte{'!'}, len(b)))
	}
	for i := range got {
		if got[i] != want[i] {
			t.Fatalf("string %d: %q, want %q", i, got[i], want[i])
		}
	}
}

func TestManyStringsTakeFewAllocations(t *testing.T) {
	if n := testing.AllocsPerRun(3, func() {
		var a Strings
		for range 10_000 {
			a.Join("model", "/", "kernel")
		}
	}); n > few+10 {
		t.Errorf("%v allocations", n)
	}
}
