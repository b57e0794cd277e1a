package table

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/snappy"
)

// failingAt can be read except for one byte, at which it returns err.
type failingAt struct {
	b   []byte
	at  int64
	err error
}

func (r failingAt) ReadAt(p []byte, off int64) (int, error) {
	if off <= r.at && r.at < off+int64(len(p)) {
		return copy(p, r.b[off:r.at]), r.err
	}
	return copy(p, r.b[off:]), nil
}

// TestFaultsOfReadingAreReported distinguishes a file that is too short from one that
// can't be read.
func TestFaultsOfReadingAreReported(t *testing.T) {
	b := build(t, []entry{{"a", "1"}, {"b", "2"}})
	size := int64(len(b))
	broken := errors.New("the disk is broken")
	for _, c := range []struct {
		err  error
		want string
	}{{io.EOF, "too early"}, {nil, "too early"}, {broken, "broken"}} {
		// In the footer, and in each of the blocks.
		opened := 0
		for at := int64(0); at < size; at++ {
			r, err := Open(failingAt{b, at, c.err}, size, 1<<20)
			if err == nil {
				opened++
				err = r.All(func(_, _ []byte, _ int64) error { return nil })
			}
			var corrupt *CorruptError
			if err == nil || !strings.Contains(err.Error(), c.want) || errors.As(err, &corrupt) != (c.err != broken) {
				t.Fatalf("%v at byte %d: %v", c.err, at, err)
			}
		}
		if opened == 0 {
			t.Errorf("%v: no table was opened whose block can't be read", c.err)
		}
	}
	if r, err := Open(bytes.NewReader(b), size, 1<<20); err != nil || r == nil {
		t.Error(err)
	}
}

func TestBlocksTakeNoMoreThanTheLimit(t *testing.T) {
	value := strings.Repeat("x", 1000)
	block := contents(entry{"a", value})
	small := snappy.Encode(nil, block)
	for name, c := range map[string]struct {
		file []byte
		need int
	}{
		"as it stands": {raw([]byte{typeRaw}, block), len(block)},
		"compressed":   {raw([]byte{typeSnappy}, small), len(block)},
	} {
		for _, less := range []int{0, 1} {
			r, err := Open(bytes.NewReader(c.file), int64(len(c.file)), int64(c.need-less))
			if err != nil {
				t.Fatal(err)
			}
			err = r.All(func(_, _ []byte, _ int64) error { return nil })
			if (less == 0) != (err == nil) || less > 0 && !errors.Is(err, ErrLimit) {
				t.Errorf("%s, %d bytes less than it needs: %v", name, less, err)
			}
		}
	}
}

// TestSnappyLengthsBeyondWhatItCanCompressAreRefused holds the bound on both
// sides: the longest run that snappy can make is read.
func TestSnappyLengthsBeyondWhatItCanCompressAreRefused(t *testing.T) {
	block := contents(entry{"a", strings.Repeat("x", 1<<16)})
	small := snappy.Encode(nil, block)
	if len(block) < 15*len(small) {
		t.Fatalf("%d bytes became %d", len(block), len(small))
	}
	if _, err := read(raw([]byte{typeSnappy}, small)); err != nil {
		t.Error(err)
	}
	lying := append(binary.AppendUvarint(nil, uint64(len(small)*snappyRatio+65)), small[3:]...)
	if _, err := read(raw([]byte{typeSnappy}, lying)); err == nil || !strings.Contains(err.Error(), "has a wrong length") {
		t.Error(err)
	}
}

// TestPlacesOfDamage pins the offsets that errors name.
func TestPlacesOfDamage(t *testing.T) {
	tail := func(n ...uint32) (b []byte) {
		for _, v := range n {
			b = binary.LittleEndian.AppendUint32(b, v)
		}
		return b
	}
	one := []byte{0, 1, 0, 'a'}
	for name, c := range map[string]struct {
		block []byte
		want  string
		at    int64
	}{
		"no restarts":              {[]byte{1, 2, 3}, "no restarts", 0},
		"one restart too many":     {slices.Concat(one, tail(0, 3)), "can't have 3 restarts", 8},
		"a restart after the end":  {slices.Concat(one, tail(0, 9, 2)), "a restart is at an offset where", 8},
		"the first isn't at 0":     {slices.Concat(one, tail(1, 1)), "a restart is at an offset where", 4},
		"a restart of no entries":  {tail(7, 1), "a restart is at an offset where", 0},
		"two of no entries":        {tail(0, 0, 2), "a restart is at an offset where", 0},
		"shares with no key":       {slices.Concat([]byte{1, 1, 0, 'a'}, tail(0, 1)), "shares 1 bytes with a key of 0", 0},
		"a key cut off":            {slices.Concat(one, []byte{0, 9, 0}, tail(0, 1)), "9 bytes are announced, 0 are left", 7},
		"a varint of 33 bits":      {slices.Concat([]byte{0x80, 0x80, 0x80, 0x80, 0x10, 0, 0}, tail(0, 1)), "longer than 32 bits", 0},
		"a key beyond its block's": {contents(entry{"\xff\xff", ""}), "greater than its block's key", 0},
	} {
		_, err := read(raw([]byte{typeRaw}, c.block))
		var corrupt *CorruptError
		if !errors.As(err, &corrupt) || !strings.Contains(corrupt.What, c.want) || corrupt.Offset != c.at {
			t.Errorf("%s: %v, want %q at %d", name, err, c.want, c.at)
		}
	}
	// A block may be empty, with its one restart.
	if got, err := read(raw([]byte{typeRaw}, tail(0, 1))); err != nil || len(got) != 0 {
		t.Errorf("%v, %v", got, err)
	}
}

// TestFooterIsCanonical changes every byte of a footer.
func TestFooterIsCanonical(t *testing.T) {
	b := build(t, []entry{{"a", "1"}})
	for i := len(b) - footerLen; i < len(b); i++ {
		for bit := range 8 {
			damaged := slices.Clone(b)
			damaged[i] ^= 1 << bit
			_, err := read(damaged)
			var corrupt *CorruptError
			if !errors.As(err, &corrupt) {
				t.Fatalf("byte %d, bit %d: %v", i, bit, err)
			}
		}
	}
	// Padding names its place.
	damaged := slices.Clone(b)
	damaged[len(b)-9] = 1
	var corrupt *CorruptError
	if _, err := read(damaged); !errors.As(err, &corrupt) || corrupt.Offset != int64(len(b)-9) || !strings.Contains(corrupt.What, "byte 39 is 0x01, it should be 0x00") {
		t.Errorf("%v", err)
	}
	// Varints that don't end are reported as such.
	damaged = slices.Clone(b)
	copy(damaged[len(b)-footerLen:], bytes.Repeat([]byte{0xff}, 40))
	if _, err := read(damaged); !errors.As(err, &corrupt) || !strings.Contains(corrupt.What, "longer than 64 bits") {
		t.Errorf("%v", err)
	}
}

// TestEmptyValuesAreFound distinguishes a key without a value from a missing
// one.
func TestEmptyValuesAreFound(t *testing.T) {
	b := build(t, []entry{{"a", ""}, {"c", "3"}, {"e", ""}})
	r, err := Open(bytes.NewReader(b), int64(len(b)), 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]string{"": "nil", "a": "", "b": "nil", "c": "3", "e": "", "f": "nil"} {
		v, _, err := r.Get([]byte(key))
		if got := string(v); err != nil || (v == nil) != (want == "nil") || v != nil && got != want {
			t.Errorf("Get %q: %q, nil %v, %v", key, v, v == nil, err)
		}
	}
	keys := [][]byte{[]byte("a"), []byte("b"), []byte("c"), []byte("d"), []byte("e"), []byte("f")}
	var got []string
	if err := r.Find(0, keys, func(i int, v []byte, _ int64) error {
		got = append(got, fmt.Sprintf("%d:%v:%s", i, v == nil, v))
		return nil
	}); err != nil {
		t.Error(err)
	}
	if want := []string{"0:false:", "1:true:", "2:false:3", "3:true:", "4:false:", "5:true:"}; !slices.Equal(got, want) {
		t.Errorf("found %q, want %q", got, want)
	}
	// An error ends it, at a key that is there, one that isn't, and one after all.
	for stop := range keys {
		calls, halt := 0, errors.New("halt")
		err := r.Find(0, keys, func(i int, _ []byte, _ int64) error {
			if calls++; i == stop {
				return halt
			}
			return nil
		})
		if err != halt || calls != stop+1 {
			t.Errorf("Find stopped at key %d: %d calls, %v", stop, calls, err)
		}
	}
	calls := 0
	if err := r.Find(1, keys[5:], func(int, []byte, int64) error { calls++; return nil }); err != nil || calls != 1 {
		t.Errorf("beyond the last block: %d calls, %v", calls, err)
	}
	if n, size := r.Block([]byte("zzz")); n != 1 || size != 0 {
		t.Errorf("Block of a key greater than all: %d, %d", n, size)
	}
}

// TestBlocksEndWhereTensorFlowEndsThem writes blocks of exactly the size at which
// one ends, and a byte less.
func TestBlocksEndWhereTensorFlowEndsThem(t *testing.T) {
	// One entry: three varints (1, 1, 3 bytes), the key, the value, the restart
	// and the number of restarts; and TensorFlow counts the array's end twice.
	const around = 1 + 1 + 3 + 1 + 4 + 4
	for less, blocks := range map[int]int{0: 2, 1: 1} {
		b := build(t, []entry{{"a", strings.Repeat("x", BlockSize-around-less)}, {"b", ""}})
		r, err := Open(bytes.NewReader(b), int64(len(b)), 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		if len(r.blocks) != blocks {
			t.Errorf("%d bytes less than a block: %d blocks, want %d", less, len(r.blocks), blocks)
		}
	}
}

// TestRestartsAreAtEverySixteenthEntry pins a block's layout.
func TestRestartsAreAtEverySixteenthEntry(t *testing.T) {
	var list []entry
	for i := range 33 {
		list = append(list, entry{fmt.Sprintf("key%02d", i), ""})
	}
	b := contents(list...)
	n := int(binary.LittleEndian.Uint32(b[len(b)-4:]))
	if n != 3 {
		t.Fatalf("%d restarts", n)
	}
	for i := range n {
		at := int(binary.LittleEndian.Uint32(b[len(b)-4-4*(n-i):]))
		if want := fmt.Sprintf("key%02d", 16*i); b[at] != 0 || string(b[at+3:at+8]) != want {
			t.Errorf("restart %d at %d: %q, want %q", i, at, b[at:at+8], want)
		}
	}
}
