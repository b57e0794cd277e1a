package table

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/snappy"

	"github.com/cairnml/cairn/internal/binfmt"
	"github.com/cairnml/cairn/internal/crc32c"
)

// maker puts a table together from parts that need not fit each other.
type maker struct{ out []byte }

func (m *maker) put(contents []byte) handle {
	h := handle{uint64(len(m.out)), uint64(len(contents))}
	m.out = append(append(m.out, contents...), typeRaw)
	m.out = binary.LittleEndian.AppendUint32(m.out, crc32c.Mask(crc32c.Value(m.out[h.offset:])))
	return h
}

func (m *maker) finish(meta, index handle) []byte {
	return append(slices.Clone(m.out), footer(meta, index)...)
}

// TestIndexEntriesAreHandlesOfBlocks: an entry of the index names one block
// before the footer, and nothing else.
func TestIndexEntriesAreHandlesOfBlocks(t *testing.T) {
	for name, c := range map[string]struct {
		value func(data handle, size uint64) []byte
		want  string
	}{
		"no handle":       {func(handle, uint64) []byte { return []byte{0x80} }, "index entry: a varint is cut off"},
		"half a handle":   {func(handle, uint64) []byte { return []byte{1} }, "index entry: a varint is cut off"},
		"more":            {func(d handle, _ uint64) []byte { return append(d.append(nil), 1, 2) }, "index entry: 2 bytes after the block's handle"},
		"offset beyond":   {func(_ handle, size uint64) []byte { return handle{size + 1, 0}.append(nil) }, "reaches beyond the file"},
		"size beyond":     {func(_ handle, size uint64) []byte { return handle{0, size + 1}.append(nil) }, "reaches beyond the file"},
		"trailer beyond":  {func(_ handle, size uint64) []byte { return handle{0, size - trailerLen + 1}.append(nil) }, "reaches beyond the file"},
		"sum beyond":      {func(_ handle, size uint64) []byte { return handle{8, size - 8}.append(nil) }, "reaches beyond the file"},
		"sum that wraps":  {func(handle, uint64) []byte { return handle{8, 1<<64 - 8}.append(nil) }, "reaches beyond the file"},
		"just before it":  {func(_ handle, size uint64) []byte { return handle{0, size - trailerLen}.append(nil) }, "checksum"},
		"the block it is": {func(d handle, _ uint64) []byte { return d.append(nil) }, ""},
	} {
		// The length of the table depends on that of the handle.
		var b []byte
		for size, before := uint64(0), uint64(1); size != before; {
			var m maker
			data := m.put(contents(entry{"a", "1"}))
			index := &block{interval: 1}
			index.add([]byte("b"), c.value(data, size))
			meta := m.put((&block{interval: 16}).finish())
			b = m.finish(meta, m.put(index.finish()))
			before, size = size, uint64(len(b)-footerLen)
		}
		_, err := read(b)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// TestFooterNamesBlocksOfTheFile: so do its own handles, and each is checked.
func TestFooterNamesBlocksOfTheFile(t *testing.T) {
	var m maker
	meta := m.put((&block{interval: 16}).finish())
	index := m.put((&block{interval: 1}).finish())
	end := uint64(len(m.out))
	for name, c := range map[string]struct {
		meta, index handle
		want        string
		at          int64
	}{
		"sound":                   {meta, index, "", 0},
		"metaindex beyond":        {handle{end, 0}, index, "a block at 26 of 0 bytes reaches beyond the file", int64(end)},
		"index beyond":            {meta, handle{0, end}, "reaches beyond the file", int64(end)},
		"index is no block":       {meta, handle{1, 3}, "checksum", 1},
		"metaindex is no block":   {handle{1, 3}, index, "checksum", 1},
		"a block before it is it": {meta, meta, "", 0},
	} {
		b := m.finish(c.meta, c.index)
		_, err := Open(bytes.NewReader(b), int64(len(b)), 1<<20)
		var corrupt *CorruptError
		switch {
		case c.want == "":
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
		case !errors.As(err, &corrupt) || !strings.Contains(corrupt.What, c.want) || corrupt.Offset != c.at:
			t.Errorf("%s: %v, want %q at %d", name, err, c.want, c.at)
		}
	}
	b := m.finish(meta, index)
	if _, err := Open(bytes.NewReader(b[len(b)-footerLen+1:]), footerLen-1, 1<<20); err == nil || !strings.Contains(err.Error(), "too few") {
		t.Errorf("a byte less than a footer: %v", err)
	}
	b[len(b)-1] ^= 1
	var corrupt *CorruptError
	if _, err := Open(bytes.NewReader(b), int64(len(b)), 1<<20); !errors.As(err, &corrupt) || corrupt.Offset != int64(len(b)-8) {
		t.Errorf("no magic number: %v", err)
	}
	// A footer alone has the magic number and handles of nothing.
	if _, err := read(footer(handle{}, handle{})); !errors.As(err, &corrupt) || !strings.Contains(corrupt.What, "reaches beyond the file") {
		t.Errorf("a footer alone: %v", err)
	}
}

// TestKeysOfTheIndexMayTakeItsSizeAndMore finds the last block whose keys are
// taken, and the first whose keys are refused.
func TestKeysOfTheIndexMayTakeItsSizeAndMore(t *testing.T) {
	const long = 1 << 18
	table := func(n, last int) []byte {
		var m maker
		index := &block{interval: 1 << 30}
		key := bytes.Repeat([]byte("k"), long)
		for i := range n {
			h := m.put((&block{interval: 16}).finish())
			k := binary.BigEndian.AppendUint16(slices.Clone(key), uint16(i))
			if i == n-1 {
				k = append(k, bytes.Repeat([]byte("l"), last)...)
			}
			index.add(k, h.append(nil))
		}
		meta := m.put((&block{interval: 16}).finish())
		return m.finish(meta, m.put(index.finish()))
	}
	size := func(n, last int) (keys, block int) {
		b := table(n, last)
		c := bytes.NewReader(b)
		foot := make([]byte, footerLen)
		c.ReadAt(foot, int64(len(b)-footerLen))
		_, k := binary.Uvarint(foot)
		_, l := binary.Uvarint(foot[k:])
		_, o := binary.Uvarint(foot[k+l:])
		s, _ := binary.Uvarint(foot[k+l+o:])
		return n*(long+2) + last, int(s)
	}
	most := func(block int) int { return keyBudgetBase + keyBudgetFactor*block }
	n := 1
	for {
		if keys, block := size(n, 0); keys > most(block) {
			break
		}
		n++
	}
	n--
	last := 0
	for step := 1 << 16; step > 0; step /= 2 {
		for {
			keys, block := size(n, last+step)
			if keys > most(block) || last > 1<<18 {
				break
			}
			last += step
		}
	}
	if _, err := read(table(n, last)); err != nil {
		t.Errorf("%d keys and %d bytes: %v", n, last, err)
	}
	if _, err := read(table(n+1, 0)); err == nil || !strings.Contains(err.Error(), "out of proportion") {
		t.Errorf("%d keys: %v", n+1, err)
	}
}

// TestSnappyIsUsedWhereItSavesAnEighth checks that blocks are compressed only if
// that makes them smaller by more than an eighth.
func TestSnappyIsUsedWhereItSavesAnEighth(t *testing.T) {
	noise := make([]byte, 4096)
	x := uint32(1)
	for i := range noise {
		x = x*1664525 + 1013904223
		noise[i] = byte(x >> 24)
	}
	kinds := map[byte]int{}
	for n := range 2048 {
		value := slices.Concat(noise, make([]byte, n))
		block := contents(entry{"a", string(value)})
		small := snappy.Encode(nil, block)
		var out bytes.Buffer
		w := NewSnappyWriter(&out)
		if err := errors.Join(w.Add([]byte("a"), value), w.Finish()); err != nil {
			t.Fatal(err)
		}
		want, size := byte(typeRaw), len(block)
		if len(small) < len(block)-len(block)/8 {
			want, size = typeSnappy, len(small)
		}
		if got := out.Bytes()[size]; got != want {
			t.Fatalf("%d zeros: kind %d, want %d", n, got, want)
		}
		kinds[want]++
	}
	if len(kinds) != 2 {
		t.Errorf("only one kind was written: %v", kinds)
	}
}

// failingAfter takes n bytes.
type failingAfter struct{ n int }

var errFull = errors.New("full")

func (w *failingAfter) Write(p []byte) (int, error) {
	if w.n -= len(p); w.n < 0 {
		return 0, errFull
	}
	return len(p), nil
}

// TestWriterKeepsItsFirstError whatever is added afterwards.
func TestWriterKeepsItsFirstError(t *testing.T) {
	big := bytes.Repeat([]byte("x"), BlockSize)
	n := len(build(t, []entry{{"a", string(big)}, {"b", "2"}}))
	for room := range n {
		if room%977 != 0 && room < n-200 {
			continue
		}
		w := NewWriter(&failingAfter{room})
		first := w.Add([]byte("a"), big)
		size := w.Size()
		second := w.Add([]byte("b"), []byte("2"))
		if first != nil && (second != first || w.Size() != size || w.Add(nil, nil) != first) {
			t.Fatalf("room for %d bytes: %v, then %v", room, first, second)
		}
		if err := w.Finish(); !errors.Is(err, errFull) {
			t.Fatalf("room for %d bytes: %v", room, err)
		}
		if err := w.Finish(); !errors.Is(err, errFull) {
			t.Fatalf("room for %d bytes, asked again: %v", room, err)
		}
	}
	w := NewWriter(&bytes.Buffer{})
	if err := w.Add([]byte("b"), nil); err != nil {
		t.Fatal(err)
	}
	order := w.Add([]byte("a"), nil)
	if order == nil || w.Add([]byte("c"), nil) != order || w.Finish() != order {
		t.Errorf("after a key out of order: %v", order)
	}
}

// TestSeparatorsAtTheEdges: bytes of 0xff can't be raised.
func TestSeparatorsAtTheEdges(t *testing.T) {
	for _, c := range [][3]string{{"a\xfe", "a\xff", "a\xfe"}, {"a\xff", "b", "a\xff"}, {"\xff\xff", "\xff\xffa", "\xff\xff"}, {"a", "c", "b"}, {"a1", "b", "a1"}} {
		if got := string(separator([]byte(c[0]), []byte(c[1]))); got != c[2] {
			t.Errorf("between %q and %q: %q, want %q", c[0], c[1], got, c[2])
		}
	}
}

// TestErrorsEndTheScan checks that every walk returns the caller's error.
func TestErrorsEndTheScan(t *testing.T) {
	b := raw([]byte{0, 0}, contents(entry{"a", "1"}, entry{"b", "2"}), contents(entry{"\xff0a", "3"}))
	r, err := Open(bytes.NewReader(b), int64(len(b)), 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	halt := errors.New("halt")
	for stop := range 3 {
		calls := 0
		err := r.All(func([]byte, []byte, int64) error {
			if calls++; calls > stop {
				return halt
			}
			return nil
		})
		if err != halt || calls != stop+1 {
			t.Errorf("stopped after %d: %d calls, %v", stop, calls, err)
		}
	}
	damaged := slices.Clone(b)
	damaged[1] ^= 1
	r, err = Open(bytes.NewReader(damaged), int64(len(b)), 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	var corrupt *CorruptError
	if _, _, err := r.Get([]byte("a")); !errors.As(err, &corrupt) {
		t.Errorf("Get in a damaged block: %v", err)
	}
	if err := r.Find(0, [][]byte{[]byte("a")}, func(int, []byte, int64) error { return nil }); !errors.As(err, &corrupt) {
		t.Errorf("Find in a damaged block: %v", err)
	}
	if v, at, err := r.Get([]byte("\xff0a")); err != nil || string(v) != "3" || at == 0 {
		t.Errorf("Get in the sound block: %q at %d, %v", v, at, err)
	}
	if v, at, err := r.Get([]byte("\xffz")); v != nil || at != 0 || err != nil {
		t.Errorf("Get beyond the last block: %q at %d, %v", v, at, err)
	}
}

var trimmed = regexp.MustCompile(` *\n`)

// TestBlocksDoNotOverlap checks that a block begins after the trailer
// of the previous one, and that an unknown kind of block is reported with its
// offset.
func TestBlocksDoNotOverlap(t *testing.T) {
	for less, want := range map[uint64]bool{0: true, 1: false, trailerLen: false} {
		var m maker
		first := m.put(contents(entry{"a", "1"}))
		second := m.put(contents(entry{"c", "2"}))
		index := &block{interval: 1}
		index.add([]byte("b"), first.append(nil))
		index.add([]byte("d"), handle{second.offset - less, second.size}.append(nil))
		meta := m.put((&block{interval: 16}).finish())
		b := m.finish(meta, m.put(index.finish()))
		_, err := Open(bytes.NewReader(b), int64(len(b)), 1<<20)
		if (err == nil) != want || err != nil && !strings.Contains(err.Error(), "overlaps") {
			t.Errorf("%d bytes too early: %v", less, err)
		}
	}
	var corrupt *CorruptError
	block := contents(entry{"a", "1"})
	if _, err := read(raw([]byte{9}, block)); !errors.As(err, &corrupt) || corrupt.Offset != int64(len(block)) {
		t.Errorf("a block of kind 9: %v", err)
	}
}

// TestFindTakesSomeOfABlocksKeys: those before the first and after the last are
// passed over.
func TestFindTakesSomeOfABlocksKeys(t *testing.T) {
	b := build(t, []entry{{"a", "1"}, {"b", "2"}, {"c", "3"}})
	r, err := Open(bytes.NewReader(b), int64(len(b)), 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"a", "b", "c"} {
		var got []string
		err := r.Find(0, [][]byte{[]byte(key)}, func(_ int, v []byte, _ int64) error { got = append(got, string(v)); return nil })
		if want := string('1' + key[0] - 'a'); err != nil || len(got) != 1 || got[0] != want {
			t.Errorf("%s: %q, %v", key, got, err)
		}
	}
}

// TestDescribeRefusesEveryDamagedByte checks that it prints only the sound part
// of a table, and reports the damage.
func TestDescribeRefusesEveryDamagedByte(t *testing.T) {
	b := raw([]byte{typeRaw, typeSnappy}, contents(entry{"a", "1"}), snappy.Encode(nil, contents(entry{"\xff0a", "2"})))
	for i := range b {
		damaged := slices.Clone(b)
		damaged[i] ^= 0x10
		var corrupt *CorruptError
		if err := Describe(io.Discard, bytes.NewReader(damaged), int64(len(b)), 1<<20, nil); !errors.As(err, &corrupt) {
			t.Errorf("byte %d: %v", i, err)
		}
	}
	for n := range 40 {
		if err := Describe(&failingAfter{n * 40}, bytes.NewReader(b), int64(len(b)), 1<<20, nil); !errors.Is(err, errFull) {
			t.Errorf("a writer of %d bytes: %v", n*40, err)
		}
	}
}

// TestDescribePrintsEveryByteOnce checks raw and compressed blocks, values with
// and without a value function, and damage at its offset.
func TestDescribePrintsEveryByteOnce(t *testing.T) {
	list := []entry{{"a", "1"}, {"ab", ""}, {"b", "22"}}
	plain, packed := contents(list...), snappy.Encode(nil, contents(entry{"\xff0a", strings.Repeat("x", 100)}))
	b := raw([]byte{typeRaw, typeSnappy}, plain, packed)
	var out bytes.Buffer
	err := Describe(&out, bytes.NewReader(b), int64(len(b)), 1<<20, func(p *binfmt.Printer, key []byte) {
		if string(key) == "b" {
			p.Field(1, "two")
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	const want = `                                               data block, 23 bytes
00000000  00 01 01                               entry: key shares 0 bytes and has 1 more, value has 1
00000003  61                                       key "a"
00000004  31                                       value
00000005  01 01 00                               entry: key shares 1 bytes and has 1 more, value has 0
00000008  62                                       key "ab"
00000009  00 01 02                               entry: key shares 0 bytes and has 1 more, value has 2
0000000c  62                                       key "b"
0000000d  32                                       two
0000000e  32                                       value
0000000f  00 00 00 00                            1 restarts
00000013  01 00 00 00                            number of restarts
00000017  00                                     type 0
00000018  ce 37 f7 29                            masked checksum, of which crc32c is 267b43ba
                                               data block, 24 bytes, decompressed 114
0000001c  72 18 00 03 64 ff 30 61 78 ... 00 00    snappy
00000034  01                                     type 1
00000035  4a 98 6d c6                            masked checksum, of which crc32c is 56b911f5
                                               metaindex block, 8 bytes
00000039  00 00 00 00                            1 restarts
0000003d  01 00 00 00                            number of restarts
00000041  00                                     type 0
00000042  c0 f2 a1 b0                            masked checksum, of which crc32c is 83f4070f
                                               index block, 26 bytes
00000046  00 02 02                               entry: key shares 0 bytes and has 2 more, value has 2
00000049  ff 30                                    key "\xff0"
0000004b  00 17                                    block at 0, 23 bytes
0000004d  00 02 02                               entry: key shares 0 bytes and has 2 more, value has 2
00000050  ff 31                                    key "\xff1"
00000052  1c 18                                    block at 28, 24 bytes
00000054  00 00 00 00 07 00 00 00                2 restarts
0000005c  02 00 00 00                            number of restarts
00000060  00                                     type 0
00000061  f3 2a a3 a2                            masked checksum, of which crc32c is 200d8010
                                               footer
00000065  39 08                                  metaindex block at 57, 8 bytes
00000067  46 1a                                  index block at 70, 26 bytes
00000069  00 00 00 00 00 00 00 00 00 ... 00 00    padding
0000008d  57 fb 80 8b 24 75 47 db                magic number
`
	if d := cmp.Diff(want, trimmed.ReplaceAllString(out.String(), "\n")); d != "" {
		t.Error(d)
	}
}
