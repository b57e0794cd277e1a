package checkpoint

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"time"

	"github.com/cairnml/cairn/vfs"
)

// ManagerOptions control how a [Manager] names, keeps and writes checkpoints;
// nil means the defaults.
type ManagerOptions struct {
	// MaxToKeep is how many of the newest checkpoints are kept; older ones are
	// deleted after a save, unless KeepEvery or Policies keep them. Default 0: all
	// are kept, as with max_to_keep=None in TensorFlow.
	MaxToKeep int
	// KeepEvery keeps for ever a checkpoint that would be deleted, if it was
	// written at least so long after the last one kept for ever. Such a checkpoint
	// leaves the list of managed ones. Default: none is.
	KeepEvery time.Duration
	// Policies keep further checkpoints than the MaxToKeep newest. Default: none.
	Policies []Policy
	// CheckpointName begins the names of checkpoints: <CheckpointName>-<number>.
	// Default: "ckpt".
	CheckpointName string
	// Interval is the least number of steps between two saves; a Save before that
	// does nothing. It needs Step. Default 0: every Save saves.
	Interval int64
	// Step returns the training step. Default: unknown.
	Step func() int64
	// LastCheckpointStep is the step of the last save, from which Interval counts.
	// Default: the first Save saves.
	LastCheckpointStep *int64
	// Init is called by RestoreOrInitialize if there is no checkpoint. Default:
	// nothing is called.
	Init func(ctx context.Context) error
	// Async writes in the background: Save returns when it has taken a snapshot.
	// Default: Save returns when the checkpoint is durable.
	Async bool
	// OnWrite is called in order with the path after each save, when the checkpoint
	// is durable and the latest, and after the Checkpoint's own OnWrite. It may call
	// the Manager's Latest and Checkpoints, but must not save, restore, wait or
	// close. With the context it got, the first three return [ErrInsideCallback].
	// Default: nothing is called.
	OnWrite []func(ctx context.Context, path string) error
	// Shards splits the values over several data files. Default: the Checkpoint's.
	Shards ShardPolicy
	// Progress is called while a checkpoint is written, with bytes done and bytes
	// in all. Default: the Checkpoint's.
	Progress func(done, total int64)
	// Restore is how RestoreLatest and RestoreOrInitialize restore. Default: nil.
	Restore *RestoreOptions
	// Fallback is asked when the latest checkpoint is damaged and an older one
	// holds; true restores that one. Default: the damage is an error.
	Fallback func(*DamagedError) bool
	// Dir is the directory, if it isn't a directory of the operating system. It is
	// locked against other managers of this process only. Default: vfs.OSDir of the
	// directory passed to NewManager.
	Dir vfs.Dir
	// NoLock leaves the directory unlocked. The program must then ensure that no
	// other one saves there. Default: locked.
	NoLock bool
	// Clock returns the time for the state file. Default: time.Now.
	Clock func() time.Time
}

// SaveOptions changes one save; nil means the defaults.
type SaveOptions struct {
	// Number numbers the checkpoint. Default: save_counter, which counts up
	// either way.
	Number *int64
	// Force saves before Interval has passed, unless the last save was at this
	// very step. Default false.
	Force bool
	// Replace lets the save replace a checkpoint of that number that the manager
	// doesn't manage. It also lets a run start anew that couldn't restore its damaged
	// latest checkpoint. Default: such saves are refused, with a [RefusedError].
	Replace bool
	// Metrics are the values by which policies such as BestN rank the checkpoint.
	// They are stored in the file checkpoint.cairn.json in the state file's directory,
	// because TensorFlow refuses a state file with unknown fields. Without metrics,
	// and without policies that need steps, there is no such file. Default: none.
	Metrics map[string]float64
}

// check rejects invalid options.
func (o *ManagerOptions) check() error {
	switch {
	case o.MaxToKeep < 0:
		return fmt.Errorf("checkpoint: MaxToKeep is %d, want a number of checkpoints, or 0 to keep all", o.MaxToKeep)
	case o.KeepEvery < 0:
		return fmt.Errorf("checkpoint: KeepEvery is %v, want a time between checkpoints, or 0 for none", o.KeepEvery)
	case o.Interval < 0:
		return fmt.Errorf("checkpoint: Interval is %d, want a number of steps, or 0 for none", o.Interval)
	case o.Interval > 0 && o.Step == nil:
		return errors.New("checkpoint: Interval counts steps, so Step must be set")
	case o.MaxToKeep == 0 && len(o.Policies) > 0:
		return errors.New("checkpoint: MaxToKeep 0 keeps all checkpoints, so Policies have nothing to decide; set MaxToKeep to the number of newest ones")
	case !fs.ValidPath(o.CheckpointName) || o.CheckpointName == ".":
		return fmt.Errorf("checkpoint: CheckpointName is %q, want a slash-separated path below the directory", o.CheckpointName)
	}
	for _, p := range o.Policies {
		if p == nil {
			return errors.New("checkpoint: a policy is nil")
		}
		if c, ok := p.(interface{ check() error }); ok {
			if err := c.check(); err != nil {
				return fmt.Errorf("checkpoint: %w", err)
			}
		}
	}
	return nil
}

// Manager writes the checkpoints of a training run to a directory, keeps some of
// them, and finds the one to resume from. It is TensorFlow's
// tf.train.CheckpointManager: each can continue the other's directory.
//
// If a save is interrupted at any moment, by an error, a kill or a power failure,
// the previous latest checkpoint stays the latest: data, index and names are
// durable before the state file names them, and old checkpoints are deleted only
// after that. The next save removes the files of an interrupted one. A save whose
// files can't be opened again is an error, and deletes nothing.
//
// A Manager may be used from several goroutines; its saves and restores run one
// after another. A lock ensures that only one Manager uses a directory at a time;
// other programs may read the checkpoints meanwhile (see [Watch]).
type Manager struct {
	ck        *Checkpoint
	opts      ManagerOptions
	keep      retention
	directory string
	dir       vfs.Dir
	lock      *lock // nil: none

	busy chan struct{} // holds one token while a save or restore is at work

	// The fields below belong to the holder of busy.
	clean    bool              // no leftovers are in the directory
	disk     []record          // the possible contents of the state file; one if known
	marked   map[string]string // by checkpoint that may have a marker: the marker's name with an identity, or ""
	damaged  *DamagedError     // the error of the last restore
	restores uint64            // how many restores of ck had gone through by then

	mu       sync.Mutex // guards the fields below
	closed   bool
	list     []entry // the managed checkpoints, the oldest first
	latest   entry   // path "" for none
	last     float64 // when the last checkpoint kept for ever was written, in seconds since 1970
	lastStep *int64  // the step of the last save or restore; nil if unknown
	side     bool    // the side file exists
	failure  error   // of a save in the background, not returned by any call yet
}

// NewManager returns a Manager for directory, which need not exist yet. It reads
// the state of an earlier Manager there, ours or TensorFlow's, from the state file.
// Checkpoints that are there but not managed, such as those of [Checkpoint.Save],
// are never deleted, and replaced only if SaveOptions.Replace is set.
//
// If another Manager uses the directory, the error is a [LockedError]. If the state
// file can't be read, it is a [StateError], because starting anew would overwrite
// the existing checkpoints.
func NewManager(ck *Checkpoint, directory string, opts *ManagerOptions) (*Manager, error) {
	if ck == nil {
		return nil, errors.New("checkpoint: a manager needs a Checkpoint")
	}
	if directory == "" {
		return nil, errors.New(`checkpoint: a manager needs a directory ("." for the working directory)`)
	}
	m := &Manager{ck: ck, directory: directory, busy: make(chan struct{}, 1), marked: make(map[string]string)}
	if opts != nil {
		m.opts = *opts
	}
	if m.opts.CheckpointName == "" {
		m.opts.CheckpointName = "ckpt"
	}
	if m.opts.Clock == nil {
		m.opts.Clock = time.Now
	}
	if err := m.opts.check(); err != nil {
		return nil, err
	}
	if s := m.opts.LastCheckpointStep; s != nil {
		step := *s
		m.lastStep = &step
	}
	m.keep = retention{max: m.opts.MaxToKeep, every: m.opts.KeepEvery, policies: m.opts.Policies}
	m.dir = m.opts.Dir
	if m.dir == nil {
		m.dir = vfs.OSDir(directory)
	}
	if !m.opts.NoLock {
		var err error
		if m.opts.Dir == nil {
			m.lock, err = lockDirectory(directory)
		} else {
			m.lock, err = lockValue(m.opts.Dir, directory)
		}
		if err != nil {
			return nil, err
		}
	}
	if err := m.recover(); err != nil {
		return nil, errors.Join(err, m.lock.release())
	}
	return m, nil
}

// stillLocked checks that the directory is still the locked one. If it was
// deleted and created again, stillLocked locks it again and reads the state from
// its present contents.
func (m *Manager) stillLocked() error {
	again, err := m.lock.renew()
	if err != nil || !again {
		return err
	}
	m.clean = false
	return m.recover()
}

// Directory returns the directory as it was given.
func (m *Manager) Directory() string { return m.directory }

// Checkpoints returns the managed checkpoints' prefixes, the oldest first. Those
// kept for ever by KeepEvery are not among them.
func (m *Manager) Checkpoints() []string {
	list := m.managed()
	out := make([]string, len(list))
	for i, e := range list {
		out[i] = e.path
	}
	return out
}

// Saved returns the records of the managed checkpoints, the oldest first.
func (m *Manager) Saved() []Saved {
	return savedList(m.managed())
}

// Latest returns the prefix of the latest checkpoint, or "" if there is none. A
// save in the background counts once it is durable.
func (m *Manager) Latest() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.latest.path
}

// Wait waits until no save runs in the background, and returns the error of one
// that failed, unless a call has returned it already.
func (m *Manager) Wait(ctx context.Context) error {
	if err := m.acquire(ctx); err != nil {
		return err
	}
	defer m.release()
	return m.takeFailure()
}

// Close waits for a save in the background, unlocks the directory for other managers,
// and returns the error of a background save that no call has returned. Further calls
// do nothing.
func (m *Manager) Close() error {
	m.mu.Lock()
	was := m.closed
	m.closed = true
	m.mu.Unlock()
	if was {
		return nil
	}
	m.busy <- struct{}{}
	defer m.release()
	return errors.Join(m.takeFailure(), m.lock.release())
}

// acquire waits until no other save or restore of m is at work; release ends the caller's own.
func (m *Manager) acquire(ctx context.Context) error {
	if err := cmp.Or(ctx.Err(), notInCallback(ctx, m)); err != nil {
		return err
	}
	select {
	case m.busy <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (m *Manager) release() { <-m.busy }

// takeFailure returns the error of a background save, once.
func (m *Manager) takeFailure() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	err := m.failure
	m.failure = nil
	return err
}

func (m *Manager) isClosed() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.closed
}
