package training_test

import (
	"encoding/binary"
	"io/fs"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/cairnml/cairn/keras"
	"github.com/cairnml/cairn/keras/callbacks"
	"github.com/cairnml/cairn/keras/layers"
	"github.com/cairnml/cairn/keras/training"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/vfs"
)

// field returns the values of a field of an encoded message.
func field(t *testing.T, message []byte, number protowire.Number) (values [][]byte) {
	t.Helper()
	for len(message) > 0 {
		n, kind, size := protowire.ConsumeTag(message)
		if size < 0 {
			t.Fatal(protowire.ParseError(size))
		}
		message = message[size:]
		size = protowire.ConsumeFieldValue(n, kind, message)
		if size < 0 {
			t.Fatal(protowire.ParseError(size))
		}
		if n == number {
			value := message[:size]
			if kind == protowire.BytesType {
				value, _ = protowire.ConsumeBytes(value)
			}
			values = append(values, value)
		}
		message = message[size:]
	}
	return values
}

// eventsOf returns the events in a directory with one file.
func eventsOf(t *testing.T, dir fs.FS, folder string) (list [][]byte) {
	files, err := fs.Glob(dir, folder+"/events.out.tfevents.*.v2")
	must(t, err)
	if len(files) != 1 {
		t.Fatalf("%s has the files %q, want one", folder, files)
	}
	data, err := fs.ReadFile(dir, files[0])
	must(t, err)
	for len(data) > 0 {
		n := binary.LittleEndian.Uint64(data)
		list = append(list, data[12:12+n])
		data = data[16+n:]
	}
	return list
}

// TestTensorBoardHasTheTagsOfTfKeras lists the tags in the event files of a training.
func TestTensorBoardHasTheTagsOfTfKeras(t *testing.T) {
	x, y := line(16)
	dir := vfs.MemDir()
	model := keras.NewSequential(&layers.Dense{Units: 3}, &layers.Dense{Units: 1})
	history, err := compiled(t, model, regression()).Fit(ctx, &training.Examples{X: x, Y: y}, &training.FitOptions{Epochs: 2, BatchSize: 4, ValidationSplit: 0.25,
		Callbacks: []callbacks.Callback{&callbacks.TensorBoard{LogDir: "run", HistogramFreq: 2, UpdateFreq: 4, Dir: dir}}})
	must(t, err)
	tags := func(folder string) (tags []string, graphs int) {
		for i, e := range eventsOf(t, dir, "run/"+folder) {
			if version := field(t, e, 3); i == 0 && (len(version) != 1 || string(version[0]) != "brain.Event:2") {
				t.Errorf("%s begins with %q", folder, version)
			}
			graphs += len(field(t, e, 4))
			for _, summary := range field(t, e, 5) {
				for _, value := range field(t, summary, 1) {
					tags = append(tags, string(field(t, value, 1)[0]))
				}
			}
		}
		return tags, graphs
	}
	train, graphs := tags("train")
	want := []string{"keras", "epoch_loss", "epoch_mae", "dense/kernel_0/histogram", "dense/bias_0/histogram", "dense_1/kernel_0/histogram", "dense_1/bias_0/histogram",
		"batch_loss", "batch_mae", "epoch_loss", "epoch_mae"}
	if d := cmp.Diff(want, train); d != "" || graphs != 1 {
		t.Errorf("%d graphs, tags: %s", graphs, d)
	}
	validation, _ := tags("validation")
	once := []string{"evaluation_loss_vs_iterations", "evaluation_mae_vs_iterations", "epoch_loss", "epoch_mae"}
	if d := cmp.Diff(slices.Concat(once, once), validation); d != "" {
		t.Error(d)
	}
	loss := eventsOf(t, dir, "run/train")[3]
	value := field(t, field(t, loss, 5)[0], 1)[0]
	if plugin := string(field(t, field(t, field(t, value, 9)[0], 1)[0], 1)[0]); plugin != "scalars" {
		t.Errorf("the plugin is %q", plugin)
	}
	float := field(t, field(t, value, 8)[0], 5)[0] // packed float_val
	if got := math.Float32frombits(binary.LittleEndian.Uint32(float)); got != float32(history.History["loss"][0]) {
		t.Errorf("the loss is %v, want %v", got, history.History["loss"][0])
	}
	if !strings.Contains(string(slices.Concat(eventsOf(t, dir, "run/train")...)), "MatMul") {
		t.Error("the graph has no MatMul")
	}
}

// TestTensorBoardImagesAndProfiles writes images of weights, a profile, and checkpoints of
// embeddings.
func TestTensorBoardImagesAndProfiles(t *testing.T) {
	dir := vfs.MemDir()
	words := &layers.Embedding{InputDim: 4, OutputDim: 3}
	words.Name = "words"
	model := keras.NewSequential(words, &layers.Conv1D{Filters: 2, KernelSize: []int{3}}, &layers.Flatten{}, &layers.Dense{Units: 1})
	x := tensor.Must(tensor.Zeros(tensor.Int64, 8, 8))
	y := tensor.Must(tensor.Zeros(tensor.Float32, 8, 1))
	board := &callbacks.TensorBoard{LogDir: "run", HistogramFreq: 1, WriteImages: true, ProfileBatch: [2]int{2, 3}, EmbeddingsFreq: 1,
		EmbeddingsMetadata: map[string]string{"words": "words.tsv"}, Dir: dir}
	_, err := compiled(t, model, regression()).Fit(ctx, &training.Examples{X: x, Y: y}, &training.FitOptions{Epochs: 2, BatchSize: 2, Callbacks: []callbacks.Callback{board}})
	must(t, err)
	images := map[string][][]byte{}
	for _, e := range eventsOf(t, dir, "run/train") {
		for _, summary := range field(t, e, 5) {
			value := field(t, summary, 1)[0]
			if tag := string(field(t, value, 1)[0]); strings.HasSuffix(tag, "/image") || tag == "batch_3" {
				images[tag] = field(t, field(t, value, 8)[0], 8) // string_val
			}
		}
	}
	// Sizes as tf_keras's; a bias of one number has no image.
	for tag, want := range map[string][]string{"words/embeddings_0/image": {"4", "3"}, "conv1d/kernel_0/image": {"3", "3"}, "conv1d/bias_0/image": {"1", "2"}, "dense/kernel_0/image": {"1", "12"}} {
		got := images[tag]
		if len(got) < 3 || string(got[0]) != want[0] || string(got[1]) != want[1] || !strings.HasPrefix(string(got[2]), "\x89PNG") {
			t.Errorf("%s: %q, want the size %q and images", tag, got, want)
		}
	}
	if len(images["conv1d/kernel_0/image"]) != 4 || images["dense/bias_0/image"] != nil || images["batch_3"] == nil {
		t.Errorf("images: %q", slices.Collect(maps.Keys(images)))
	}
	files, err := fs.Glob(dir, "run/plugins/profile/*/*.xplane.pb")
	must(t, err)
	if len(files) != 1 {
		t.Fatalf("the profiles are %q, want one", files)
	}
	space, err := fs.ReadFile(dir, files[0])
	must(t, err)
	plane := field(t, space, 1)[0]
	lines := field(t, plane, 3)
	if string(field(t, plane, 2)[0]) != "/host:CPU" || len(lines) != 2 || len(field(t, lines[0], 4)) != 2 || len(field(t, lines[1], 4)) < 20 {
		t.Errorf("the plane %q has %d lines with %d steps", field(t, plane, 2), len(lines), len(field(t, lines[0], 4)))
	}
	if !strings.Contains(string(plane), "MatMul") {
		t.Error("no op of the profile is a MatMul")
	}
	text, err := fs.ReadFile(dir, "run/projector_config.pbtxt")
	must(t, err)
	if want := "embeddings {\n  tensor_name: \"layer_with_weights-0/embeddings/.ATTRIBUTES/VARIABLE_VALUE\"\n  metadata_path: \"words.tsv\"\n}\n"; string(text) != want {
		t.Errorf("the projector's config is %q, want %q", text, want)
	}
	for _, name := range []string{"keras_embedding.ckpt-0.index", "keras_embedding.ckpt-1.index", "checkpoint"} {
		if _, err := fs.Stat(dir, "run/train/"+name); err != nil {
			t.Error(err)
		}
	}
	for name, b := range map[string]*callbacks.TensorBoard{
		"above the second": {ProfileBatch: [2]int{3, 2}}, "no Embedding layer": {EmbeddingsFreq: 1, EmbeddingsMetadata: map[string]string{"wards": "x"}},
		"EmbeddingsFreq is -1": {EmbeddingsFreq: -1},
	} {
		b.Dir = dir
		_, err := compiled(t, model, regression()).Fit(ctx, &training.Examples{X: x, Y: y}, &training.FitOptions{Callbacks: []callbacks.Callback{b}})
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("the error is %v, want one with %q", err, name)
		}
	}
}
