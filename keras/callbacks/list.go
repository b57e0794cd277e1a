package callbacks

import "context"

// List is a [Callback] that calls others in order, up to the first error. The Trainer calls all
// callbacks through one. OnTrainAbort calls all.
type List []Callback

func (l List) each(f func(c Callback) error) error {
	for _, c := range l {
		if err := f(c); err != nil {
			return err
		}
	}
	return nil
}

// OnTrainBegin calls the callbacks.
func (l List) OnTrainBegin(ctx context.Context, r *Run) error {
	return l.each(func(c Callback) error { return c.OnTrainBegin(ctx, r) })
}

// OnTrainEnd calls the callbacks.
func (l List) OnTrainEnd(ctx context.Context, r *Run, logs Logs) error {
	return l.each(func(c Callback) error { return c.OnTrainEnd(ctx, r, logs) })
}

// OnTrainAbort calls the callbacks that are an [Aborter].
func (l List) OnTrainAbort() {
	for _, c := range l {
		if a, ok := c.(Aborter); ok {
			a.OnTrainAbort()
		}
	}
}

// OnEpochBegin calls the callbacks.
func (l List) OnEpochBegin(ctx context.Context, r *Run, epoch int) error {
	return l.each(func(c Callback) error { return c.OnEpochBegin(ctx, r, epoch) })
}

// OnEpochEnd calls the callbacks.
func (l List) OnEpochEnd(ctx context.Context, r *Run, epoch int, logs Logs) error {
	return l.each(func(c Callback) error { return c.OnEpochEnd(ctx, r, epoch, logs) })
}

// OnTrainBatchBegin calls the callbacks.
func (l List) OnTrainBatchBegin(ctx context.Context, r *Run, batch int) error {
	return l.each(func(c Callback) error { return c.OnTrainBatchBegin(ctx, r, batch) })
}

// OnTrainBatchEnd calls the callbacks.
func (l List) OnTrainBatchEnd(ctx context.Context, r *Run, batch int, logs Logs) error {
	return l.each(func(c Callback) error { return c.OnTrainBatchEnd(ctx, r, batch, logs) })
}

// OnTestBegin calls the callbacks.
func (l List) OnTestBegin(ctx context.Context, r *Run) error {
	return l.each(func(c Callback) error { return c.OnTestBegin(ctx, r) })
}

// OnTestEnd calls the callbacks.
func (l List) OnTestEnd(ctx context.Context, r *Run, logs Logs) error {
	return l.each(func(c Callback) error { return c.OnTestEnd(ctx, r, logs) })
}

// OnTestBatchBegin calls the callbacks.
func (l List) OnTestBatchBegin(ctx context.Context, r *Run, batch int) error {
	return l.each(func(c Callback) error { return c.OnTestBatchBegin(ctx, r, batch) })
}

// OnTestBatchEnd calls the callbacks.
func (l List) OnTestBatchEnd(ctx context.Context, r *Run, batch int, logs Logs) error {
	return l.each(func(c Callback) error { return c.OnTestBatchEnd(ctx, r, batch, logs) })
}

// OnPredictBegin calls the callbacks.
func (l List) OnPredictBegin(ctx context.Context, r *Run) error {
	return l.each(func(c Callback) error { return c.OnPredictBegin(ctx, r) })
}

// OnPredictEnd calls the callbacks.
func (l List) OnPredictEnd(ctx context.Context, r *Run) error {
	return l.each(func(c Callback) error { return c.OnPredictEnd(ctx, r) })
}

// OnPredictBatchBegin calls the callbacks.
func (l List) OnPredictBatchBegin(ctx context.Context, r *Run, batch int) error {
	return l.each(func(c Callback) error { return c.OnPredictBatchBegin(ctx, r, batch) })
}

// OnPredictBatchEnd calls the callbacks.
func (l List) OnPredictBatchEnd(ctx context.Context, r *Run, batch int) error {
	return l.each(func(c Callback) error { return c.OnPredictBatchEnd(ctx, r, batch) })
}

var _ Callback = List{}
