package dataset_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cairnml/cairn/dataset"
	"github.com/cairnml/cairn/tensor"
)

// utils are the cases that testdata/gen_utils.py has run.
type utils struct {
	Categorical []struct {
		Classes int
		DType   string
	}
	Pad struct {
		Sequences [][]int32
		Cases     []struct {
			Length     int
			After, Cut bool
			Value      int32
		}
	}
	Series []struct {
		Length  int `json:"sequence_length"`
		Stride  int `json:"sequence_stride"`
		Rate    int `json:"sampling_rate"`
		Start   int `json:"start_index"`
		End     int `json:"end_index"`
		Shuffle bool
		Seed    uint64
		Count   int
	}
	Texts []struct {
		Options map[string]any
		Texts   []string
		Classes []any
	}
	Lists []struct {
		Seed   uint64
		Subset string
		Paths  []string
		Labels []int
	}
	Images []struct {
		Options struct {
			Directory     string
			Size          []int  `json:"image_size"`
			Color         string `json:"color_mode"`
			Crop          bool   `json:"crop_to_aspect_ratio"`
			Interpolation string
		}
		Paths []string
	}
	Shuffled [][][]string
	Shuffles []struct {
		N, Buffer int
		Seed      uint64
		Same      bool
		Global    *uint64
		Passes    [][]int32
	}
}

func readUtils(t *testing.T) (u utils, arrays map[string]*tensor.Tensor) {
	data, err := os.ReadFile("testdata/utils.json")
	must(t, err)
	must(t, json.Unmarshal(data, &u))
	data, err = os.ReadFile("testdata/utils.npz")
	must(t, err)
	z, err := tensor.OpenNPZ(bytes.NewReader(data), int64(len(data)), nil)
	must(t, err)
	arrays = map[string]*tensor.Tensor{}
	for _, name := range z.Names() {
		arrays[name], err = z.Read(t.Context(), name)
		must(t, err)
	}
	return u, arrays
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func equal(t *testing.T, what string, got, want *tensor.Tensor) {
	t.Helper()
	if want == nil || got.DType() != want.DType() || !got.Equal(want) {
		t.Errorf("%s is %v, tf_keras's is %v", what, got, want)
	}
}

func TestCategoricalIsTfKeras(t *testing.T) {
	u, arrays := readUtils(t)
	for i, c := range u.Categorical {
		d, err := tensor.ParseDType(c.DType)
		must(t, err)
		got, err := dataset.Categorical(arrays[fmt.Sprintf("categorical/%d/labels", i)], &dataset.CategoricalOptions{Classes: c.Classes, DType: d})
		must(t, err)
		equal(t, fmt.Sprintf("case %d", i), got, arrays[fmt.Sprintf("categorical/%d/out", i)])
	}
	for name, c := range map[string]struct {
		labels  *tensor.Tensor
		classes int
	}{
		"no labels": {tensor.Vector[int32](), 0}, "negative": {tensor.Vector[int32](1), -1},
		"beyond": {tensor.Vector[int32](1, 3), 3}, "far below": {tensor.Vector[int32](-4), 3},
		"huge": {tensor.Vector[int64](math.MaxInt64 - 1), 0}, "text": {tensor.Must(tensor.FromStrings(tensor.String, []string{"x"}, 1)), 0},
	} {
		if got, err := dataset.Categorical(c.labels, &dataset.CategoricalOptions{Classes: c.classes}); err == nil {
			t.Errorf("%s: got %v", name, got)
		}
	}
}

func TestPadIsTfKeras(t *testing.T) {
	u, arrays := readUtils(t)
	for i, c := range u.Pad.Cases {
		got, err := dataset.Pad(u.Pad.Sequences, &dataset.PadOptions[int32]{Length: c.Length, After: c.After, CutEnd: c.Cut, Value: c.Value})
		must(t, err)
		equal(t, fmt.Sprintf("case %d", i), got, arrays[fmt.Sprintf("pad/%d", i)])
	}
	vectors := []*tensor.Tensor{arrays["vectors/0"], arrays["vectors/1"], arrays["vectors/2"]}
	got, err := dataset.PadTensors(vectors, &dataset.PadOptions[float64]{Length: 3, Value: 0.5})
	must(t, err)
	equal(t, "vectors", got, arrays["vectors/out"])
	got, err = dataset.PadTensors(vectors, &dataset.PadOptions[float64]{Length: 3, Value: 0.5, After: true, CutEnd: true})
	must(t, err)
	equal(t, "vectors after", got, arrays["vectors/out_after"])
	words, err := dataset.Pad([][]string{{"a"}, {"b", "c"}}, &dataset.PadOptions[string]{Value: "-"})
	must(t, err)
	if !slices.Equal(words.Strings(), []string{"-", "a", "b", "c"}) {
		t.Errorf("words: %v", words)
	}
	if _, err := dataset.PadTensors([]*tensor.Tensor{arrays["vectors/0"], tensor.Vector[float32](1)}, nil); err == nil {
		t.Error("steps of two shapes are padded")
	}
	if _, err := dataset.Pad([][]int32{{1}, {2}}, &dataset.PadOptions[int32]{Length: math.MaxInt}); err == nil {
		t.Error("a length beyond memory is taken")
	}
}

func TestTimeSeriesAreTfKeras(t *testing.T) {
	u, arrays := readUtils(t)
	data, targets := arrays["series/data"], arrays["series/targets"]
	for i, c := range u.Series {
		o := &dataset.TimeSeriesOptions{Stride: c.Stride, Rate: c.Rate, Start: c.Start, End: c.End, Shuffle: c.Shuffle, Seed: c.Seed}
		windows := dataset.TimeSeries(data, c.Length, o)
		must(t, windows.Err())
		labeled := dataset.TimeSeriesTargets(data, targets, c.Length, o)
		must(t, labeled.Err())
		if n, ok := labeled.Len(); !ok || n != int64(c.Count) {
			t.Errorf("case %d has %d elements, tf_keras's has %d", i, n, c.Count)
		}
		for x, err := range windows.Batch(100, nil).All(t.Context()) {
			must(t, err)
			equal(t, fmt.Sprintf("windows %d", i), x, arrays[fmt.Sprintf("series/%d/x", i)])
		}
		for e, err := range labeled.Batch(100, nil).All(t.Context()) {
			must(t, err)
			equal(t, fmt.Sprintf("labeled windows %d", i), e.X, arrays[fmt.Sprintf("series/%d/labeled_x", i)])
			equal(t, fmt.Sprintf("targets %d", i), e.Y, arrays[fmt.Sprintf("series/%d/y", i)])
		}
	}
	for name, d := range map[string]*dataset.Dataset[*tensor.Tensor]{
		"length": dataset.TimeSeries(data, 0, nil), "rate": dataset.TimeSeries(data, 2, &dataset.TimeSeriesOptions{Rate: 20}),
		"stride": dataset.TimeSeries(data, 2, &dataset.TimeSeriesOptions{Stride: -1}), "start": dataset.TimeSeries(data, 2, &dataset.TimeSeriesOptions{Start: 20}),
		"end": dataset.TimeSeries(data, 2, &dataset.TimeSeriesOptions{Start: 5, End: 5}), "scalar": dataset.TimeSeries(tensor.Scalar(int32(1)), 2, nil),
		"seed": dataset.TimeSeries(data, 2, &dataset.TimeSeriesOptions{Shuffle: true, Seed: 1 << 40}),
	} {
		if d.Err() == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// TestListsOfFilesAreTfKeras compares the orders of files and labels.
func TestListsOfFilesAreTfKeras(t *testing.T) {
	u, _ := readUtils(t)
	for _, c := range u.Lists {
		d, err := dataset.ListDirectory("testdata/files", &dataset.DirectoryOptions{Formats: dataset.TextFormats, Shuffle: true, Seed: c.Seed})
		must(t, err)
		if c.Subset != "" {
			train, validation, err := d.Split(0.3)
			must(t, err)
			if d = train; c.Subset == "validation" {
				d = validation
			}
		}
		if got := fromTestdata(d.Files); !slices.Equal(got, c.Paths) || !slices.Equal(d.Labels, c.Labels) {
			t.Errorf("seed %d %s: got %q and %v, tf_keras's are %q and %v", c.Seed, c.Subset, got, d.Labels, c.Paths, c.Labels)
		}
	}
}

func fromTestdata(paths []string) []string {
	out := make([]string, len(paths))
	for i, p := range paths {
		out[i] = strings.TrimPrefix(filepath.ToSlash(p), "testdata/")
	}
	return out
}

func TestTextsOfDirectoriesAreTfKeras(t *testing.T) {
	u, arrays := readUtils(t)
	for i, c := range u.Texts {
		o := &dataset.DirectoryOptions{Formats: dataset.TextFormats}
		var mode dataset.LabelMode
		text := &dataset.TextOptions{}
		for key, value := range c.Options {
			switch key {
			case "label_mode":
				mode = dataset.LabelMode(value.(string))
			case "class_names":
				for _, name := range value.([]any) {
					o.ClassNames = append(o.ClassNames, name.(string))
				}
			case "max_length":
				text.MaxLength = int(value.(float64))
			case "labels":
				if o.NoLabels = value == nil; !o.NoLabels {
					for _, l := range value.([]any) {
						o.Labels = append(o.Labels, int(l.(float64)))
					}
				}
			default:
				t.Fatalf("unknown option %q", key)
			}
		}
		d, err := dataset.ListDirectory("testdata/files", o)
		must(t, err)
		var got *tensor.Tensor
		if o.NoLabels {
			for x, err := range d.Texts(text).Batch(100, nil).All(t.Context()) {
				must(t, err)
				got = x
			}
			if err := d.LabeledTexts(mode, nil).Err(); err == nil {
				t.Error("files without labels have some")
			}
		} else {
			for e, err := range d.LabeledTexts(mode, text).Batch(100, nil).All(t.Context()) {
				must(t, err)
				got = e.X
				equal(t, fmt.Sprintf("labels %d", i), e.Y, arrays[fmt.Sprintf("texts/%d", i)])
			}
			if d.Classes != len(c.Classes) {
				t.Errorf("case %d has %d classes, tf_keras's %v", i, d.Classes, c.Classes)
			}
		}
		// A text that is cut within a letter is a surrogate in the JSON.
		want := make([]string, len(c.Texts))
		for k, text := range c.Texts {
			want[k] = strings.ReplaceAll(text, "\ufffd", "\xc3")
		}
		if !slices.Equal(got.Strings(), want) {
			t.Errorf("case %d: got %q, tf_keras's are %q", i, got.Strings(), want)
		}
	}
}

func TestImagesOfDirectoriesAreTfKeras(t *testing.T) {
	u, arrays := readUtils(t)
	for i, c := range u.Images {
		folder := c.Options.Directory
		if folder == "" {
			folder = "files"
		}
		d, err := dataset.ListDirectory("testdata/"+folder, nil)
		must(t, err)
		if got := fromTestdata(d.Files); !slices.Equal(got, c.Paths) {
			t.Fatalf("case %d: got %q, tf_keras's are %q", i, got, c.Paths)
		}
		o := &dataset.ImageOptions{Height: c.Options.Size[0], Width: c.Options.Size[1], Crop: c.Options.Crop, Method: dataset.ResizeMethod(c.Options.Interpolation),
			Channels: map[string]int{"grayscale": 1, "rgba": 4}[c.Options.Color]}
		want := arrays[fmt.Sprintf("images/%d", i)]
		for e, err := range d.LabeledImages("", o).Batch(100, nil).All(t.Context()) {
			must(t, err)
			if e.X.DType() != want.DType() || !e.X.Shape().Equal(want.Shape()) {
				t.Errorf("case %d is %v%v, tf_keras's is %v%v", i, e.X.DType(), e.X.Shape(), want.DType(), want.Shape())
				continue
			}
			g, err := e.X.Float64s()
			must(t, err)
			w, err := want.Float64s()
			must(t, err)
			for k := range w {
				if math.Abs(g[k]-w[k]) > 1e-3 {
					t.Errorf("case %d: element %d is %v, tf_keras's is %v", i, k, g[k], w[k])
					break
				}
			}
		}
	}
}

func TestWhatDirectoriesRefuse(t *testing.T) {
	broken := t.TempDir()
	must(t, os.MkdirAll(filepath.Join(broken, "a"), 0o755))
	must(t, os.WriteFile(filepath.Join(broken, "a", "x.png"), []byte("no picture"), 0o644))
	must(t, os.Symlink(broken, filepath.Join(broken, "a", "loop")))
	for name, o := range map[string]*dataset.DirectoryOptions{
		"class names":          {ClassNames: []string{"b"}},
		"labels and none":      {Labels: []int{1}, NoLabels: true},
		"names without labels": {ClassNames: []string{"a"}, NoLabels: true},
		"number of labels":     {Labels: []int{1, 2}},
		"no files":             {Formats: []string{".wav"}},
		"seed":                 {Shuffle: true, Seed: 1 << 33},
	} {
		if _, err := dataset.ListDirectory(broken, o); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if _, err := dataset.ListDirectory(filepath.Join(broken, "none"), nil); err == nil {
		t.Error("a directory that isn't there is listed")
	}
	d, err := dataset.ListDirectory(broken, &dataset.DirectoryOptions{FollowLinks: true}) // and it ends
	must(t, err)
	if len(d.Files) != 1 {
		t.Errorf("got the files %q, want one", d.Files)
	}
	for _, err := range d.Images(nil).All(t.Context()) {
		if err == nil || !strings.Contains(err.Error(), "x.png") {
			t.Errorf("a file that is no picture: %v", err)
		}
	}
	if _, _, err := d.Split(0.5); err == nil {
		t.Error("one file is split")
	}
	for _, o := range []*dataset.ImageOptions{{Channels: 2}, {Height: -1}, {Method: "best"}} {
		if d.Images(o).Err() == nil {
			t.Errorf("%+v: no error", o)
		}
	}
	if d.LabeledImages(dataset.LabelBinary, nil).Err() == nil {
		t.Error("binary labels of one class")
	}
}

// TestShuffledBatchesAreTfKeras compares the batches of three passes over shuffled files.
func TestShuffledBatchesAreTfKeras(t *testing.T) {
	u, _ := readUtils(t)
	const batch, seed = 2, 5
	d, err := dataset.ListDirectory("testdata/files", &dataset.DirectoryOptions{Formats: dataset.TextFormats, Shuffle: true, Seed: seed})
	must(t, err)
	texts := d.LabeledTexts("", nil).Shuffle(8*batch, &dataset.ShuffleOptions{Seed: seed, TensorFlow: true}).Batch(batch, nil)
	for pass, want := range u.Shuffled {
		var got [][]string
		for e, err := range texts.Epoch(pass).All(t.Context()) {
			must(t, err)
			got = append(got, e.X.Strings())
		}
		if !slices.EqualFunc(got, want, slices.Equal) {
			t.Errorf("pass %d: got %q, tf_keras's is %q", pass, got, want)
		}
	}
}

// TestShuffleInTensorFlowsOrder compares passes with iterators of tf.data, from the start
// and from a restored place.
func TestShuffleInTensorFlowsOrder(t *testing.T) {
	u, _ := readUtils(t)
	for i, c := range u.Shuffles {
		numbers := make([]int32, c.N)
		for k := range numbers {
			numbers[k] = int32(k)
		}
		d := dataset.FromSlices(tensor.Vector(numbers...)).Shuffle(c.Buffer, &dataset.ShuffleOptions{
			Seed: c.Seed, SameOrder: c.Same, TensorFlow: true, GlobalSeed: c.Global})
		must(t, d.Err())
		for n, want := range c.Passes {
			var got []int32
			for x, err := range d.Epoch(n).All(t.Context()) {
				must(t, err)
				got = append(got, tensor.Values[int32](x)[0])
			}
			if !slices.Equal(got, want) {
				t.Errorf("case %d, pass %d: got %v, tf.data's order is %v", i, n, got, want)
			}
		}
		whole := d.Repeat(len(c.Passes))
		first, second := whole.Iterator(), whole.Iterator()
		for range c.N + 2 {
			_, err := first.Next(t.Context())
			must(t, err)
		}
		state, err := first.SerializeToTensors()
		must(t, err)
		must(t, second.RestoreFromTensors(map[string]*tensor.Tensor{state[0].Name: state[0].Tensor}))
		for _, want := range c.Passes[1][2:] {
			x, err := second.Next(t.Context())
			must(t, err)
			if got := tensor.Values[int32](x)[0]; got != want {
				t.Errorf("case %d: the restored iterator is at %d, tf.data's at %d", i, got, want)
			}
		}
	}
	if err := dataset.FromSlices(tensor.Vector[int32](1)).Shuffle(1, &dataset.ShuffleOptions{TensorFlow: true, Seed: 1 << 31}).Err(); err == nil {
		t.Error("a seed beyond TensorFlow's is taken")
	}
}
