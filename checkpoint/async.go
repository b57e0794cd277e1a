package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/cairnml/cairn/vfs"
)

// saveAsync takes a snapshot and commits it in the background. The manager is
// busy until the commit has ended. Cancelling ctx stops the snapshot, but not the
// commit. step is the training step, nil if unknown; counted is save_counter's value
// for this save, released if the commit fails. If saveAsync returns an error, the
// caller releases it.
func (m *Manager) saveAsync(ctx context.Context, e entry, step *int64, counted int64) error {
	sn, err := m.ck.snapshot(ctx)
	if err != nil {
		return err
	}
	m.mu.Lock()
	before := m.lastStep
	m.mu.Unlock()
	m.setLastStep(step)
	ctx = context.WithoutCancel(ctx)
	go func() {
		defer m.release()
		saved, err := m.commitAsync(ctx, e, sn)
		if !saved {
			m.mu.Lock()
			m.lastStep = before // Interval counts from the last saved step
			m.mu.Unlock()
			m.ck.releaseNumber(counted)
		} else {
			err = errors.Join(err, m.callOnWriteAsync(ctx, e.path))
		}
		if err != nil {
			var failed *SaveError
			if errors.As(err, &failed) {
				failed.Async = true
			}
			m.mu.Lock()
			m.failure = err // takeFailure returns it once
			m.mu.Unlock()
		}
	}()
	return nil
}

// commitAsync calls commit in the goroutine of saveAsync. It recovers panics, which
// would otherwise end the program.
func (m *Manager) commitAsync(ctx context.Context, e entry, sn *snapshot) (saved bool, err error) {
	defer func() {
		if p := recover(); p != nil {
			saved, err = false, m.saveError(e, fmt.Errorf("panic: %v\n%s", p, debug.Stack()))
		}
	}()
	defer sn.release() // needed if the commit fails before sn.write, which releases the snapshot itself
	return m.commit(ctx, e, func(dir vfs.Dir, prefix string) error {
		evict(dir, prefix) // cached data of a checkpoint that is about to be replaced, as in writeNow
		return sn.write(ctx, dir, prefix, m.writeOptions())
	})
}

func (m *Manager) callOnWriteAsync(ctx context.Context, path string) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("checkpoint: %s is saved, but an OnWrite callback panicked: %v\n%s", path, p, debug.Stack())
		}
	}()
	return m.callOnWrite(ctx, path)
}
