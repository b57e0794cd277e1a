package hdf5_test

import (
	"bytes"
	"errors"
	"io"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/cairnml/cairn/hdf5"
	"github.com/cairnml/cairn/tensor"
)

// visit reads all that a file has and returns the first error.
func visit(t testing.TB, b []byte, o *hdf5.Options) (first error) {
	note := func(err error) {
		if first == nil {
			first = err
		}
	}
	f, err := hdf5.Open(bytes.NewReader(b), int64(len(b)), o)
	if err != nil {
		return err
	}
	attributes := func(o hdf5.Object) {
		list, err := o.Attributes()
		note(err)
		for _, a := range list {
			_, err := a.Value()
			note(err)
		}
	}
	attributes(f.Root())
	note(f.Root().Walk(func(o hdf5.Object) error {
		attributes(o)
		if d, ok := o.(*hdf5.Dataset); ok {
			_, err := d.Read(t.Context())
			note(err)
		}
		return nil
	}))
	return first
}

func TestCyclesEnd(t *testing.T) {
	var paths []string
	err := fixture(t, "links").Root().Walk(func(o hdf5.Object) error {
		paths = append(paths, o.Path())
		return nil
	})
	if got := strings.Join(paths, " "); err != nil || got != "/a /a/again" {
		t.Errorf("%s, %v", got, err)
	}
	d, err := fixture(t, "links").Root().Dataset("a/loop/loop/loop/b")
	if err != nil || d.Path() != "/a/loop/loop/loop/b" {
		t.Error(d, err)
	}
	if _, err := fixture(t, "links").Root().Open(strings.Repeat("a/loop/", 300)); !errors.Is(err, errors.ErrUnsupported) && !errors.Is(err, io.EOF) {
		var missing *hdf5.NotFoundError
		if !errors.As(err, &missing) {
			t.Error(err)
		}
	}
}

// TestOtherFeaturesAreNamed by the error of the object that has them.
func TestOtherFeaturesAreNamed(t *testing.T) {
	root := fixture(t, "refused").Root()
	for path, want := range map[string]string{
		"soft": `a soft link (to "/here")`, "external": "a link to another file", "reference": "references as a tensor",
		"compound": "compounds of x float32, y int16 as a tensor", "enum": "an enum of 2 names as a tensor",
		"sequence": "sequences of int32 as a tensor", "array": "arrays of 3 float32 as a tensor",
		"lzf": "the filter lzf", "scaleoffset": "the filter scaleoffset", "elsewhere": "datasets in other files", "virtual": "virtual datasets",
	} {
		d, err := root.Dataset(path)
		if err == nil {
			_, err = d.Read(t.Context())
		}
		if !errors.Is(err, errors.ErrUnsupported) || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "/"+path) {
			t.Errorf("%s: %v, want %q", path, err, want)
		}
	}
	d, err := root.Dataset("here")
	if err != nil {
		t.Fatal(err)
	}
	a, err := d.Attribute("reference")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.Value(); err == nil || !strings.Contains(err.Error(), "references as a tensor") || len(a.Raw()) != 8 {
		t.Error(err)
	}
	if _, err := root.Dataset("her"); err == nil || !strings.Contains(err.Error(), `similar names: ["here"`) {
		t.Error(err)
	}
}

// TestBombs checks that small files which demand much memory use no more than
// the limit, and that the error names the way to raise it.
func TestBombs(t *testing.T) {
	b := fixtureBytes(t, "bombs")
	f := open(t, b)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for _, name := range []string{"unwritten", "chunks", "zeros", "text", "wide"} {
		d, err := f.Root().Dataset(name)
		if strconv.IntSize == 32 && err != nil && strings.Contains(err.Error(), "a dimension of 1099511627776") {
			continue // no machine of 32 bits can count so far
		}
		if err != nil {
			t.Fatal(err)
		}
		_, err = d.Read(t.Context())
		var limit *hdf5.LimitError
		if !errors.As(err, &limit) || !strings.Contains(err.Error(), "Options.MaxMemory raises it") {
			t.Errorf("%s: %v", name, err)
		}
	}
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > 80<<20 {
		t.Errorf("%d bytes were allocated", n)
	}
	raised, err := hdf5.Open(bytes.NewReader(b), int64(len(b)), &hdf5.Options{MaxMemory: 400 << 20})
	if err != nil {
		t.Fatal(err)
	}
	d, err := raised.Root().Dataset("zeros")
	if err != nil {
		t.Fatal(err)
	}
	if x, err := d.Read(t.Context()); err != nil || x.Len() != 128<<20 {
		t.Error(err)
	}
}

// damaged returns small files of all versions of the format.
func damaged(t testing.TB) map[string][]byte {
	var w hdf5.Writer
	sampleSmall(t, &w)
	return map[string][]byte{"ours": write(t, &w), "small": fixtureBytes(t, "small"), "small_latest": fixtureBytes(t, "small_latest"), "refused": fixtureBytes(t, "refused")}
}

// sampleSmall fills a writer with one of each kind.
func sampleSmall(t testing.TB, w *hdf5.Writer) {
	t.Helper()
	for name, o := range map[string]*hdf5.DatasetOptions{"plain": nil, "gzip": {Gzip: 1, Shuffle: true, Fletcher32: true, Chunks: tensor.Shape{2}}} {
		d, err := w.Root().Dataset("g/"+name, tensor.Vector[float32](1, 2, 3), o)
		if err != nil {
			t.Fatal(err)
		}
		if err := d.SetAttribute("a", tensor.Vector("text", "more"), nil); err != nil {
			t.Fatal(err)
		}
	}
}

// TestDamagedFilesNeverPanic sets each byte to some other values, and cuts files off.
func TestDamagedFilesNeverPanic(t *testing.T) {
	for name, b := range damaged(t) {
		t.Run(name, func(t *testing.T) {
			step := 3
			if testing.Short() {
				step = 17
			}
			for at := 0; at < len(b); at += step {
				old := b[at]
				if old == 0 && at > 8 && b[at-1] == 0 && b[at-8] == 0 { // the insides of empty space
					continue
				}
				for _, v := range []byte{old ^ 1, old ^ 0x80, 0xff} {
					b[at] = v
					_ = visit(t, b, nil)
				}
				b[at] = old
			}
			for n := 0; n < len(b); n += 97 {
				if err := visit(t, b[:n], nil); err == nil {
					t.Errorf("a file cut off at %d of %d bytes is whole", n, len(b))
				}
			}
		})
	}
}

// TestChecksumsAreVerified checks all structures with checksums, those of the latest
// version.
func TestChecksumsAreVerified(t *testing.T) {
	b := fixtureBytes(t, "small_latest")
	for _, signature := range []string{"\x89HDF\r\n\x1a\n", "OHDR", "OCHK", "FRHP", "BTHD", "BTLF", "FAHD", "FADB", "EAHD", "EAIB"} {
		at := bytes.Index(b, []byte(signature))
		if at < 0 {
			t.Errorf("the fixture has no %q", signature)
			continue
		}
		b[at+len(signature)+6] ^= 4
		if err := visit(t, b, nil); !errors.Is(err, hdf5.ErrCorrupt) {
			t.Errorf("%q: %v", signature, err)
		}
		b[at+len(signature)+6] ^= 4
	}
	if err := visit(t, b, nil); err != nil {
		t.Error(err)
	}
}

func TestNoHDF5(t *testing.T) {
	for _, b := range []string{"", "x", "\x89HDF", "PK\x03\x04" + strings.Repeat("x", 5000)} {
		if _, err := hdf5.Open(strings.NewReader(b), int64(len(b)), nil); !errors.Is(err, hdf5.ErrCorrupt) || !strings.Contains(err.Error(), "not an HDF5 file") {
			t.Errorf("%.10q: %v", b, err)
		}
	}
}

type brokenReader struct{ err error }

func (r brokenReader) ReadAt([]byte, int64) (int, error) { return 0, r.err }

func TestErrorsOfTheReaderAreKept(t *testing.T) {
	boom := errors.New("boom")
	if _, err := hdf5.Open(brokenReader{boom}, 1000, nil); !errors.Is(err, boom) {
		t.Error(err)
	}
}

// FuzzOpen reads all of any file.
func FuzzOpen(f *testing.F) {
	for _, b := range damaged(f) {
		f.Add(b)
	}
	for _, name := range []string{"types", "attributes", "links", "userblock"} {
		f.Add(fixtureBytes(f, name))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if err := visit(t, b, nil); err != nil {
			return
		}
		if _, err := hdf5.Open(bytes.NewReader(b), int64(len(b)), nil); err != nil {
			t.Error(err)
		}
	})
}
