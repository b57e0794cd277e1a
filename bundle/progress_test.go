package bundle

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/vfs"
)

// TestProgressOfAReadAddsUp reads small pieces that are read in rows, at other
// places than the file's beginning.
func TestProgressOfAReadAddsUp(t *testing.T) {
	dir := vfs.MemDir()
	const n = 20
	write(t, dir, "c", nil, func(w *Writer) {
		for i := range n {
			if err := w.Add(t.Context(), fmt.Sprintf("v%02d", i), sample(t, tensor.Uint8, 10_000)); err != nil {
				t.Fatal(err)
			}
		}
	})
	r := mustOpen(t, dir, "c")
	for _, names := range [][]string{r.Names()[n/2:], r.Names()[n-1:]} { // in a row, and alone
		for _, given := range []bool{false, true} {
			var reqs []ReadRequest
			for _, name := range names {
				req := ReadRequest{Name: name}
				if given {
					req.Dst = tensor.Must(tensor.Zeros(tensor.Uint8, 10_000))
				}
				reqs = append(reqs, req)
			}
			var last, all int64
			err := r.ReadAll(t.Context(), reqs, &ReadAllOptions{Workers: 1, Progress: func(done, total int64) {
				if done < last || done > total {
					t.Errorf("%d of %d bytes after %d", done, total, last)
				}
				last, all = done, total
			}})
			if err != nil {
				t.Fatal(err)
			}
			if want := int64(len(names) * 10_000); last != want || all != want {
				t.Errorf("%d of %d bytes at the end, want %d", last, all, want)
			}
		}
	}
}

// TestProgressOfStringsAddsUp: they are read from the front.
func TestProgressOfStringsAddsUp(t *testing.T) {
	dir := vfs.MemDir()
	write(t, dir, "c", nil, func(w *Writer) {
		if err := errors.Join(w.Add(t.Context(), "s", tensor.Vector("a", "bc")), w.Add(t.Context(), "x", sample(t, tensor.Uint8, 7))); err != nil {
			t.Fatal(err)
		}
	})
	r := mustOpen(t, dir, "c")
	var size int64
	for e := range r.Entries() {
		size += e.Size
	}
	var last, all int64
	if err := r.Verify(t.Context(), &VerifyOptions{Progress: func(done, total int64) { last, all = done, total }}); err != nil {
		t.Fatal(err)
	}
	if last != size || all != size {
		t.Errorf("%d of %d bytes at the end, want %d", last, all, size)
	}
}

func TestOrderedStringHasOneSpelling(t *testing.T) {
	for _, s := range []string{"", "a\x00\xff\xff\x00b"} {
		if v, rest, ok := readOrderedString(string(appendOrderedString(nil, s)) + "rest"); !ok || v != s || rest != "rest" {
			t.Errorf("%q: %q, %q, %v", s, v, rest, ok)
		}
	}
	for _, s := range []string{"", "a", "a\x00", "a\x00\x02b\x00\x01", "a\xffb\x00\x01", "\xff\xff\x00\x01", "\xff\x01\x00\x01"} {
		if v, _, ok := readOrderedString(s); ok {
			t.Errorf("%q was read as %q", s, v)
		}
	}
	for n := range 20 { // numbers of more bytes than 64 bits have
		for _, c := range []string{"\xff", "\x00"} {
			if v, _, ok := readOrderedInt(strings.Repeat(c, n)); ok {
				t.Errorf("%d times %q was read as %d", n, c, v)
			}
		}
	}
}

func TestOrderedUintHasOneSpelling(t *testing.T) {
	for _, s := range []string{"\x01\x00", "\x02\x00\x01", "\x09", "\x02\x01", ""} {
		if v, _, ok := readOrderedUint(s); ok {
			t.Errorf("%q was read as %d", s, v)
		}
	}
	if v, rest, ok := readOrderedUint("\x00x"); !ok || v != 0 || rest != "x" {
		t.Errorf("zero: %d, %q, %v", v, rest, ok)
	}
}
