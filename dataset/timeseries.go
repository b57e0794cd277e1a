package dataset

import (
	"context"
	"fmt"

	"github.com/cairnml/cairn/internal/numpyrand"
	"github.com/cairnml/cairn/tensor"
)

// Example is an input and its target.
type Example struct{ X, Y *tensor.Tensor }

// TimeSeriesOptions are the options of [TimeSeries] and [TimeSeriesTargets].
type TimeSeriesOptions struct {
	// Stride is the number of steps between the starts of two sequences. Default: 1.
	Stride int
	// Rate is the number of steps between two steps of a sequence. Default: 1.
	Rate int
	// Start is the first step that is used. Default: 0.
	Start int
	// End is the step after the last one that is used. Default: the number of steps.
	End int
	// Shuffle puts the sequences in random order, in that of tf_keras for the seed.
	// Default: the order of time.
	Shuffle bool
	// Seed is the seed of the order, at most 2³²-1.
	Seed uint64
}

// TimeSeries makes a dataset of windows of data, whose first dimension is the time. Each
// element is a sequence of length steps. The order is that of
// tf.keras.utils.timeseries_dataset_from_array before its shuffle of batches; batches are
// made by [Dataset.Batch].
func TimeSeries(data *tensor.Tensor, length int, o *TimeSeriesOptions) *Dataset[*tensor.Tensor] {
	w, err := newWindows(data, nil, length, o)
	if err != nil {
		return failed[*tensor.Tensor](fmt.Errorf("dataset: TimeSeries: %w", err))
	}
	return Map(FromSlices(w.starts), func(_ context.Context, at *tensor.Tensor) (*tensor.Tensor, error) {
		return w.window(int(tensor.Values[int64](at)[0]))
	})
}

// TimeSeriesTargets makes a dataset of windows as [TimeSeries] does, each with the row of
// targets that has the number of the window's start.
func TimeSeriesTargets(data, targets *tensor.Tensor, length int, o *TimeSeriesOptions) *Dataset[Example] {
	if targets == nil {
		return failed[Example](fmt.Errorf("dataset: TimeSeriesTargets: there are no targets"))
	}
	w, err := newWindows(data, targets, length, o)
	if err != nil {
		return failed[Example](fmt.Errorf("dataset: TimeSeriesTargets: %w", err))
	}
	return Map(FromSlices(w.starts), func(_ context.Context, at *tensor.Tensor) (e Example, err error) {
		i := int(tensor.Values[int64](at)[0])
		if e.X, err = w.window(i); err == nil {
			e.Y, err = rows(w.targets, i, i+1, w.targets.Shape()[1:])
		}
		return e, err
	})
}

// windows are the sequences of a time series.
type windows struct {
	data, targets *tensor.Tensor // the rows from Start to End; targets may be nil
	starts        *tensor.Tensor // the first step of each window, an int64 that counts from Start
	length, rate  int            // the steps of a window, and the distance between two of them
}

// newWindows checks the options and finds the starts of the windows. The limits of Rate and Stride and the number of
// windows are those of tf_keras. There, all rows of targets limit that number, also those before Start.
func newWindows(data, targets *tensor.Tensor, length int, o *TimeSeriesOptions) (*windows, error) {
	var opts TimeSeriesOptions
	if o != nil {
		opts = *o
	}
	if data == nil || data.Rank() == 0 {
		return nil, fmt.Errorf("the data has no time steps")
	}
	n := data.Shape()[0]
	for _, p := range []*int{&opts.Stride, &opts.Rate} {
		if *p == 0 {
			*p = 1
		}
	}
	end := opts.End
	if end == 0 {
		end = n
	}
	switch {
	case length < 1:
		return nil, fmt.Errorf("the length is %d, want 1 or more", length)
	case opts.Start < 0 || opts.Start >= max(n, 1):
		return nil, fmt.Errorf("the Start is %d, want 0 to %d", opts.Start, n-1)
	case end < 0 || end > n || opts.End != 0 && end <= opts.Start:
		return nil, fmt.Errorf("the End is %d, want %d to %d", end, opts.Start+1, n)
	case opts.Rate < 1 || opts.Rate >= n:
		return nil, fmt.Errorf("the Rate is %d, want 1 to %d", opts.Rate, n-1)
	case opts.Stride < 1 || opts.Stride >= n:
		return nil, fmt.Errorf("the Stride is %d, want 1 to %d", opts.Stride, n-1)
	}
	w := &windows{length: length, rate: opts.Rate}
	var err error
	if w.data, err = rowsOf(data, opts.Start, end); err != nil {
		return nil, err
	}
	count := 0
	if span := end - opts.Start - 1; (length - 1) <= span/opts.Rate {
		count = span + 1 - (length-1)*opts.Rate
	}
	if targets != nil {
		if targets.Rank() == 0 {
			return nil, fmt.Errorf("the targets have no rows")
		}
		count = min(count, targets.Shape()[0])
		if w.targets, err = rowsOf(targets, min(opts.Start, targets.Shape()[0]), min(end, targets.Shape()[0])); err != nil {
			return nil, err
		}
	}
	var starts []int64
	for i := 0; i < count; i += opts.Stride {
		starts = append(starts, int64(i))
	}
	if w.targets != nil && len(starts) > 0 && starts[len(starts)-1] >= int64(w.targets.Shape()[0]) {
		return nil, fmt.Errorf("the window that starts at step %d has no target: there are %d from Start on", starts[len(starts)-1], w.targets.Shape()[0])
	}
	if opts.Shuffle {
		state, err := numpyrand.New(opts.Seed)
		if err != nil {
			return nil, err
		}
		numpyrand.Shuffle(state, starts)
	}
	w.starts, err = tensor.New(starts, len(starts))
	return w, err
}

// rowsOf returns the rows lo to hi of t.
func rowsOf(t *tensor.Tensor, lo, hi int) (*tensor.Tensor, error) {
	shape := t.Shape().Clone()
	shape[0] = max(hi-lo, 0)
	return rows(t, lo, max(hi, lo), shape)
}

// window returns the sequence that starts at a step.
func (w *windows) window(at int) (*tensor.Tensor, error) {
	shape := w.data.Shape().Clone()
	shape[0] = w.length
	if w.rate == 1 {
		return rows(w.data, at, at+w.length, shape)
	}
	steps := make([]*tensor.Tensor, w.length)
	for i := range steps {
		var err error
		if steps[i], err = rows(w.data, at+i*w.rate, at+i*w.rate+1, w.data.Shape()[1:]); err != nil {
			return nil, err
		}
	}
	return stack(steps)
}
