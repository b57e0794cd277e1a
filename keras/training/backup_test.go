package training_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairnml/cairn/checkpoint"
	"github.com/cairnml/cairn/dataset"
	"github.com/cairnml/cairn/keras"
	"github.com/cairnml/cairn/keras/activations"
	"github.com/cairnml/cairn/keras/callbacks"
	"github.com/cairnml/cairn/keras/initializers"
	"github.com/cairnml/cairn/keras/layers"
	"github.com/cairnml/cairn/keras/optimizers"
	"github.com/cairnml/cairn/keras/training"
	"github.com/cairnml/cairn/tensor"
)

// backedUp returns a trainer of the model of testdata/gen_backup.py.
func backedUp(t testing.TB) *training.Trainer {
	model := keras.NewSequential(
		&layers.Dense{Units: 4, Activation: activations.Tanh, KernelInitializer: initializers.GlorotUniform{Seed: new(1)}},
		&layers.Dense{Units: 1, KernelInitializer: initializers.GlorotUniform{Seed: new(2)}})
	adam := optimizers.NewAdam(0.05)
	must(t, adam.SetLayout(optimizers.NewLayout))
	return compiled(t, model, &training.CompileOptions{Optimizer: adam, Loss: "mse", Seed: new(uint64(4))})
}

// backupFixture is testdata/backup.json.
type backupFixture struct {
	X, Y    [][]float32
	Epoch   []int
	Loss    []float64
	Predict [][]float32
}

func readBackup(t testing.TB) (f backupFixture) {
	data, err := os.ReadFile("testdata/backup.json")
	must(t, err)
	must(t, json.Unmarshal(data, &f))
	return f
}

// TestATrainingOfTfKerasGoesOn takes over the backup of a run of tf_keras's.
func TestATrainingOfTfKerasGoesOn(t *testing.T) {
	f := readBackup(t)
	dir := t.TempDir()
	must(t, os.CopyFS(dir, os.DirFS("testdata/backup")))
	trainer := backedUp(t)
	history, err := trainer.Fit(ctx, &training.Examples{X: f.X, Y: f.Y}, &training.FitOptions{
		BatchSize: 8, Epochs: 4, InOrder: true, Callbacks: []callbacks.Callback{&callbacks.BackupAndRestore{BackupDir: dir}}})
	must(t, err)
	if !slices.Equal(history.Epoch, f.Epoch) {
		t.Errorf("epochs %v, want %v", history.Epoch, f.Epoch)
	}
	sameHistory(t, "fit", history, map[string][]float64{"loss": f.Loss})
	predicted, err := trainer.Predict(ctx, &training.Examples{X: f.X}, nil)
	must(t, err)
	for i, want := range f.Predict {
		if got := tensor.Values[float32](predicted)[i]; !near(float64(got), float64(want[0])) {
			t.Errorf("prediction %d is %v, want %v", i, got, want[0])
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "chief")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the backup is still there: %v", err)
	}
}

// TestBackupsAndCheckpointsHaveTheKeysOfTfKeras compares the names in the files.
func TestBackupsAndCheckpointsHaveTheKeysOfTfKeras(t *testing.T) {
	f := readBackup(t)
	dir := t.TempDir()
	_, err := backedUp(t).Fit(ctx, &training.Examples{X: f.X, Y: f.Y}, &training.FitOptions{BatchSize: 8, Epochs: 2, InOrder: true, Callbacks: []callbacks.Callback{
		&callbacks.BackupAndRestore{BackupDir: dir, KeepCheckpoint: true},
		&callbacks.ModelCheckpoint{Filepath: filepath.Join(dir, "weights", "{epoch:02d}")},
	}})
	must(t, err)
	for _, name := range []string{"chief/ckpt-2", "weights/01", "weights/02"} {
		from := filepath.Join("testdata", name)
		if strings.HasPrefix(name, "chief") {
			from = filepath.Join("testdata", "backup", name)
		}
		want, err := checkpoint.List(ctx, from)
		must(t, err)
		got, err := checkpoint.List(ctx, filepath.Join(dir, name))
		must(t, err)
		// The object graph of tf_keras has nodes of its train function, which have no values.
		if d := cmp.Diff(fmt.Sprint(want[1:]), fmt.Sprint(got[1:])); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
	want, err := os.ReadFile("testdata/weights/checkpoint")
	must(t, err)
	got, err := os.ReadFile(filepath.Join(dir, "weights", "checkpoint"))
	must(t, err)
	if string(got) != string(want) {
		t.Errorf("the state file is\n%s, want\n%s", got, want)
	}
}

// longRun trains with a backup every three steps and shuffled data of one of the forms.
func longRun(t testing.TB, form, dir string, each func(step int)) *training.Trainer {
	f := readBackup(t)
	trainer := backedUp(t)
	list := []callbacks.Callback{&callbacks.LambdaCallback{TrainBatchEnd: func(_ context.Context, _ *callbacks.Run, n int, _ callbacks.Logs) error {
		if each != nil {
			each(n)
		}
		return nil
	}}}
	if dir != "" {
		list = append(list, &callbacks.BackupAndRestore{BackupDir: dir, SaveFreq: 3})
	}
	o := &training.FitOptions{Epochs: 4, Callbacks: list}
	var data training.Data = &training.Examples{X: f.X, Y: f.Y}
	if form == "dataset" {
		type example struct{ X, Y [][]float32 }
		data = training.Batches(dataset.FromSlices(example{f.X, f.Y}).Shuffle(20, &dataset.ShuffleOptions{Seed: 5}).Batch(4, nil))
	} else {
		o.BatchSize = 4
	}
	_, err := trainer.Fit(ctx, data, o)
	must(t, err)
	return trainer
}

// TestAKilledTrainingEndsWithTheSameBits kills a process in the middle of a training, at
// several places, and compares the weights with those of a run in one go.
func TestAKilledTrainingEndsWithTheSameBits(t *testing.T) {
	if dir := os.Getenv("CAIRN_TRAINING_BACKUP"); dir != "" {
		longRun(t, os.Getenv("CAIRN_TRAINING_FORM"), dir, func(step int) { fmt.Println("step", step) })
		return
	}
	for _, form := range []string{"examples", "dataset"} {
		whole := longRun(t, form, "", nil)
		dir := t.TempDir()
		for _, steps := range []int{4, 9} { // of 20
			kill(t, form, dir, steps)
		}
		left := 0
		rest := longRun(t, form, dir, func(int) { left++ })
		if left == 0 || left > 14 {
			t.Errorf("%s: %d steps were left, want those after step 6 at most", form, left)
		}
		for i, want := range keras.Variables(whole.Model()) {
			if got := keras.Variables(rest.Model())[i]; !reflect.DeepEqual(got.Load().Bytes(), want.Load().Bytes()) {
				t.Errorf("%s: the variable %s differs", form, want.Name())
			}
		}
	}
}

// kill trains in another process, which it kills after a number of steps.
func kill(t *testing.T, form, dir string, steps int) {
	cmd := exec.Command(os.Args[0], "-test.run=^TestAKilledTrainingEndsWithTheSameBits$")
	cmd.Env = append(os.Environ(), "CAIRN_TRAINING_BACKUP="+dir, "CAIRN_TRAINING_FORM="+form)
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	seen := 0
	for lines := bufio.NewScanner(out); seen < steps && lines.Scan(); {
		if strings.HasPrefix(lines.Text(), "step") {
			seen++
		}
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	if seen < steps {
		t.Fatalf("the process ended after %d steps", seen)
	}
}

// TestModelCheckpointSavesTheBest looks at which epochs are saved, under which names.
func TestModelCheckpointSavesTheBest(t *testing.T) {
	var saved []string
	logs := []float64{0.5, 0.7, 0.25}
	m := &callbacks.ModelCheckpoint{Filepath: "{epoch:02d}-{loss:.2f}-{loss:8.1e}-{loss}-{{x}}", Monitor: "loss", SaveBestOnly: true,
		Save: func(_ context.Context, _ *callbacks.Run, path string) error { saved = append(saved, path); return nil }}
	r := &callbacks.Run{}
	must(t, m.OnTrainBegin(ctx, r))
	for epoch, loss := range logs {
		must(t, m.OnEpochBegin(ctx, r, epoch))
		must(t, m.OnEpochEnd(ctx, r, epoch, callbacks.Logs{"loss": loss}))
	}
	want := []string{"01-0.50- 5.0e-01-0.5-{x}", "03-0.25- 2.5e-01-0.25-{x}"}
	if d := cmp.Diff(want, saved); d != "" {
		t.Error(d)
	}
	m.SaveBestOnly, m.Filepath = false, "{acc}"
	if err := m.OnEpochEnd(ctx, r, 3, callbacks.Logs{"loss": 1}); err == nil || !strings.Contains(err.Error(), "there are epoch, loss") {
		t.Errorf("an unknown name: %v", err)
	}
	m.Filepath, m.SaveFreq, saved = "{epoch}.{batch}", 2, nil
	for epoch := range 2 {
		must(t, m.OnEpochBegin(ctx, r, epoch))
		for batch := range 3 {
			must(t, m.OnTrainBatchEnd(ctx, r, batch, callbacks.Logs{}))
		}
	}
	if d := cmp.Diff([]string{"1.2", "2.1", "2.3"}, saved); d != "" {
		t.Error(d)
	}
}
