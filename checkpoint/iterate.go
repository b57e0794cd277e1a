package checkpoint

import (
	"context"
	"errors"
	"iter"
	"time"
)

// WatchOptions are the options of [Watch]; nil means the defaults.
type WatchOptions struct {
	// MinInterval is the least time between two checkpoints that Watch yields. Default: none.
	MinInterval time.Duration
	// Timeout is how long to wait for the next checkpoint. Default: without end.
	Timeout time.Duration
	// Done is asked after every checkpoint and whenever Timeout has passed: true
	// ends the iteration, false waits on. (TensorFlow asks its timeout_fn after a timeout
	// only.) Default: the first timeout ends it.
	Done func() bool
	// Poll is the time between two looks at the state file. Default: a second.
	Poll time.Duration
	// State locates the state file. Default: as in [LatestCheckpoint].
	State *StateOptions
}

// Watch yields the prefix of the latest checkpoint in directory dir, then of
// each new latest one as it appears, as TensorFlow's checkpoints_iterator does.
// It is for an evaluation that runs in parallel with the training. It looks
// only when the loop asks for the next one, so a slow loop misses checkpoints
// in between.
//
// Watch waits for a directory that doesn't exist yet, or has no checkpoint yet.
// If ctx ends or a state file can't be read, it yields the error, and the
// iteration ends.
func Watch(ctx context.Context, dir string, opts *WatchOptions) iter.Seq2[string, error] {
	var o WatchOptions
	if opts != nil {
		o = *opts
	}
	if o.Poll <= 0 {
		o.Poll = time.Second
	}
	return func(yield func(string, error) bool) {
		last := ""
		for {
			path, err := waitForNew(ctx, dir, last, &o)
			if err != nil {
				yield("", err)
				return
			}
			if path != "" {
				start := time.Now()
				last = path
				if !yield(path, nil) {
					return
				}
				if err := sleep(ctx, o.MinInterval-time.Since(start)); err != nil {
					yield("", err)
					return
				}
			} else if o.Done == nil {
				return
			}
			if o.Done != nil && o.Done() {
				return
			}
		}
	}
}

// waitForNew returns the first latest checkpoint that isn't last, or "" at the
// timeout.
func waitForNew(ctx context.Context, dir, last string, o *WatchOptions) (string, error) {
	start := time.Now()
	for {
		if err := ctx.Err(); err != nil {
			return "", err
		}
		path, err := LatestCheckpoint(dir, o.State)
		switch {
		case err == nil && path != last:
			return path, nil
		case err != nil && !errors.Is(err, ErrNotFound):
			return "", err
		}
		wait := o.Poll
		if o.Timeout > 0 {
			left := o.Timeout - time.Since(start)
			if left <= 0 {
				return "", nil
			}
			wait = min(wait, left)
		}
		if err := sleep(ctx, wait); err != nil {
			return "", err
		}
	}
}

func sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}
