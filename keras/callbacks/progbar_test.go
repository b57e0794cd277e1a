package callbacks

import (
	"strings"
	"testing"
	"time"
)

// drive runs a bar over three steps that take 0.4 s each, and returns its pictures.
func drive(t *testing.T, verbose, steps, width int) []string {
	t.Helper()
	var out strings.Builder
	clock := time.Unix(0, 0)
	p := &ProgbarLogger{Width: width, now: func() time.Time { return clock }}
	r := &Run{Output: &out, Params: Params{Epochs: 2, Steps: steps, Verbose: verbose, Metrics: []string{"loss", "mae"}}}
	fatal := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	fatal(p.OnTrainBegin(t.Context(), r))
	fatal(p.OnEpochBegin(t.Context(), r, 0))
	logs := Logs{"mae": 0.0001, "loss": 1.25}
	for batch := range 3 {
		clock = clock.Add(400 * time.Millisecond)
		fatal(p.OnTrainBatchEnd(t.Context(), r, batch, logs))
	}
	logs["val_loss"] = -2
	fatal(p.OnEpochEnd(t.Context(), r, 0, logs))
	return strings.Split(out.String(), "\r")
}

// TestTheBarIsTfKeras compares pictures with those that tf_keras's Progbar draws.
func TestTheBarIsTfKeras(t *testing.T) {
	want := []string{"Epoch 1/2\n",
		"1/3 [=========>....................] - ETA: 0s - loss: 1.2500 - mae: 1.0000e-04",
		"2/3 [===================>..........] - ETA: 0s - loss: 1.2500 - mae: 1.0000e-04",
		"3/3 [==============================] - ETA: 0s - loss: 1.2500 - mae: 1.0000e-04",
		"3/3 [==============================] - 1s 400ms/step - loss: 1.2500 - mae: 1.0000e-04 - val_loss: -2.0000\n"}
	for i, got := range drive(t, 1, 3, 0) {
		if got = strings.TrimRight(got, "\b"); got != want[i] {
			t.Errorf("picture %d is %q, want %q", i, got, want[i])
		}
	}
	last := drive(t, 1, 0, 0)
	if got, want := strings.TrimRight(last[1], "\b"), "      1/Unknown - 0s 400ms/step - loss: 1.2500 - mae: 1.0000e-04"; got != want {
		t.Errorf("without a number of steps the picture is %q, want %q", got, want)
	}
	lines := drive(t, 2, 3, 0)
	if got, want := lines[0], "Epoch 1/2\n3/3 - 1s - loss: 1.2500 - mae: 1.0000e-04 - val_loss: -2.0000e+00 - 1s/epoch - 400ms/step\n"; got != want {
		t.Errorf("the lines are %q, want %q", got, want)
	}
}

// TestAMovingBarFitsTheTerminal draws on a narrow terminal.
func TestAMovingBarFitsTheTerminal(t *testing.T) {
	pictures := drive(t, 1, 3, 64)
	for _, got := range pictures[1 : len(pictures)-1] {
		if got = strings.TrimRight(got, "\b"); len(got) > 63 {
			t.Errorf("%d columns: %q", len(got), got)
		}
		if !strings.Contains(got, "loss: 1.2500") || strings.Contains(got, "mae") {
			t.Errorf("want the loss and no more: %q", got)
		}
	}
}

// TestABarGetsShorterToShowAllNumbers draws on a terminal that a bar of 30 is too wide for.
func TestABarGetsShorterToShowAllNumbers(t *testing.T) {
	pictures := drive(t, 1, 3, 70)
	want := "2/3 [=======>.....] - ETA: 0s - loss: 1.2500 - mae: 1.0000e-04"
	if got := strings.TrimRight(pictures[2], "\b"); got != want {
		t.Errorf("the picture is %q, want %q", got, want)
	}
}

func TestAnAbortEndsTheLineOfTheBar(t *testing.T) {
	var out strings.Builder
	p := new(ProgbarLogger)
	r := &Run{Output: &out, Params: Params{Steps: 3, Verbose: 1}}
	for _, err := range []error{p.OnTrainBegin(t.Context(), r), p.OnEpochBegin(t.Context(), r, 0), p.OnTrainBatchEnd(t.Context(), r, 0, nil)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		p.OnTrainAbort()
	}
	if got := out.String(); !strings.HasSuffix(got, "\n") || strings.Count(got, "\n") != 1 {
		t.Errorf("got %q, want one newline at the end", got)
	}
}
