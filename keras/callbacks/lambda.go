package callbacks

import "context"

// LambdaCallback calls functions at events. Fields that are nil do nothing.
type LambdaCallback struct {
	TrainBegin        func(ctx context.Context, r *Run) error
	TrainEnd          func(ctx context.Context, r *Run, logs Logs) error
	EpochBegin        func(ctx context.Context, r *Run, epoch int) error
	EpochEnd          func(ctx context.Context, r *Run, epoch int, logs Logs) error
	TrainBatchBegin   func(ctx context.Context, r *Run, batch int) error
	TrainBatchEnd     func(ctx context.Context, r *Run, batch int, logs Logs) error
	TestBegin         func(ctx context.Context, r *Run) error
	TestEnd           func(ctx context.Context, r *Run, logs Logs) error
	TestBatchBegin    func(ctx context.Context, r *Run, batch int) error
	TestBatchEnd      func(ctx context.Context, r *Run, batch int, logs Logs) error
	PredictBegin      func(ctx context.Context, r *Run) error
	PredictEnd        func(ctx context.Context, r *Run) error
	PredictBatchBegin func(ctx context.Context, r *Run, batch int) error
	PredictBatchEnd   func(ctx context.Context, r *Run, batch int) error
}

// begin, end, beginAt and endAt call a field of their kind, if it isn't nil.
func begin(f func(context.Context, *Run) error, ctx context.Context, r *Run) error {
	if f == nil {
		return nil
	}
	return f(ctx, r)
}

func end(f func(context.Context, *Run, Logs) error, ctx context.Context, r *Run, logs Logs) error {
	if f == nil {
		return nil
	}
	return f(ctx, r, logs)
}

func beginAt(f func(context.Context, *Run, int) error, ctx context.Context, r *Run, n int) error {
	if f == nil {
		return nil
	}
	return f(ctx, r, n)
}

func endAt(f func(context.Context, *Run, int, Logs) error, ctx context.Context, r *Run, n int, logs Logs) error {
	if f == nil {
		return nil
	}
	return f(ctx, r, n, logs)
}

// OnTrainBegin calls TrainBegin.
func (l *LambdaCallback) OnTrainBegin(ctx context.Context, r *Run) error {
	return begin(l.TrainBegin, ctx, r)
}

// OnTrainEnd calls TrainEnd.
func (l *LambdaCallback) OnTrainEnd(ctx context.Context, r *Run, logs Logs) error {
	return end(l.TrainEnd, ctx, r, logs)
}

// OnEpochBegin calls EpochBegin.
func (l *LambdaCallback) OnEpochBegin(ctx context.Context, r *Run, epoch int) error {
	return beginAt(l.EpochBegin, ctx, r, epoch)
}

// OnEpochEnd calls EpochEnd.
func (l *LambdaCallback) OnEpochEnd(ctx context.Context, r *Run, epoch int, logs Logs) error {
	return endAt(l.EpochEnd, ctx, r, epoch, logs)
}

// OnTrainBatchBegin calls TrainBatchBegin.
func (l *LambdaCallback) OnTrainBatchBegin(ctx context.Context, r *Run, batch int) error {
	return beginAt(l.TrainBatchBegin, ctx, r, batch)
}

// OnTrainBatchEnd calls TrainBatchEnd.
func (l *LambdaCallback) OnTrainBatchEnd(ctx context.Context, r *Run, batch int, logs Logs) error {
	return endAt(l.TrainBatchEnd, ctx, r, batch, logs)
}

// OnTestBegin calls TestBegin.
func (l *LambdaCallback) OnTestBegin(ctx context.Context, r *Run) error {
	return begin(l.TestBegin, ctx, r)
}

// OnTestEnd calls TestEnd.
func (l *LambdaCallback) OnTestEnd(ctx context.Context, r *Run, logs Logs) error {
	return end(l.TestEnd, ctx, r, logs)
}

// OnTestBatchBegin calls TestBatchBegin.
func (l *LambdaCallback) OnTestBatchBegin(ctx context.Context, r *Run, batch int) error {
	return beginAt(l.TestBatchBegin, ctx, r, batch)
}

// OnTestBatchEnd calls TestBatchEnd.
func (l *LambdaCallback) OnTestBatchEnd(ctx context.Context, r *Run, batch int, logs Logs) error {
	return endAt(l.TestBatchEnd, ctx, r, batch, logs)
}

// OnPredictBegin calls PredictBegin.
func (l *LambdaCallback) OnPredictBegin(ctx context.Context, r *Run) error {
	return begin(l.PredictBegin, ctx, r)
}

// OnPredictEnd calls PredictEnd.
func (l *LambdaCallback) OnPredictEnd(ctx context.Context, r *Run) error {
	return begin(l.PredictEnd, ctx, r)
}

// OnPredictBatchBegin calls PredictBatchBegin.
func (l *LambdaCallback) OnPredictBatchBegin(ctx context.Context, r *Run, batch int) error {
	return beginAt(l.PredictBatchBegin, ctx, r, batch)
}

// OnPredictBatchEnd calls PredictBatchEnd.
func (l *LambdaCallback) OnPredictBatchEnd(ctx context.Context, r *Run, batch int) error {
	return beginAt(l.PredictBatchEnd, ctx, r, batch)
}

var _ Callback = (*LambdaCallback)(nil)
