package applications

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/keras/internal/kerastest"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
)

// helpersFixture is testdata/helpers.json.
type helpersFixture struct {
	Pixels  [][][]float32
	Modes   map[Mode][][][]float32
	Decoded [][][]any
}

func image(t *testing.T, pixels [][][]float32) *tensor.Tensor {
	var flat []float32
	for _, row := range pixels {
		for _, pixel := range row {
			flat = append(flat, pixel...)
		}
	}
	x, err := tensor.New(flat, len(pixels), len(pixels[0]), 3)
	kerastest.Must(t, err)
	return x
}

func TestPreprocessIsTfKeras(t *testing.T) {
	var f helpersFixture
	kerastest.JSON(t, "testdata/helpers.json", &f)
	x := image(t, f.Pixels)
	bytes, err := tensor.Cast(x, tensor.Uint8)
	kerastest.Must(t, err)
	for mode, want := range f.Modes {
		s := function.Eager(t.Context())
		kerastest.Near(t, string(mode), Preprocess(s, ops.ValueOf(x), mode), image(t, want), 1e-6)
		kerastest.Near(t, string(mode)+" of bytes", Preprocess(s, ops.ValueOf(bytes), mode), image(t, want), 1e-6)
		batch := Preprocess(s, ops.ExpandDims(s, ops.ValueOf(x), 0), mode)
		kerastest.Near(t, string(mode)+" of a batch", ops.Squeeze(s, batch, 0), image(t, want), 1e-6)
		kerastest.Must(t, s.Err())
	}
	s := function.Eager(t.Context())
	if Preprocess(s, ops.ValueOf(x), "keras"); s.Err() == nil || !strings.Contains(s.Err().Error(), `the mode is "keras", want "caffe"`) {
		t.Errorf("an unknown mode: %v", s.Err())
	}
}

func TestDecodeIsTfKeras(t *testing.T) {
	var f helpersFixture
	kerastest.JSON(t, "testdata/helpers.json", &f)
	var list []string
	for i := range 1000 {
		list = append(list, fmt.Sprintf(`"%d": ["n%d", "class %d"]`, i, i, i))
	}
	classes, err := ReadClasses(strings.NewReader("{" + strings.Join(list, ",") + "}"))
	kerastest.Must(t, err)
	scores := converted(t, values(2000, 5), tensor.Float32, tensor.Shape{2, 1000})
	got, err := Decode(scores, classes, 4)
	kerastest.Must(t, err)
	var rows [][][]any
	for _, row := range got {
		var out [][]any
		for _, p := range row {
			out = append(out, []any{p.ID, p.Name, p.Score})
			if p.Class != classes[p.Index] {
				t.Errorf("%+v has another index than its class", p)
			}
		}
		rows = append(rows, out)
	}
	if d := cmp.Diff(f.Decoded, rows); d != "" {
		t.Errorf("(-tf_keras +ours):\n%s", d)
	}
	if _, err := Decode(scores, classes[:5], 4); err == nil || !strings.Contains(err.Error(), "want [batch, 5]") {
		t.Errorf("too few classes: %v", err)
	}
	if all, err := Decode(scores, classes, 5000); err != nil || len(all[1]) != 1000 {
		t.Errorf("a top above the number of classes: %v", err)
	}
}

func TestWrongClassFilesAreErrors(t *testing.T) {
	for data, want := range map[string]string{
		`{"0": ["a", "b"], "2": ["c", "d"]}`:  `a class "2", want numbers from 0 to 1`,
		`{"0": ["a", "b"], "00": ["c", "d"]}`: `a class "00"`,
		`{"0": ["a"]}`:                        "has 1 names",
		`["a"]`:                               "cannot unmarshal",
	} {
		if _, err := ReadClasses(strings.NewReader(data)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", data, err, want)
		}
	}
}
