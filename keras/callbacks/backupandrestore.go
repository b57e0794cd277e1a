package callbacks

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/cairnml/cairn/checkpoint"
	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/trackable"
)

// BackupAndRestore saves the state of a training, and lets a training that was cut off go
// on at the last save: the next Fit with the same model, data and options takes over its
// weights and optimizer, and begins with the next step. It skips the examples that the
// earlier training has seen.
//
// The run then ends with the bits of one that was not cut off, if examples come in the same
// order again, and layers draw no random numbers or draw them from an ops.Random that is
// part of the model. The logs of the epoch in which the training was cut off are those of
// its rest.
//
// The files are those of tf_keras. A training that ends without an error deletes them.
type BackupAndRestore struct {
	Base
	// BackupDir is the directory for the files; they are in "chief" below it. No other training may
	// use it.
	BackupDir string
	// SaveFreq is the number of batches from one save to the next. Default: a save at the
	// end of each epoch.
	SaveFreq int
	// KeepCheckpoint keeps the files after the training. Default: they are deleted.
	KeepCheckpoint bool

	state   *trainingState
	manager *checkpoint.Manager
	count   int // batches since the last save
}

// trainingState is the root of a backup: the place in the training, and the model with its optimizer.
// The names of the fields are the edges of tf_keras's WorkerTrainingState, and must stay. Batches and
// epochs are counted from 0; -1 is before the first one.
type trainingState struct {
	CkptSavedBatch *trackable.Scalar[int64]
	CkptSavedEpoch *trackable.Scalar[int64]
	Model          *compiledModel
	TrainCounter   *trackable.Scalar[int64]
}

// compiledModel is a model with its optimizer as a child, as tf_keras's compiled models are.
type compiledModel struct {
	model     trackable.Trackable
	optimizer trackable.Trackable
}

// TrackableChildren lists the model's children and the optimizer.
func (m *compiledModel) TrackableChildren() []trackable.Edge {
	edges, _ := trackable.Children(m.model)
	edges = edges[:len(edges):len(edges)]
	if m.optimizer != nil {
		edges = append(edges, trackable.Edge{Name: "optimizer", Child: m.optimizer})
	}
	return edges
}

// ScopeName returns the model's.
func (m *compiledModel) ScopeName() string {
	if s, ok := m.model.(trackable.Scoped); ok && s.ScopeName() != "" {
		return s.ScopeName()
	}
	return base.AutomaticName(m.model)
}

func (b *BackupAndRestore) fail(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("callbacks: BackupAndRestore: %w", err)
}

func (b *BackupAndRestore) directory() string { return filepath.Join(b.BackupDir, "chief") }

// OnTrainBegin restores the last save, if there is one.
func (b *BackupAndRestore) OnTrainBegin(ctx context.Context, r *Run) error {
	if b.BackupDir == "" || b.SaveFreq < 0 {
		return b.fail(fmt.Errorf("BackupDir is %q and SaveFreq is %d, want a directory and 0 or more", b.BackupDir, b.SaveFreq))
	}
	if _, err := trackable.Children(r.Model); err != nil {
		return b.fail(err)
	}
	named := func(name string, value int64) *trackable.Scalar[int64] {
		v := trackable.NewScalar(value)
		v.Named(name).SetTrainable(false)
		return v
	}
	model := &compiledModel{model: r.Model}
	if r.Optimizer != nil {
		model.optimizer = r.Optimizer
	}
	b.state = &trainingState{named("ckpt_saved_batch", -1), named("ckpt_saved_epoch", -1), model, r.TrainCounter}
	if b.state.TrainCounter == nil {
		b.state.TrainCounter = named("Variable", 0)
	}
	saved, err := checkpoint.New(b.state, nil)
	if err != nil {
		return b.fail(err)
	}
	if b.manager, err = checkpoint.NewManager(saved, b.directory(), &checkpoint.ManagerOptions{MaxToKeep: 1}); err != nil {
		return b.fail(err)
	}
	if _, err = b.manager.RestoreOrInitialize(ctx); err != nil {
		b.OnTrainAbort()
		return b.fail(err)
	}
	b.count = 0
	epoch, batch := int(b.state.CkptSavedEpoch.Get()), int(b.state.CkptSavedBatch.Get())
	switch {
	case epoch < 0:
	case b.SaveFreq > 0 && batch >= 0 && batch+1 != r.Params.Steps:
		r.InitialEpoch, r.InitialStep = epoch, batch+1
		b.count = (epoch*max(r.Params.Steps, 0) + batch + 1) % b.SaveFreq
	default:
		r.InitialEpoch, r.InitialStep = epoch+1, 0
	}
	return nil
}

// OnEpochBegin notes the epoch.
func (b *BackupAndRestore) OnEpochBegin(_ context.Context, _ *Run, epoch int) error {
	b.state.CkptSavedEpoch.Set(int64(epoch))
	return nil
}

// OnTrainBatchEnd saves if SaveFreq batches have passed.
func (b *BackupAndRestore) OnTrainBatchEnd(ctx context.Context, _ *Run, batch int, _ Logs) error {
	if b.SaveFreq == 0 {
		return nil
	}
	b.state.CkptSavedBatch.Set(int64(batch))
	if b.count++; b.count < b.SaveFreq {
		return nil
	}
	b.count = 0
	return b.save(ctx)
}

// OnEpochEnd saves, unless SaveFreq is set.
func (b *BackupAndRestore) OnEpochEnd(ctx context.Context, _ *Run, _ int, _ Logs) error {
	if b.SaveFreq > 0 {
		return nil
	}
	return b.save(ctx)
}

func (b *BackupAndRestore) save(ctx context.Context) error {
	_, err := b.manager.Save(ctx)
	return b.fail(err)
}

// OnTrainEnd deletes the files.
func (b *BackupAndRestore) OnTrainEnd(context.Context, *Run, Logs) error {
	if b.manager == nil {
		return nil
	}
	err := b.manager.Close()
	b.manager = nil
	if !b.KeepCheckpoint {
		err = errors.Join(err, os.RemoveAll(b.directory()))
	}
	return b.fail(err)
}

// OnTrainAbort releases the directory and keeps the files.
func (b *BackupAndRestore) OnTrainAbort() {
	if b.manager != nil {
		_ = b.manager.Close()
		b.manager = nil
	}
}

var _ Aborter = (*BackupAndRestore)(nil)
