package checkpoint

import (
	"context"
	"errors"
	"time"

	"github.com/cairnml/cairn/bundle"
)

// ManagerOptions says how a [Manager] names, keeps and writes checkpoints; nil
// means the defaults.
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
	// Step tells the training step. Default: unknown.
	Step func() int64
	// LastCheckpointStep is the step of the last save, from which Interval counts.
	// Default: the first Save saves.
	LastCheckpointStep *int64
	// Init is what RestoreOrInitialize runs when there is no checkpoint. Default:
	// nothing.
	Init func(ctx context.Context) error
	// Async writes in the background: Save returns when the state is captured.
	// Default: Save returns when the checkpoint is durable.
	Async bool
	// OnWrite is called in order with the path after each save, when the checkpoint
	// is durable and the latest. Default: nobody is told.
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
	// Dir is the directory itself, where it is no folder of the operating system.
	// Default: bundle.OSDir of the directory given.
	Dir bundle.Dir
	// NoLock leaves the directory unlocked, where the program makes sure by itself
	// that no other one saves there. Default: locked.
	NoLock bool
	// Clock tells the time for the state file. Default: time.Now.
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
	// Metrics are what policies such as BestN judge the checkpoint by. Default:
	// none.
	Metrics map[string]float64
}

// Manager writes the checkpoints of a training run to a directory and keeps some
// of them.
type Manager struct{}

// NewManager makes a Manager for directory.
func NewManager(ck *Checkpoint, directory string, opts *ManagerOptions) (*Manager, error) {
	return nil, errors.ErrUnsupported
}

// Save saves a checkpoint and is its path; "" where Interval hasn't passed.
func (m *Manager) Save(ctx context.Context) (path string, err error) { return m.SaveWith(ctx, nil) }

// SaveAs is Save with a number of the caller's.
func (m *Manager) SaveAs(ctx context.Context, number int64) (path string, err error) {
	return m.SaveWith(ctx, &SaveOptions{Number: &number})
}

// SaveWith is Save with options.
func (m *Manager) SaveWith(ctx context.Context, opts *SaveOptions) (path string, err error) {
	return "", errors.ErrUnsupported
}

// Directory is the directory as given.
func (m *Manager) Directory() string { return "" }

// Checkpoints are the managed checkpoints' paths, the oldest first.
func (m *Manager) Checkpoints() []string { return nil }

// Saved is what is known about the managed checkpoints, the oldest first.
func (m *Manager) Saved() []Saved { return nil }

// Latest is the path of the latest checkpoint, "" where there is none.
func (m *Manager) Latest() string { return "" }

// RestoreLatest restores the latest checkpoint.
func (m *Manager) RestoreLatest(ctx context.Context) (*Report, error) {
	return nil, errors.ErrUnsupported
}

// RestoreOrInitialize is RestoreLatest, and where there is no checkpoint runs
// ManagerOptions.Init; the report's Path is "" then.
func (m *Manager) RestoreOrInitialize(ctx context.Context) (*Report, error) {
	return nil, errors.ErrUnsupported
}

// Wait waits until no save runs in the background.
func (m *Manager) Wait(ctx context.Context) error { return errors.ErrUnsupported }

// Close waits for a save in the background and gives the directory back.
func (m *Manager) Close() error { return nil }
