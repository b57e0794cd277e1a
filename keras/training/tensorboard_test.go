package training_test

import (
	"encoding/binary"
	"io/fs"
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

// eventsOf returns the events in a folder with one file.
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
	want := []string{"epoch_loss", "epoch_mae", "dense/kernel_0/histogram", "dense/bias_0/histogram", "dense_1/kernel_0/histogram", "dense_1/bias_0/histogram",
		"batch_loss", "batch_mae", "epoch_loss", "epoch_mae"}
	if d := cmp.Diff(want, train); d != "" || graphs != 1 {
		t.Errorf("%d graphs, tags: %s", graphs, d)
	}
	validation, _ := tags("validation")
	once := []string{"evaluation_loss_vs_iterations", "evaluation_mae_vs_iterations", "epoch_loss", "epoch_mae"}
	if d := cmp.Diff(slices.Concat(once, once), validation); d != "" {
		t.Error(d)
	}
	loss := eventsOf(t, dir, "run/train")[2]
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
