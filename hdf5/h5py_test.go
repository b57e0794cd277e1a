package hdf5_test

import (
	"bytes"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cairnml/cairn/hdf5"
	"github.com/cairnml/cairn/internal/testkit/packed"
	"github.com/cairnml/cairn/tensor"
)

func open(t testing.TB, b []byte) *hdf5.File {
	t.Helper()
	f, err := hdf5.Open(bytes.NewReader(b), int64(len(b)), nil)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func fixture(t testing.TB, name string) *hdf5.File {
	t.Helper()
	return open(t, fixtureBytes(t, name))
}

func fixtureBytes(t testing.TB, name string) []byte {
	t.Helper()
	return packed.Read(t, filepath.Join("testdata", "h5py", name+".h5.gz"))
}

// content returns the bytes of a value as the listings of make_h5py.py count them.
func content(v *tensor.Tensor) []byte {
	if v.DType() != tensor.String {
		return v.Bytes()
	}
	var b []byte
	for _, s := range v.Strings() {
		b = append(append(b, s...), 0)
	}
	return b
}

func line(path, dtype, shape string, b []byte) string {
	return fmt.Sprintf("%s %s %s %08x", path, dtype, shape, crc32.ChecksumIEEE(b))
}

func shapeText(s tensor.Shape) string { return strings.ReplaceAll(fmt.Sprint([]int(s)), ",", " ") }

// listing returns the same list of a file's objects as make_h5py.py.
func listing(t *testing.T, f *hdf5.File) []string {
	t.Helper()
	lines := []string{}
	attributes := func(o hdf5.Object) {
		list, err := o.Attributes()
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range list {
			path := o.Path() + "@" + a.Name()
			if a.Null() {
				lines = append(lines, line(path, "null", "", nil))
				continue
			}
			v, err := a.Value()
			if err != nil {
				t.Errorf("%s: %v", path, err)
				continue
			}
			lines = append(lines, line(path, v.DType().String(), shapeText(a.Shape()), content(v)))
		}
	}
	attributes(f.Root())
	err := f.Root().Walk(func(o hdf5.Object) error {
		attributes(o)
		d, ok := o.(*hdf5.Dataset)
		if !ok {
			lines = append(lines, o.Path()+" group")
			return nil
		}
		switch typ := d.Type(); {
		case d.Null():
			lines = append(lines, line(d.Path(), "null", "", nil))
		case typ.Class == hdf5.Opaque:
			b, err := d.ReadRaw(t.Context())
			if err != nil {
				t.Error(err)
			}
			lines = append(lines, line(d.Path(), fmt.Sprint("opaque", typ.Size), shapeText(d.Shape()), b))
		default:
			v, err := d.Read(t.Context())
			if err != nil {
				t.Error(err)
				return nil
			}
			lines = append(lines, line(d.Path(), v.DType().String(), shapeText(d.Shape()), content(v)))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(lines)
	return lines
}

// differences returns the lines that only one of two sorted lists has.
func differences(got, want []string) []string {
	var out []string
	for _, l := range got {
		if _, ok := slices.BinarySearch(want, l); !ok {
			out = append(out, "got  "+l)
		}
	}
	for _, l := range want {
		if _, ok := slices.BinarySearch(got, l); !ok {
			out = append(out, "want "+l)
		}
	}
	return out
}

func TestFilesOfH5pyReadAsH5pyReadsThem(t *testing.T) {
	for _, name := range []string{"types", "attributes", "groups", "chunks", "latest", "v108", "v110", "userblock", "small", "small_latest"} {
		t.Run(name, func(t *testing.T) {
			text, err := os.ReadFile(filepath.Join("testdata", "h5py", name+".txt"))
			if err != nil {
				t.Fatal(err)
			}
			want := strings.Split(strings.TrimRight(string(text), "\n"), "\n")
			slices.Sort(want)
			for i, d := range differences(listing(t, fixture(t, name)), want) {
				if i == 20 {
					t.Fatal("and more")
				}
				t.Error(d)
			}
		})
	}
}
