package tensor

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

const numpyDir = "testdata/numpy2.4/"

func openNPZ(t *testing.T, name string) *NPZ {
	t.Helper()
	b, err := os.ReadFile(numpyDir + name)
	if err != nil {
		t.Fatal(err)
	}
	z, err := OpenNPZ(bytes.NewReader(b), int64(len(b)), nil)
	if err != nil {
		t.Fatal(err)
	}
	return z
}

func TestTensorsPrintAsNumpyArrays(t *testing.T) {
	raw, err := os.ReadFile(numpyDir + "print.json")
	if err != nil {
		t.Fatal(err)
	}
	var want map[string]string
	if err := json.Unmarshal(raw, &want); err != nil {
		t.Fatal(err)
	}
	z := openNPZ(t, "print.npz")
	for _, name := range z.Names() {
		x, err := z.Read(context.Background(), name)
		if err != nil {
			t.Error(err)
			continue
		}
		if d := cmp.Diff(want[name], x.String()); d != "" {
			t.Errorf("%s (-numpy +ours):\n%s", name, d)
		}
	}
}

func TestTextOfTypesThatNumpyLacks(t *testing.T) {
	for _, c := range []struct {
		x    *Tensor
		want string
	}{
		{Vector(ToBF16(0.1), ToBF16(2)), "[0.10009766 2.        ]"},
		{Scalar(ToF8E4M3FN(448)), "448.0"},
		{Vector[I4](0x0c, 7), "[-4  7]"},
		{Must(FromStrings(Variant, []string{"abc"})), "<variant, 3 bytes>"},
		{Vector[Q8](-1), "[-1]"},
	} {
		if got := c.x.String(); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
	x := Must(New(make([]float32, 4000), 40, 100))
	if got := x.Text(&TextOptions{Threshold: -1}); strings.Contains(got, "...") {
		t.Error("a full print is summarised")
	}
}

func TestNPYFilesOfNumpy(t *testing.T) {
	ramp := Must(New([]float32{0, 1, 2, 3, 4, 5}, 2, 3))
	count := make([]int16, 24)
	for i := range count {
		count[i] = int16(i)
	}
	uni := Must(New([]string{"añ", "日本", "", "😀x"}, 2, 2))
	for name, want := range map[string]*Tensor{
		"array_le": ramp, "array_be": ramp, "array_v2": ramp, "array_v3": ramp,
		"array_fortran": Must(New(count, 2, 3, 4)),
		"array_unicode": uni, "array_unicode_be": uni,
		"array_bytes":      Vector("abc", "", "\xff\x00z"),
		"array_bool":       Vector(true, false),
		"array_complex_be": Vector[complex128](1+2i, 3-4i),
		"array_scalar":     Scalar(2.5),
		"array_empty":      Must(Zeros(Int64, 3, 0)),
	} {
		raw, err := os.ReadFile(numpyDir + name + ".npy")
		if err != nil {
			t.Fatal(err)
		}
		got, err := ReadNPY(bytes.NewReader(raw))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if !got.Equal(want) {
			t.Errorf("%s: got %v%v %v", name, got.DType(), got.Shape(), got)
		}
		switch name {
		case "array_le", "array_bytes", "array_bool", "array_scalar", "array_empty":
			var b bytes.Buffer
			if err := WriteNPY(&b, got, nil); err != nil {
				t.Errorf("%s: %v", name, err)
			} else if !bytes.Equal(b.Bytes(), raw) {
				t.Errorf("%s: the bytes differ from numpy's:\n%q\n%q", name, b.Bytes(), raw)
			}
		}
		for n := range len(raw) {
			if _, err := ReadNPY(bytes.NewReader(raw[:n])); err == nil {
				t.Fatalf("%s cut to %d bytes is accepted", name, n)
			}
		}
	}
}

func TestNPYRefusesWhatNoTensorHolds(t *testing.T) {
	files, err := filepath.Glob(numpyDir + "refused_*.npy")
	if err != nil || len(files) < 4 {
		t.Fatal(files, err)
	}
	for _, f := range files {
		raw, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		x, err := ReadNPY(bytes.NewReader(raw))
		var e *NPYError
		if !errors.As(err, &e) {
			t.Errorf("%s: %v, %v", f, x, err)
		}
	}
}

func npyText(header string) string {
	return "\x93NUMPY\x01\x00" + string([]byte{byte(len(header)), byte(len(header) >> 8)}) + header
}

func TestNPYRefusesLyingHeaders(t *testing.T) {
	for name, c := range map[string]struct{ file, says string }{
		"huge shape":      {npyText("{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999,), }"), "ends within"},
		"overflow":        {npyText("{'descr': '<f8', 'fortran_order': False, 'shape': (4611686018427387904, 4), }"), "more elements"},
		"byte overflow":   {npyText("{'descr': '<c16', 'fortran_order': False, 'shape': (4611686018427387904,), }"), "overflows"},
		"negative":        {npyText("{'descr': '<f4', 'fortran_order': False, 'shape': (-1,), }"), "shape"},
		"missing key":     {npyText("{'descr': '<f4', 'shape': (1,), }"), "lacks"},
		"unknown key":     {npyText("{'descr': '<f4', 'fortran_order': False, 'shape': (1,), 'x': 1}"), "unknown key"},
		"twice":           {npyText("{'descr': '<f4', 'descr': '<f4', 'shape': (1,), }"), "can't be read"},
		"no dictionary":   {npyText("[]"), "no dictionary"},
		"never ends":      {npyText("{'descr': '<f4'"), "doesn't end"},
		"trailing":        {npyText("{'descr': '<f4', 'fortran_order': False, 'shape': (), } x"), "after"},
		"odd type":        {npyText("{'descr': '<q9', 'fortran_order': False, 'shape': (), }"), "no tensor"},
		"empty type":      {npyText("{'descr': '', 'fortran_order': False, 'shape': (), }"), "not known"},
		"huge strings":    {npyText("{'descr': '|S99999999999', 'fortran_order': False, 'shape': (), }"), "ends within"},
		"free strings":    {npyText("{'descr': '|S0', 'fortran_order': False, 'shape': (999999999999,), }"), "without a byte"},
		"huge characters": {npyText("{'descr': '<U999999999', 'fortran_order': False, 'shape': (), }"), "characters"},
		"bad character":   {npyText("{'descr': '<U1', 'fortran_order': False, 'shape': (), }") + "\x00\xd8\x00\x00", "Unicode"},
		"version":         {"\x93NUMPY\x09\x00\x00\x00", "version"},
		"long header":     {"\x93NUMPY\x02\x00\xff\xff\xff\xff", "most"},
		"no magic":        {"PK\x03\x04....", "starts with"},
		"rank":            {npyText("{'descr': '<f4', 'fortran_order': False, 'shape': (" + strings.Repeat("1,", 300) + "), }"), "shape"},
	} {
		x, err := ReadNPY(strings.NewReader(c.file))
		// If int is narrow, large numbers are refused earlier with another message.
		if err == nil || strconv.IntSize == 64 && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, %v", name, x, err)
		}
	}
}

func TestNPYWidensWhatNumpyLacks(t *testing.T) {
	for _, d := range DTypes() {
		x, err := Zeros(d, 2, 3)
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		err = WriteNPY(&b, x, nil)
		if d == Variant || d == Resource {
			if err == nil {
				t.Errorf("%v was written", d)
			}
			continue
		}
		if err != nil {
			t.Errorf("%v: %v", d, err)
			continue
		}
		got, err := ReadNPY(&b)
		if want, _ := NPYType(d); err != nil || got.DType() != want || !got.Shape().Equal(x.Shape()) {
			t.Errorf("%v: %v, %v", d, got, err)
		}
	}
	var b bytes.Buffer
	if err := WriteNPY(&b, Vector(ToBF16(1.5), ToBF16(-0.25)), nil); err != nil {
		t.Fatal(err)
	}
	if got, err := ReadNPY(&b); err != nil || !got.Equal(Vector[float32](1.5, -0.25)) {
		t.Errorf("bfloat16 came back as %v, %v", got, err)
	}
}

func TestNPYKeepsStringsOrRefuses(t *testing.T) {
	var b bytes.Buffer
	if err := WriteNPY(&b, Vector("ab\x00", "c"), nil); err == nil {
		t.Error("a string that ends in NUL was written without being asked to lose it")
	}
	if err := WriteNPY(&b, Vector("ab\x00", "c"), &NPYOptions{Lossy: true}); err != nil {
		t.Fatal(err)
	}
	if got, err := ReadNPY(&b); err != nil || !got.Equal(Vector("ab", "c")) {
		t.Errorf("%v, %v", got, err)
	}
	long := strings.Repeat("x", 200_000)
	b.Reset()
	if err := WriteNPY(&b, Vector(long, "", "y"), nil); err != nil {
		t.Fatal(err)
	}
	if got, err := ReadNPY(&b); err != nil || !got.Equal(Vector(long, "", "y")) {
		t.Errorf("long strings: %v", err)
	}
}

func TestNPZRoundTrip(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var file bytes.Buffer
		w := NewNPZWriter(&file, nil)
		want := map[string]*Tensor{}
		for range rapid.IntRange(0, 5).Draw(rt, "arrays") {
			name := rapid.StringMatching(`[a-z/.é]{1,8}`).Draw(rt, "name")
			shape := rapid.SliceOfN(rapid.IntRange(0, 4), 0, 4).Draw(rt, "shape")
			n, _ := Shape(shape).NumElements()
			x := Must(New(rapid.SliceOfN(rapid.Float32(), n, n).Draw(rt, "values"), shape...))
			if _, dup := want[name]; dup {
				if err := w.Add(name, x); err == nil {
					rt.Fatal("the same name twice")
				}
				continue
			}
			if err := w.Add(name, x); err != nil {
				rt.Fatal(err)
			}
			want[name] = x
		}
		if err := w.Close(); err != nil {
			rt.Fatal(err)
		}
		z, err := OpenNPZ(bytes.NewReader(file.Bytes()), int64(file.Len()), nil)
		if err != nil {
			rt.Fatal(err)
		}
		if len(z.Names()) != len(want) {
			rt.Fatalf("%d arrays, want %d", len(z.Names()), len(want))
		}
		for name, x := range want {
			got, err := z.Read(context.Background(), name)
			if err != nil || !got.Equal(x) {
				rt.Fatalf("%q: %v, %v", name, got, err)
			}
			into := Must(Zeros(Float32, x.Shape()...))
			if err := z.ReadInto(context.Background(), name, into); err != nil || !into.Equal(x) {
				rt.Fatalf("%q into storage: %v, %v", name, into, err)
			}
			h, err := z.Header(name)
			if err != nil || h.DType != Float32 || !h.Shape.Equal(x.Shape()) || h.Size != x.NumBytes() {
				rt.Fatalf("%q: header %+v, %v", name, h, err)
			}
		}
	})
}

func TestNPZCompressedByNumpy(t *testing.T) {
	z := openNPZ(t, "compressed.npz")
	if d := cmp.Diff([]string{"a", "dir/b"}, z.Names()); d != "" {
		t.Error(d)
	}
	if got, err := z.Read(context.Background(), "dir/b"); err != nil || !got.Equal(Vector[int64](0, 1, 2, 3, 4)) {
		t.Errorf("%v, %v", got, err)
	}
	if _, err := z.Read(context.Background(), "c"); err == nil {
		t.Error("an array that isn't there was read")
	}
}

func TestNPZDamageIsFound(t *testing.T) {
	var file bytes.Buffer
	w := NewNPZWriter(&file, nil)
	if err := errors.Join(w.Add("a", Vector[float32](1, 2, 3)), w.Add("b", Vector("x")), w.Close()); err != nil {
		t.Fatal(err)
	}
	good := file.Bytes()
	at := bytes.Index(good, []byte{0, 0, 0x40, 0x40}) // 3.0
	bad := bytes.Clone(good)
	bad[at] ^= 1
	z, err := OpenNPZ(bytes.NewReader(bad), int64(len(bad)), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := z.Read(context.Background(), "a"); !errors.Is(err, zip.ErrChecksum) {
		t.Errorf("a flipped bit gives %v", err)
	}
	if err := z.ReadInto(context.Background(), "a", Must(Zeros(Float32, 3))); !errors.Is(err, zip.ErrChecksum) {
		t.Errorf("a flipped bit gives %v", err)
	}
	if err := z.ReadInto(context.Background(), "a", Must(Zeros(Float32, 4))); err == nil {
		t.Error("an array was read into another shape")
	}
	for i := range good { // no flip may panic
		bad := bytes.Clone(good)
		bad[i] ^= 0x10
		if z, err := OpenNPZ(bytes.NewReader(bad), int64(len(bad)), nil); err == nil {
			for _, n := range z.Names() {
				z.Read(context.Background(), n)
			}
		}
	}
}

func TestNPZRefusesLyingDirectories(t *testing.T) {
	const lie = 1 << 40
	for name, method := range map[string]uint16{"stored": zip.Store, "deflated": zip.Deflate} {
		header := npyText(fmt.Sprintf("{'descr': '|u1', 'fortran_order': False, 'shape': (%d,), }", int64(lie)))
		var file bytes.Buffer
		zw := zip.NewWriter(&file)
		for _, claimed := range []uint64{uint64(len(header)), lie + uint64(len(header))} {
			w, err := zw.CreateRaw(&zip.FileHeader{Name: fmt.Sprint(claimed, ".npy"), Method: method, CompressedSize64: claimed, UncompressedSize64: lie + uint64(len(header))})
			if err != nil {
				t.Fatal(err)
			}
			body := header
			if method == zip.Deflate {
				var b bytes.Buffer
				d, _ := flate.NewWriter(&b, 1)
				io.WriteString(d, header)
				d.Close()
				body = b.String()
			}
			io.WriteString(w, body)
		}
		if err := zw.Close(); err != nil {
			t.Fatal(err)
		}
		z, err := OpenNPZ(bytes.NewReader(file.Bytes()), int64(file.Len()), nil)
		if err != nil {
			continue
		}
		for _, n := range z.Names() {
			if x, err := z.Read(context.Background(), n); err == nil {
				t.Errorf("%s: %s was read: %d bytes", name, n, x.NumBytes())
			}
		}
	}
}

// failing fails after n bytes.
type failing struct{ n int }

func (f *failing) Write(p []byte) (int, error) {
	if f.n -= len(p); f.n < 0 {
		return 0, io.ErrShortWrite
	}
	return len(p), nil
}

func TestNPZWriteErrorsComeOut(t *testing.T) {
	x := Must(New(make([]float32, 100_000), 100_000))
	w := NewNPZWriter(&failing{n: 50_000}, nil)
	err := w.Add("a", x)
	if err == nil {
		err = w.Close()
	}
	if !errors.Is(err, io.ErrShortWrite) {
		t.Errorf("got %v", err)
	}
}

func FuzzReadNPY(f *testing.F) {
	files, _ := filepath.Glob(numpyDir + "*.npy")
	for _, name := range files {
		if raw, err := os.ReadFile(name); err == nil {
			f.Add(raw)
		}
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		x, err := ReadNPY(bytes.NewReader(raw))
		if err != nil {
			return
		}
		_ = x.String()
		var b bytes.Buffer
		if err := WriteNPY(&b, x, nil); err != nil {
			t.Fatalf("an array that was read can't be written: %v", err)
		}
		y, err := ReadNPY(&b)
		if err != nil || !x.Equal(y) {
			t.Fatalf("%v came back as %v, %v", x, y, err)
		}
	})
}

func FuzzOpenNPZ(f *testing.F) {
	for _, name := range []string{"compressed.npz", "print.npz"} {
		if raw, err := os.ReadFile(numpyDir + name); err == nil {
			f.Add(raw)
		}
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		z, err := OpenNPZ(bytes.NewReader(raw), int64(len(raw)), nil)
		if err != nil {
			return
		}
		for _, n := range z.Names() {
			if x, err := z.Read(context.Background(), n); err == nil && x.NumBytes() > int64(len(raw)+1)*1032 {
				t.Fatalf("%d bytes from a file of %d", x.NumBytes(), len(raw))
			}
		}
	})
}

// bombNPZ returns a .npz file of n compressed arrays of size zeros each.
func bombNPZ(t *testing.T, n, size int) []byte {
	t.Helper()
	var file bytes.Buffer
	zw := zip.NewWriter(&file)
	for i := range n {
		w, err := zw.CreateHeader(&zip.FileHeader{Name: fmt.Sprint(i, ".npy"), Method: zip.Deflate})
		if err != nil {
			t.Fatal(err)
		}
		if err := WriteNPY(w, Must(Zeros(Int8, size)), nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := zw.Close(); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

// TestNPZBombIsRefused: a file that takes a thousand times its size once it is
// decompressed is listed, and read only on demand.
func TestNPZBombIsRefused(t *testing.T) {
	for name, c := range map[string]struct{ n, size int }{"one array": {1, 96 << 20}, "many arrays": {12, 8 << 20}} {
		b := bombNPZ(t, c.n, c.size)
		z, err := OpenNPZ(bytes.NewReader(b), int64(len(b)), nil)
		if err != nil {
			t.Fatal(err)
		}
		if h, err := z.Header("0"); err != nil || h.Size != int64(c.size) {
			t.Errorf("%s: %+v, %v", name, h, err)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err = z.Read(context.Background(), "0")
		err2 := z.ReadInto(context.Background(), "0", Must(Zeros(Int8, 1)))
		runtime.ReadMemStats(&after)
		if !errors.Is(err, errors.ErrUnsupported) || !errors.Is(err2, errors.ErrUnsupported) {
			t.Errorf("%s: %v, %v", name, err, err2)
		}
		if n := after.TotalAlloc - before.TotalAlloc; n > 1<<20 {
			t.Errorf("%s: %d bytes are allocated before the file is refused", name, n)
		}
		if z, err = OpenNPZ(bytes.NewReader(b), int64(len(b)), &NPZOptions{MaxSize: 128 << 20}); err != nil {
			t.Fatal(err)
		}
		if x, err := z.Read(context.Background(), "0"); err != nil || x.Len() != c.size {
			t.Errorf("%s: with the limit raised: %v", name, err)
		}
	}
}

// TestNPZEntriesThatOverlapAreRefused checks that entries which share
// compressed bytes are refused, because they would multiply the size of a file.
func TestNPZEntriesThatOverlapAreRefused(t *testing.T) {
	b := bombNPZ(t, 1, 1<<20)
	dir := bytes.Index(b, []byte("PK\x01\x02"))
	end := bytes.Index(b, []byte("PK\x05\x06"))
	entry := bytes.Clone(b[dir:end])
	name := bytes.Index(entry, []byte("0.npy"))
	file := bytes.Clone(b[:dir])
	const n = 9
	for i := range n {
		entry[name] = byte('0' + i)
		file = append(file, entry...)
	}
	tail := bytes.Clone(b[end:])
	binary.LittleEndian.PutUint16(tail[8:], n)
	binary.LittleEndian.PutUint16(tail[10:], n)
	binary.LittleEndian.PutUint32(tail[12:], uint32(n*len(entry)))
	file = append(file, tail...)
	if _, err := OpenNPZ(bytes.NewReader(file), int64(len(file)), nil); err == nil || !strings.Contains(err.Error(), "in a file of") {
		t.Errorf("got %v", err)
	}
}

// TestNPYOfEmptyStringsCostsLittle: strings without a byte of data are few.
func TestNPYOfEmptyStringsCostsLittle(t *testing.T) {
	raw := npyText("{'descr': '|S0', 'fortran_order': False, 'shape': (16777216,), }")
	if x, err := ReadNPY(strings.NewReader(raw)); err == nil {
		t.Errorf("%d strings were made of nothing", x.Len())
	}
}

// TestNPZReadsHeedTheirContext: reading a long array ends with the context, in
// the middle of it too.
func TestNPZReadsHeedTheirContext(t *testing.T) {
	b := bombNPZ(t, 1, 24<<20)
	z, err := OpenNPZ(bytes.NewReader(b), int64(len(b)), nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := z.Read(ctx, "0"); !errors.Is(err, context.Canceled) {
		t.Errorf("Read: %v", err)
	}
	if err := z.ReadInto(ctx, "0", Must(Zeros(Int8, 24<<20))); !errors.Is(err, context.Canceled) {
		t.Errorf("ReadInto: %v", err)
	}
	ctx, cancel = context.WithCancel(t.Context())
	r := &cancelReader{ctx, io.NopCloser(bytes.NewReader(make([]byte, 4<<20)))}
	if n, err := r.Read(make([]byte, 4<<20)); n > 1<<20 || err != nil {
		t.Errorf("%d bytes at once, %v", n, err)
	}
	cancel()
	if _, err := io.ReadAll(r); !errors.Is(err, context.Canceled) {
		t.Errorf("the rest: %v", err)
	}
}
