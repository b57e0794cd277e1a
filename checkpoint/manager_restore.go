package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/cairnml/cairn/bundle"
)

// RestoreLatest restores the latest checkpoint, after a save in the background
// has ended. If there is none the error is [ErrNotFound], and the run starts
// from scratch.
//
// If files of the latest checkpoint are missing or damaged, the error is a
// [DamagedError] that names the newest older intact checkpoint. Objects may
// then have some of the damaged one's values. With ManagerOptions.Fallback the
// older one is restored instead; the report's Path is that of the restored
// checkpoint.
//
// Interval counts from the restored step.
func (m *Manager) RestoreLatest(ctx context.Context) (*Report, error) {
	if m.isClosed() {
		return nil, ErrClosed
	}
	if err := m.acquire(ctx); err != nil {
		return nil, err
	}
	defer m.release()
	m.mu.Lock()
	latest := m.latest
	m.mu.Unlock()
	if latest.path == "" {
		found := "no state file"
		if others := m.others(nil); len(others) > 0 {
			found = fmt.Sprintf("no state file, although %s is there (UpdateCheckpointState can name it as the latest)", others[0].path)
		}
		return nil, &bundle.PathError{Path: m.directory, Found: found}
	}
	report, err := m.restore(ctx, latest)
	if err != nil && isDamage(err) && ctx.Err() == nil {
		damaged := &DamagedError{Path: latest.path, Err: err}
		m.damaged, m.restores = damaged, m.ck.restoresDone()
		previous, ok := m.previous(ctx, latest)
		if !ok {
			return nil, damaged
		}
		damaged.Previous = previous.path
		if m.opts.Fallback == nil || !m.opts.Fallback(damaged) {
			return nil, damaged
		}
		if report, err = m.restore(ctx, previous); err != nil && isDamage(err) {
			return nil, &DamagedError{Path: previous.path, Err: err}
		}
	}
	if err != nil {
		return report, err
	}
	if m.opts.Step != nil {
		step := m.opts.Step()
		m.setLastStep(&step)
	}
	return report, nil
}

// RestoreOrInitialize restores the latest checkpoint as RestoreLatest does. If
// there is none it calls ManagerOptions.Init instead, and the report's Path is
// "".
func (m *Manager) RestoreOrInitialize(ctx context.Context) (*Report, error) {
	report, err := m.RestoreLatest(ctx)
	var damaged *DamagedError
	if !errors.Is(err, ErrNotFound) || errors.As(err, &damaged) {
		return report, err
	}
	if m.opts.Init != nil {
		if err := m.opts.Init(ctx); err != nil {
			return nil, fmt.Errorf("checkpoint: initializing: %w", err)
		}
	}
	return &Report{}, nil
}

// afterDamage refuses a save after a restore that found the latest checkpoint
// damaged, until another restore has gone through.
func (m *Manager) afterDamage(replace bool) error {
	if m.damaged != nil && (replace || m.ck.restoresDone() != m.restores) {
		m.damaged = nil
	}
	if m.damaged == nil {
		return nil
	}
	return &RefusedError{Path: m.damaged.Path, Damaged: m.damaged}
}

func (m *Manager) restore(ctx context.Context, e entry) (*Report, error) {
	if e.name == "" || m.opts.Dir == nil {
		return m.ck.Restore(ctx, e.path, m.opts.Restore)
	}
	report, err := m.ck.RestoreFS(ctx, m.dir, e.name, m.opts.Restore)
	if report != nil {
		report.Path = e.path
	}
	return report, err
}

// previous returns the newest checkpoint older than latest whose every byte
// holds: first of those managed, then of those kept for ever.
func (m *Manager) previous(ctx context.Context, latest entry) (entry, bool) {
	list := m.managed()
	var candidates []entry
	for i := len(list) - 1; i >= 0; i-- {
		candidates = append(candidates, list[i])
	}
	for _, e := range append(candidates, m.others(list)...) {
		if e.path != latest.path && m.verify(ctx, e) == nil {
			return e, true
		}
	}
	return entry{}, false
}

func (m *Manager) verify(ctx context.Context, e entry) error {
	r, err := m.openEntry(ctx, e)
	if err != nil {
		return err
	}
	return errors.Join(r.Verify(ctx, nil), r.Close())
}

// isDamage reports whether a restore failed because of the files, not because
// they don't fit the program's objects.
func isDamage(err error) bool {
	var misfit *RestoreError
	if errors.As(err, &misfit) {
		return false
	}
	return errors.Is(err, bundle.ErrCorrupt) || errors.Is(err, fs.ErrNotExist) ||
		errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF)
}
