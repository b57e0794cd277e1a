package inspect

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairnml/cairn/bundle"
	"github.com/cairnml/cairn/convert"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/tensorfile"
)

// Elements come some thousands at a time, and each counts once.
func TestStatsOfManyElements(t *testing.T) {
	const n = 2*chunk + 1000
	reals, complexes := make([]float64, n), make([]complex128, n)
	for i := range n {
		reals[i], complexes[i] = float64(i), complex(3*float64(i), -4*float64(i))
	}
	mean, std := float64(n-1)/2, math.Sqrt((float64(n)*float64(n)-1)/12)
	for name, x := range map[string]*tensor.Tensor{"reals": tensor.Vector(reals...), "complex numbers": tensor.Vector(complexes...)} {
		scale := 1.0
		if x.DType().IsComplex() {
			scale = 5
		}
		s := StatOf("", x)
		if s.Count != n || s.Zeros != 1 || s.Min != 0 || s.Max != scale*(n-1) || math.Abs(s.Mean-scale*mean) > 1e-9*s.Max || math.Abs(s.Std-scale*std) > 1e-9*s.Max {
			t.Errorf("%s: %+v, want mean %v and deviation %v", name, s, scale*mean, scale*std)
		}
	}
}

// JSON can't express numbers that aren't finite, nor a deviation beyond the largest
// number.
func TestStatsInJSON(t *testing.T) {
	b, err := json.Marshal(StatOf("x", tensor.Vector(math.MaxFloat64, -math.MaxFloat64)))
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(b, &got); err != nil {
		t.Fatal(err)
	}
	if got["std"] != nil || got["max"] != math.MaxFloat64 || got["mean"] != 0.0 {
		t.Errorf("%s", b)
	}
}

// Bins are adjacent from the smallest element to the largest, or around the only one.
func TestHistogramsBins(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		name       string
		v          []float64
		low, width float64
		counts     []int
	}{
		{"side by side", []float64{1, 2, 3, 5}, 1, 1, []int{1, 1, 1, 1}},
		{"not finite", []float64{nan, 0, inf, 4, -inf, nan}, 0, 1, []int{1, 0, 0, 1}},
		{"the same", []float64{8, 8}, 4, 2, []int{0, 0, 2, 0}},
		{"nearly zero", []float64{0, 0, 0}, -0.5, 0.25, []int{0, 0, 3, 0}},
		{"too far apart", []float64{-math.MaxFloat64, math.MaxFloat64}, -math.MaxFloat64 / 2, math.MaxFloat64 / 4, []int{1, 0, 0, 1}},
		{"too near", []float64{5e-324, 1e-323}, -0.5, 0.25, []int{0, 0, 2, 0}},
	} {
		h := Hist("", tensor.Vector(c.v...), 4)
		if h.Low != c.low || h.BinWidth != c.width || cmp.Diff(c.counts, h.Counts) != "" {
			t.Errorf("%s: from %v by %v, %v", c.name, h.Low, h.BinWidth, h.Counts)
		}
	}
}

// A tensor that can't be read is an error for every caller, however large it is.
func TestStatsOfDamagedTensors(t *testing.T) {
	large := tensor.Must(tensor.Zeros(tensor.Uint8, whole+1))
	s := write(t, map[string]*tensor.Tensor{"a": tensor.Vector[float32](1, 2), "large": large, "z": tensor.Vector[float32](3, 4)})
	var c tensorfile.Scratch
	for i := range 3 {
		e := s.Entries().At(i)
		if _, err := HistEntry(t.Context(), s, e, &c, 4); err != nil {
			t.Fatal(err)
		}
	}
	f, err := os.OpenFile(s.Prefix+".data-00000-of-00001", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for i, name := range []string{"z", "large", "a"} {
		e, _ := s.Bundle().Entry(name)
		if _, err := f.WriteAt([]byte{0xaa}, e.Offset+e.Size-1); err != nil {
			t.Fatal(err)
		}
		var corrupt *bundle.CorruptError
		if _, err := StatEntry(t.Context(), s, s.Entries().At(2-i), &c); !errors.As(err, &corrupt) || corrupt.Name != name {
			t.Errorf("the sum of %s: %v", name, err)
		}
		corrupt = nil
		if _, err := HistEntry(t.Context(), s, s.Entries().At(2-i), &c, 4); !errors.As(err, &corrupt) || corrupt.Name != name {
			t.Errorf("the histogram of %s: %v", name, err)
		}
		corrupt = nil
		if err := StatEach(t.Context(), s, s.Entries(), func(tensorfile.Entry, Stats) {}); !errors.As(err, &corrupt) {
			t.Errorf("the sums, %s being damaged: %v", name, err)
		}
	}
}

// A fault of an array of an .npz is reported with its cause.
func TestFaultsOfArraysHaveACause(t *testing.T) {
	s := write(t, map[string]*tensor.Tensor{"a": tensor.Vector[float32](1, 2)})
	path := filepath.Join(t.TempDir(), "x.npz")
	if _, err := convert.Convert(t.Context(), s.Prefix, path, &convert.Options{}); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	data := strings.LastIndex(string(raw), string(tensor.Scalar[float32](2).Bytes()))
	for at, want := range map[int][2]string{
		strings.Index(string(raw), "\x93NUMPY"): {"a", "no .npy file: it starts with"},
		data:                                    {"a", "the array's bytes: zip: checksum error"},
		len(raw) - 1:                            {"", "the archive can't be read: the end of the zip archive is missing: the file is cut off or damaged"},
	} {
		damaged := bytes.Clone(raw)
		damaged[at] ^= 1
		if err := os.WriteFile(path, damaged, 0o666); err != nil {
			t.Fatal(err)
		}
		_, faults, err := Verify(t.Context(), path, nil)
		if err != nil || len(faults) != 1 || faults[0].Tensor != want[0] || !strings.HasPrefix(faults[0].What, want[1]) {
			t.Errorf("byte %d: %q, %v, want %q", at, faults, err, want)
		}
	}
}

// A fault of the head of a file is reported with its cause.
func TestFaultsOfHeadsHaveACause(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.safetensors")
	for head, cause := range map[string]string{"{\"a\":[}": "character '}'", "{\"a\":{\"dtype\":7}}": "cannot unmarshal"} {
		if err := os.WriteFile(path, append(binary.LittleEndian.AppendUint64(nil, uint64(len(head))), head...), 0o666); err != nil {
			t.Fatal(err)
		}
		_, faults, err := Verify(t.Context(), path, nil)
		if err != nil || len(faults) != 1 || !strings.Contains(faults[0].What, cause) {
			t.Errorf("%s: %q, %v, want %q", head, faults, err, cause)
		}
	}
}
