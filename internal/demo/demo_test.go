package demo

import (
	"context"
	"testing"

	"github.com/cairnml/cairn/keras"
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
	last := 0
	if err := r.Train(context.Background(), until, func(p Progress) { last = p.Step }); err != nil {
		t.Fatal(err)
	}
	if want := until; want > 0 && last != want {
		t.Fatalf("the last step was %d, want %d", last, want)
	}
	return r
}

// TestDigitsAreLearntAndAStoppedRunGoesOnExactly compares a run in one go with
// one that was stopped and begun anew in the same directory.
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
	first := run(t, dir, 533)
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
