package demo

import (
	"context"
	"errors"
	"testing"

	"github.com/cairnml/cairn/keras"
	"github.com/cairnml/cairn/keras/callbacks"
)

func run(t *testing.T, dir string, until int) *Run {
	t.Helper()
	r, err := New(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	if _, err := r.Resume(context.Background()); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Train(context.Background(), until, nil); err != nil {
		t.Fatal(err)
	}
	if want := until; want > 0 && r.Epoch() != want {
		t.Fatalf("%d epochs were trained, want %d", r.Epoch(), want)
	}
	return r
}

// TestDigitsAreLearntAndAStoppedRunGoesOnExactly compares a run in one go with
// one that was stopped, cut off within an epoch, and begun anew in the same directory.
func TestDigitsAreLearntAndAStoppedRunGoesOnExactly(t *testing.T) {
	whole := run(t, t.TempDir(), 0)
	accuracy, err := whole.Accuracy(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if accuracy < 0.95 {
		t.Errorf("%.1f%% of the held-out digits are right, want over 95%%", 100*accuracy)
	}
	t.Logf("%.2f%% of the held-out digits are right", 100*accuracy)

	dir := t.TempDir()
	first := run(t, dir, 2)
	cut := errors.New("cut off")
	_, err = first.Train(context.Background(), 0, &keras.FitOptions{Callbacks: []callbacks.Callback{&callbacks.LambdaCallback{
		TrainBatchEnd: func(_ context.Context, _ *callbacks.Run, batch int, _ callbacks.Logs) error {
			if batch == 57 {
				return cut
			}
			return nil
		},
	}}})
	if !errors.Is(err, cut) {
		t.Fatalf("the cut training: %v", err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	second := run(t, dir, 0)
	a, b := keras.Variables(whole.Training.Net), keras.Variables(second.Training.Net)
	if len(a) != 4 || len(b) != 4 {
		t.Fatalf("%d and %d variables", len(a), len(b))
	}
	for i := range a {
		if !a[i].Load().Equal(b[i].Load()) {
			t.Errorf("variable %d differs after the stopped run", i)
		}
	}
	guesses, err := second.Guess(context.Background(), 3)
	if err != nil || len(guesses) != 3 {
		t.Errorf("Guess: %v, %v", guesses, err)
	}
}
