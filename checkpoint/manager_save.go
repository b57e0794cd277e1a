package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/cairnml/cairn/vfs"
)

// Save increments save_counter, saves a checkpoint under its number, and deletes
// the checkpoints beyond MaxToKeep. It returns the new checkpoint's prefix. If
// Interval has not passed, it saves nothing and returns "" without an error.
//
// An error with an empty path means that nothing was saved: the latest checkpoint
// is the previous one; errors.Is finds [ErrNoSpace] if the disk is full. An error
// with a path means that the checkpoint is saved and the latest, and that a later
// step failed: deleting old ones, or an OnWrite callback.
//
// A save that could destroy checkpoints unintentionally is refused with a
// [RefusedError]: over a checkpoint of that number that isn't managed, and after a
// [DamagedError] until a checkpoint has been restored.
//
// With Async, Save returns as soon as it has taken a snapshot; it waits for the
// previous save first. A later failure is returned by the next Save (which then
// saves nothing: call it again), by Wait or by Close.
func (m *Manager) Save(ctx context.Context) (path string, err error) { return m.SaveWith(ctx, nil) }

// SaveAs works like Save, with the caller's number in the name. It replaces a
// managed checkpoint of that number. It increments save_counter in either case.
func (m *Manager) SaveAs(ctx context.Context, number int64) (path string, err error) {
	return m.SaveWith(ctx, &SaveOptions{Number: &number})
}

// SaveWith works like Save, with options.
func (m *Manager) SaveWith(ctx context.Context, opts *SaveOptions) (path string, err error) {
	var o SaveOptions
	if opts != nil {
		o = *opts
	}
	if m.isClosed() {
		return "", ErrClosed
	}
	if err := m.acquire(ctx); err != nil {
		return "", err
	}
	background := false
	defer func() {
		if !background {
			m.release()
		}
	}()
	if m.isClosed() {
		return "", ErrClosed
	}
	if err := m.takeFailure(); err != nil {
		return "", err
	}

	step, skip := m.dueStep(o.Force)
	if skip {
		return "", nil
	}
	if err := m.afterDamage(o.Replace); err != nil {
		return "", err
	}
	counted := m.ck.countingOn(ctx).Add(1)
	number := counted
	if o.Number != nil {
		number = *o.Number
	}
	e := entry{name: m.opts.CheckpointName + "-" + strconv.FormatInt(number, 10), step: number, metrics: maps.Clone(o.Metrics)}
	if step != nil {
		e.step = *step
	}
	e.path = joinPath(m.directory, filepath.FromSlash(e.name))
	if err := m.ready(e, o.Replace); err != nil {
		m.ck.releaseNumber(counted)
		return "", err
	}

	if m.opts.Async {
		background = true
		if err := m.saveAsync(ctx, e, step, counted); err != nil {
			background = false
			m.ck.releaseNumber(counted)
			return "", err
		}
		return e.path, nil
	}
	saved, err := m.commit(ctx, e, func(dir vfs.Dir, prefix string) error {
		return m.ck.writeNow(ctx, dir, prefix, m.writeOptions())
	})
	if !saved {
		m.ck.releaseNumber(counted)
		return "", err
	}
	m.setLastStep(step)
	return e.path, errors.Join(err, m.callOnWrite(ctx, e.path))
}

func (m *Manager) writeOptions() *writeOptions {
	return &writeOptions{Shards: m.opts.Shards, Progress: m.opts.Progress}
}

// dueStep returns the current step, if known, and whether to skip the save
// because Interval hasn't passed.
func (m *Manager) dueStep(force bool) (step *int64, skip bool) {
	if m.opts.Step == nil {
		return nil, false
	}
	now := m.opts.Step()
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.opts.Interval > 0 && m.lastStep != nil {
		if now == *m.lastStep || !force && now < *m.lastStep+m.opts.Interval {
			return nil, true
		}
	}
	return &now, false
}

func (m *Manager) setLastStep(step *int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if step != nil {
		m.lastStep = step
	}
}

func (m *Manager) callOnWrite(ctx context.Context, path string) error {
	ctx = inCallback(ctx, m)
	for _, f := range slices.Concat(m.ck.o.OnWrite, m.opts.OnWrite) {
		if err := f(ctx, path); err != nil {
			return fmt.Errorf("checkpoint: %s is saved, but an OnWrite callback failed: %w", path, err)
		}
	}
	return nil
}
