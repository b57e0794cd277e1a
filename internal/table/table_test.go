package table

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/snappy"
	"pgregory.net/rapid"

	"github.com/cairnml/cairn/internal/crc32c"
)

type entry struct{ key, value string }

func build(t testing.TB, entries []entry) []byte {
	t.Helper()
	var b bytes.Buffer
	w := NewWriter(&b)
	for _, e := range entries {
		if err := w.Add([]byte(e.key), []byte(e.value)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Finish(); err != nil {
		t.Fatal(err)
	}
	if w.Size() != int64(b.Len()) {
		t.Fatalf("Size %d, %d bytes were written", w.Size(), b.Len())
	}
	return b.Bytes()
}

func read(b []byte) ([]entry, error) {
	r, err := Open(bytes.NewReader(b), int64(len(b)), 1<<30)
	if err != nil {
		return nil, err
	}
	var out []entry
	err = r.All(func(k, v []byte, _ int64) error {
		out = append(out, entry{string(k), string(v)})
		return nil
	})
	return out, err
}

func TestTablesRoundTrip(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		letters := rapid.StringOf(rapid.RuneFrom([]rune("abÿ")))
		keys := rapid.SliceOfNDistinct(letters, 0, 10, func(s string) string { return s }).Draw(rt, "keys")
		slices.Sort(keys)
		var want []entry
		for i, k := range keys {
			n := rapid.SampledFrom([]int{0, 1, 2, 3, 50, 100, 1000, BlockSize}).Draw(rt, "length")
			want = append(want, entry{k, strings.Repeat(string(rune('a'+i%26)), n)})
		}
		b := build(t, want)
		got, err := read(b)
		if err != nil || !slices.Equal(got, want) {
			rt.Fatalf("%d entries were read as %d: %v", len(want), len(got), err)
		}
		r, err := Open(bytes.NewReader(b), int64(len(b)), 1<<30)
		if err != nil {
			rt.Fatal(err)
		}
		for _, e := range want {
			if v, _, err := r.Get([]byte(e.key)); err != nil || v == nil || string(v) != e.value {
				rt.Fatalf("Get %q: %d bytes, %v", e.key, len(v), err)
			}
			if v, _, err := r.Get([]byte(e.key + "\x00")); err != nil || v != nil && !slices.Contains(keys, e.key+"\x00") {
				rt.Fatalf("Get of a missing key: %d bytes, %v", len(v), err)
			}
		}
	})
}

func TestSeparatorsAndSuccessors(t *testing.T) {
	for _, c := range []struct{ a, b, sep string }{
		{"abc1", "abc9", "abc2"},
		{"abc1", "abc2", "abc1"},
		{"abc", "abcd", "abc"},
		{"ab\xff", "ac", "ab\xff"},
		{"a\xff\xff", "c", "b"},
		{"", "a", ""},
	} {
		if got := string(separator([]byte(c.a), []byte(c.b))); got != c.sep {
			t.Errorf("separator(%q, %q) is %q, want %q", c.a, c.b, got, c.sep)
		}
	}
	for in, want := range map[string]string{"step": "t", "\xff\xffa": "\xff\xffb", "\xff": "\xff", "": ""} {
		if got := string(successor([]byte(in))); got != want {
			t.Errorf("successor(%q) is %q, want %q", in, got, want)
		}
	}
}

func TestWriterRefusesKeysOutOfOrder(t *testing.T) {
	w := NewWriter(&bytes.Buffer{})
	if err := w.Add([]byte("b"), nil); err != nil {
		t.Fatal(err)
	}
	if w.Add([]byte("b"), nil) == nil || w.Add([]byte("c"), nil) == nil || w.Finish() == nil {
		t.Error("a repeated key was taken, or the error doesn't stick")
	}
	w = NewWriter(&bytes.Buffer{})
	if err := w.Finish(); err != nil {
		t.Fatal(err)
	}
	if w.Finish() == nil {
		t.Error("a second Finish succeeded")
	}
}

// raw builds a table out of blocks given as their contents and type.
func raw(kinds []byte, blocks ...[]byte) []byte {
	var out []byte
	index := &block{interval: 1}
	put := func(contents []byte, kind byte) handle {
		h := handle{uint64(len(out)), uint64(len(contents))}
		out = append(append(out, contents...), kind)
		out = binary.LittleEndian.AppendUint32(out, crc32c.Mask(crc32c.Value(out[h.offset:])))
		return h
	}
	for i, b := range blocks {
		h := put(b, kinds[i])
		index.add([]byte(fmt.Sprintf("\xff%d", i)), h.append(nil))
	}
	meta := put((&block{interval: 16}).finish(), typeRaw)
	h := put(index.finish(), typeRaw)
	foot := h.append(meta.append(nil))
	foot = append(foot, make([]byte, 40-len(foot))...)
	return append(out, binary.LittleEndian.AppendUint64(foot, magic)...)
}

func contents(entries ...entry) []byte {
	b := &block{interval: 16}
	for _, e := range entries {
		b.add([]byte(e.key), []byte(e.value))
	}
	return b.finish()
}

func TestSnappyBlocksAreRead(t *testing.T) {
	want := []entry{{"a", strings.Repeat("x", 5000)}, {"b", "y"}}
	b := raw([]byte{typeSnappy}, snappy.Encode(nil, contents(want...)))
	got, err := read(b)
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%d entries, %v", len(got), err)
	}

	var out bytes.Buffer
	w := NewSnappyWriter(&out)
	for _, e := range want {
		w.Add([]byte(e.key), []byte(e.value))
	}
	if err := w.Finish(); err != nil {
		t.Fatal(err)
	}
	if n := len(build(t, want)); out.Len() > n/4 {
		t.Errorf("%d bytes, not compressed %d", out.Len(), n)
	}
	got, err = read(out.Bytes())
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%d entries, %v", len(got), err)
	}
}

func TestDamagedTablesAreRefused(t *testing.T) {
	good := contents(entry{"a", "1"}, entry{"b", "2"})
	lying := binary.AppendUvarint(nil, 1<<40)
	tail := func(n uint32) []byte { return binary.LittleEndian.AppendUint32(nil, n) }
	for _, c := range []struct {
		name string
		in   []byte
		want string
	}{
		{"empty", nil, "too few"},
		{"short", make([]byte, 47), "too few"},
		{"no magic", make([]byte, 100), "magic"},
		{"unknown type", raw([]byte{7}, good), "compression type 7"},
		{"snappy lies about its length", raw([]byte{typeSnappy}, lying), "has a wrong length"},
		{"snappy garbage", raw([]byte{typeSnappy}, []byte{10, 0xff, 0xff, 0xff}), "compressed block"},
		{"no restarts", raw([]byte{typeRaw}, []byte{1, 2, 3}), "no restarts"},
		{"zero restarts", raw([]byte{typeRaw}, tail(0)), "can't have 0 restarts"},
		{"too many restarts", raw([]byte{typeRaw}, append(tail(0), tail(1<<31)...)), "restarts"},
		{"restart between entries", raw([]byte{typeRaw}, slices.Concat([]byte{0, 1, 0, 'a'}, tail(0), tail(2), tail(2))), "a restart is at an offset where"},
		{"restart that shares", raw([]byte{typeRaw}, slices.Concat([]byte{0, 1, 0, 'a', 1, 1, 0, 'b'}, tail(0), tail(4), tail(2))), "shares 1 bytes"},
		{"shares too much", raw([]byte{typeRaw}, slices.Concat([]byte{0, 1, 0, 'a', 2, 1, 0, 'b'}, tail(0), tail(1))), "shares 2 bytes"},
		{"value beyond the block", raw([]byte{typeRaw}, slices.Concat([]byte{0, 1, 9, 'a'}, tail(0), tail(1))), "9 bytes are announced"},
		{"repeated key", raw([]byte{typeRaw}, contents(entry{"a", ""}, entry{"a", ""})), "not greater"},
		{"keys go back", raw([]byte{typeRaw}, contents(entry{"b", ""}, entry{"a", ""})), "not greater"},
		{"blocks go back", raw([]byte{0, 0}, contents(entry{"\xff0", ""}), contents(entry{"a", ""})), "comes after"},
		{"key beyond its block's", raw([]byte{typeRaw}, contents(entry{"\xff\xff", ""})), "greater than its block's key"},
	} {
		_, err := read(c.in)
		var corrupt *CorruptError
		if !errors.As(err, &corrupt) || !strings.Contains(corrupt.What, c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

func TestOverlappingAndCyclicBlocksAreRefused(t *testing.T) {
	var out []byte
	put := func(contents []byte) handle {
		h := handle{uint64(len(out)), uint64(len(contents))}
		out = append(append(out, contents...), typeRaw)
		out = binary.LittleEndian.AppendUint32(out, crc32c.Mask(crc32c.Value(out[h.offset:])))
		return h
	}
	finish := func(meta, index handle) []byte {
		foot := index.append(meta.append(nil))
		foot = append(foot, make([]byte, 40-len(foot))...)
		return append(slices.Clone(out), binary.LittleEndian.AppendUint64(foot, magic)...)
	}
	data := put(contents(entry{"a", "1"}))
	meta := put((&block{interval: 16}).finish())
	twice := &block{interval: 1}
	twice.add([]byte("b"), data.append(nil))
	twice.add([]byte("c"), data.append(nil))
	b := finish(meta, put(twice.finish()))
	if _, err := read(b); err == nil || !strings.Contains(err.Error(), "overlaps") {
		t.Errorf("the same block twice: %v", err)
	}

	out = out[:meta.offset+meta.size+trailerLen]
	self := &block{interval: 1}
	self.add([]byte("b"), handle{uint64(len(out)), 14}.append(nil))
	h := put(self.finish())
	if h.size != 14 {
		t.Fatalf("the block has %d bytes", h.size)
	}
	// The index block is its own data block: it ends, since blocks are not
	// followed further than this.
	if got, err := read(finish(meta, h)); err != nil || len(got) != 1 {
		t.Errorf("an index that names itself: %v, %v", got, err)
	}
}

func TestKeysCantGrowBeyondProportion(t *testing.T) {
	// Every index key shares a megabyte with the one before.
	long := bytes.Repeat([]byte("k"), 1<<20)
	index := &block{interval: 1 << 30}
	out := make([]byte, 64*trailerLen)
	for i := range 64 {
		index.add(append(long, byte(i)), handle{uint64(i * trailerLen), 0}.append(nil))
	}
	put := func(contents []byte) handle {
		h := handle{uint64(len(out)), uint64(len(contents))}
		out = append(append(out, contents...), typeRaw)
		out = binary.LittleEndian.AppendUint32(out, crc32c.Mask(crc32c.Value(out[h.offset:])))
		return h
	}
	meta, h := put((&block{interval: 16}).finish()), put(index.finish())
	foot := h.append(meta.append(nil))
	foot = append(foot, make([]byte, 40-len(foot))...)
	out = append(out, binary.LittleEndian.AppendUint64(foot, magic)...)
	if _, err := read(out); err == nil || !strings.Contains(err.Error(), "out of proportion") {
		t.Errorf("64 keys of a megabyte in a megabyte: %v", err)
	}
}

// FuzzTable reads arbitrary bytes. Accepted tables are written again and must
// read as the same entries.
func FuzzTable(f *testing.F) {
	f.Add(build(f, []entry{{"", "header"}, {"a", "1"}, {"ab", "2"}}))
	f.Add(raw([]byte{typeSnappy}, snappy.Encode(nil, contents(entry{"a", "zzzzzzzzzzzzzzzzzzzz"}))))
	f.Fuzz(func(t *testing.T, b []byte) {
		entries, err := read(b)
		if err != nil {
			return
		}
		again, err := read(build(t, entries))
		if err != nil || !slices.Equal(again, entries) {
			t.Fatalf("%d entries were read again as %d, %v", len(entries), len(again), err)
		}
	})
}

// FuzzBlock reads arbitrary contents with sound checksums.
func FuzzBlock(f *testing.F) {
	f.Add(contents(entry{"a", "1"}, entry{"ab", "2"}), false)
	f.Add(snappy.Encode(nil, contents(entry{"a", "1"})), true)
	f.Fuzz(func(t *testing.T, b []byte, compressed bool) {
		kind := byte(typeRaw)
		if compressed {
			kind = typeSnappy
		}
		entries, err := read(raw([]byte{kind}, b))
		if err != nil {
			return
		}
		if !slices.IsSortedFunc(entries, func(a, b entry) int { return strings.Compare(a.key, b.key) }) {
			t.Fatal("entries out of order were accepted")
		}
	})
}
