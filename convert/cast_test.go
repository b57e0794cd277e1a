package convert

import (
	"errors"
	"math"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/cairnml/cairn/bundle"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/vfs"
)

func TestCastsThatChangeNumbersAreErrors(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for name, c := range map[string]struct {
		from *tensor.Tensor
		to   tensor.DType
		lost int
	}{
		"rounding":             {tensor.Vector(0.1, 1e-3, 12345.678), tensor.BFloat16, 0},
		"whole floats":         {tensor.Vector[float32](-3, 0, 127), tensor.Int8, 0},
		"a negative zero":      {tensor.Vector(math.Copysign(0, -1)), tensor.Int32, 0},
		"NaN stays":            {tensor.Vector(nan, inf, -inf), tensor.Float16, 0},
		"a range that is full": {tensor.Vector[float32](448, -448, 450), tensor.Float8E4M3FN, 0},
		"truth":                {tensor.Vector[int32](0, 1), tensor.Bool, 0},
		"bits kept":            {tensor.Vector[int64](-1, math.MinInt32, math.MaxInt32), tensor.Int32, 0},
		"64 bits":              {tensor.Vector[int64](0, math.MaxInt64), tensor.Uint64, 0},
		"to complex":           {tensor.Vector(1.5, nan), tensor.Complex64, 0},
		"no imaginary part":    {tensor.Vector[complex64](1, 2), tensor.Float32, 0},

		"fractions":         {tensor.Vector(0.5, 1, -1.25), tensor.Int32, 2},
		"NaN to zero":       {tensor.Vector(nan, 1, inf), tensor.Int64, 2},
		"infinite":          {tensor.Vector(1e300, 1e5, 1), tensor.Float32, 1},
		"beyond float16":    {tensor.Vector[float32](70000, -70000, 65504), tensor.Float16, 2},
		"beyond float8":     {tensor.Vector(1000, nan, 1), tensor.Float8E4M3FN, 1},
		"beyond float4":     {tensor.Vector(100, 6, -6, nan), tensor.Float4E2M1FN, 2},
		"high bits":         {tensor.Vector[int64](1<<40, 7, math.MaxInt64), tensor.Int32, 2},
		"a sign":            {tensor.Vector[int64](-1, 1), tensor.Uint64, 1},
		"a sign the other":  {tensor.Vector[uint64](math.MaxUint64, 1), tensor.Int64, 1},
		"more than a truth": {tensor.Vector(2, nan, 1), tensor.Bool, 2},
		"an imaginary part": {tensor.Vector[complex128](1i, 1), tensor.Float64, 1},
		"infinite parts":    {tensor.Vector[complex128](complex(0, 1e300), 1), tensor.Complex64, 1},
	} {
		got, err := exactCast("x", c.from, c.to)
		var e *CastError
		switch {
		case c.lost == 0 && (err != nil || got.DType() != c.to):
			t.Errorf("%s: %v", name, err)
		case c.lost > 0 && (!errors.As(err, &e) || e.Lost != c.lost):
			t.Errorf("%s: %v, want %d lost", name, err, c.lost)
		}
	}
	big := make([]float32, 3*castChunk)
	big[2*castChunk+5] = 0.5
	x, err := tensor.New(big, len(big))
	if err != nil {
		t.Fatal(err)
	}
	var e *CastError
	if _, err := exactCast("x", x, tensor.Int8); !errors.As(err, &e) || e.Index != 2*castChunk+5 || e.Value != "0.5" || e.Becomes != "0" {
		t.Errorf("%+v, %v", e, err)
	}
}

// TestDryRunRefusesWhatTheRunWould checks that an edit without a destination
// also reports a cast that changes values.
func TestDryRunRefusesWhatTheRunWould(t *testing.T) {
	src := filepath.Join(t.TempDir(), "ck")
	w, err := bundle.NewWriter(vfs.OSDir(filepath.Dir(src)), "ck", nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.Add(t.Context(), "x", tensor.Vector(0.5, 1.0)), w.Finish(t.Context())); err != nil {
		t.Fatal(err)
	}
	edits := Edits{Cast: []Cast{{Match: regexp.MustCompile("x"), To: tensor.Int32}}}
	for _, dst := range []string{"", filepath.Join(t.TempDir(), "to")} {
		var refused *CastError
		if _, _, err := Edit(t.Context(), src, dst, edits, nil); !errors.As(err, &refused) || refused.Lost != 1 {
			t.Errorf("to %q: %v", dst, err)
		}
		if _, _, err := Edit(t.Context(), src, dst, edits, &Options{Lossy: true}); err != nil {
			t.Errorf("to %q, lossy: %v", dst, err)
		}
	}
}
