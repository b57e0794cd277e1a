package callbacks

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/cairnml/cairn/keras/optimizers"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
	"github.com/cairnml/cairn/vfs"
)

// TensorBoard writes the course of a training as event files, which TensorBoard shows: the
// logs of epochs and evaluations, histograms and images of the weights, the model, the graph
// of a training step and a profile of some. The tags are those of tf_keras. The files are in
// the directories train, validation and plugins.
type TensorBoard struct {
	Base
	// LogDir is the directory for the files; in Dir it is slash-separated. Default: "logs".
	LogDir string
	// HistogramFreq is the number of epochs from one histogram of the weights to the next.
	// Default: no histograms.
	HistogramFreq int
	// NoGraph leaves out the model and the graph of the training step. Default: false.
	NoGraph bool
	// WriteImages writes the weights as images with each histogram. Default: false.
	WriteImages bool
	// ProfileBatch are the first and the last batch, counted from 1, whose ops are profiled.
	// Default: no profile.
	ProfileBatch [2]int
	// EmbeddingsFreq is the number of epochs from one checkpoint for TensorBoard's projector
	// to the next. Default: none.
	EmbeddingsFreq int
	// EmbeddingsMetadata are the paths of files with labels for the projector, by the names of
	// Embedding layers; "" means all others. Default: none.
	EmbeddingsMetadata map[string]string
	// WriteStepsPerSecond writes the number of steps in a second. Default: false.
	WriteStepsPerSecond bool
	// UpdateFreq is the number of batches from which the logs of one are written, as batch_
	// and their names. Default: logs of batches are not written.
	UpdateFreq int
	// Dir is the directory that LogDir is relative to. Default: LogDir is a path of the operating
	// system.
	Dir vfs.Dir

	train, validation *eventFile
	graphed           bool
	epochBegan        time.Time
	stepsBefore       int64
	batches           int64
	batchBegan        time.Time
	profiled          *profile
	now               func() time.Time // time.Now, except in tests
}

func (b *TensorBoard) fail(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("callbacks: TensorBoard: %w", err)
}

// file returns the event file of a directory, made at the first call.
func (b *TensorBoard) file(at **eventFile, folder string) (*eventFile, error) {
	if *at != nil {
		return *at, nil
	}
	if b.now == nil {
		b.now = time.Now
	}
	dir, log := b.directory()
	f, err := newEventFile(dir, log+"/"+folder, b.now)
	if err != nil {
		return nil, err
	}
	*at = f
	return f, nil
}

// directory returns the file system of LogDir, and the path of LogDir in it.
func (b *TensorBoard) directory() (vfs.Dir, string) {
	log := cmp.Or(b.LogDir, "logs")
	if b.Dir == nil {
		return vfs.OSDir(filepath.Dir(log)), filepath.Base(log)
	}
	return b.Dir, log
}

// OnTrainBegin checks the settings and writes the graph of the model.
func (b *TensorBoard) OnTrainBegin(_ context.Context, r *Run) error {
	if b.HistogramFreq < 0 || b.UpdateFreq < 0 || b.EmbeddingsFreq < 0 {
		return b.fail(fmt.Errorf("HistogramFreq is %d, UpdateFreq is %d and EmbeddingsFreq is %d, want 0 or more", b.HistogramFreq, b.UpdateFreq, b.EmbeddingsFreq))
	}
	if p := b.ProfileBatch; p[0] < 0 || p[1] < p[0] {
		return b.fail(fmt.Errorf("ProfileBatch is %d, want two numbers of 0 or more, the first not above the second", p))
	}
	b.graphed, b.batches = b.NoGraph, 0
	_, err := b.file(&b.train, "train")
	if err == nil && !b.NoGraph {
		err = b.train.model(r)
	}
	if err == nil && b.EmbeddingsFreq > 0 {
		dir, log := b.directory()
		err = b.embeddings(r, dir, log)
	}
	return b.fail(err)
}

// OnEpochBegin notes the time.
func (b *TensorBoard) OnEpochBegin(_ context.Context, r *Run, _ int) (err error) {
	b.epochBegan = b.now()
	b.stepsBefore, err = b.iterations(r)
	return b.fail(err)
}

// OnTrainBatchBegin notes the time, and begins a profile if it is time.
func (b *TensorBoard) OnTrainBatchBegin(_ context.Context, r *Run, _ int) error {
	b.batchBegan = b.now()
	if p := b.ProfileBatch; p[0] > 0 && b.batches+1 == int64(p[0]) {
		b.profiled = newProfile()
		r.Tracer = b.profiled
	}
	if b.profiled != nil {
		b.profiled.stepBegan = time.Now()
	}
	return nil
}

// endProfile writes the profile.
func (b *TensorBoard) endProfile(r *Run) error {
	r.Tracer = nil
	p := b.profiled
	b.profiled = nil
	dir, log := b.directory()
	err := b.train.tensorOf(int64(b.ProfileBatch[1]), fmt.Sprintf("batch_%d", b.ProfileBatch[1]), "graph_run_metadata_graph", []byte("1"), tensorData, tensor.Scalar(""))
	if err != nil {
		return err
	}
	return p.write(dir, log, b.now())
}

// OnTrainBatchEnd writes the graph after the first batch, and the logs of some batches.
func (b *TensorBoard) OnTrainBatchEnd(ctx context.Context, r *Run, _ int, logs Logs) error {
	if !b.graphed {
		b.graphed = true
		if r.TrainGraph != nil {
			def, err := r.TrainGraph(ctx)
			if err == nil && def != nil {
				err = b.train.graph(def)
			}
			if err != nil {
				return b.fail(err)
			}
		}
	}
	b.batches++
	if b.profiled != nil {
		b.profiled.step(b.batches)
		if b.batches >= int64(b.ProfileBatch[1]) {
			if err := b.endProfile(r); err != nil {
				return b.fail(err)
			}
		}
	}
	if b.UpdateFreq == 0 || b.batches%int64(b.UpdateFreq) != 0 {
		return nil
	}
	if b.WriteStepsPerSecond {
		if err := b.train.scalar(b.batches, "batch_steps_per_second", 1/max(b.now().Sub(b.batchBegan).Seconds(), 1e-9)); err != nil {
			return b.fail(err)
		}
	}
	for _, name := range r.names(logs) {
		if err := b.train.scalar(b.batches, "batch_"+name, logs[name]); err != nil {
			return b.fail(err)
		}
	}
	return nil
}

// iterations returns the number of the optimizer's steps.
func (b *TensorBoard) iterations(r *Run) (int64, error) {
	if r.Optimizer == nil {
		return 0, nil
	}
	return r.Optimizer.Iterations()
}

// OnTestEnd writes the results of an evaluation.
func (b *TensorBoard) OnTestEnd(_ context.Context, r *Run, logs Logs) error {
	if r.Optimizer == nil {
		return nil
	}
	n, err := b.iterations(r)
	if err != nil {
		return b.fail(err)
	}
	f, err := b.file(&b.validation, "validation")
	if err != nil {
		return b.fail(err)
	}
	for _, name := range r.names(logs) {
		if err := f.scalar(n, "evaluation_"+name+"_vs_iterations", logs[name]); err != nil {
			return b.fail(err)
		}
	}
	if b.train == nil { // outside of a training
		err = f.close()
		b.validation = nil
	}
	return b.fail(err)
}

// OnEpochEnd writes the logs, and the histograms if it is time.
func (b *TensorBoard) OnEpochEnd(ctx context.Context, r *Run, epoch int, logs Logs) error {
	for _, name := range r.names(logs) {
		f, tag := b.train, name
		if rest, ok := strings.CutPrefix(name, "val_"); ok {
			var err error
			if f, err = b.file(&b.validation, "validation"); err != nil {
				return b.fail(err)
			}
			tag = rest
		}
		if err := f.scalar(int64(epoch), "epoch_"+tag, logs[name]); err != nil {
			return b.fail(err)
		}
	}
	if o, ok := r.Optimizer.(optimizers.Based); ok && o.AsBase().Schedule != nil {
		rate, err := o.LearningRate()
		if err == nil {
			err = b.train.scalar(int64(epoch), "epoch_learning_rate", rate)
		}
		if err != nil {
			return b.fail(err)
		}
	}
	if b.WriteStepsPerSecond {
		n, err := b.iterations(r)
		if err == nil {
			err = b.train.scalar(int64(epoch), "epoch_steps_per_second", float64(n-b.stepsBefore)/max(b.now().Sub(b.epochBegan).Seconds(), 1e-9))
		}
		if err != nil {
			return b.fail(err)
		}
	}
	if b.HistogramFreq > 0 && epoch%b.HistogramFreq == 0 {
		if err := b.histograms(ctx, r, epoch); err != nil {
			return b.fail(err)
		}
	}
	if b.EmbeddingsFreq > 0 && epoch%b.EmbeddingsFreq == 0 {
		return b.fail(b.saveEmbeddings(ctx, r, epoch))
	}
	return nil
}

// histograms writes the weights of the model.
func (b *TensorBoard) histograms(ctx context.Context, r *Run, epoch int) error {
	g, err := trackable.Walk(r.Model, &trackable.WalkOptions{NoSlots: true})
	if err != nil {
		return err
	}
	names := map[*trackable.Variable]string{}
	for i := range g.Nodes {
		if v := g.Nodes[i].Variable(); v != nil {
			names[v] = g.Nodes[i].FullName
		}
	}
	for _, v := range r.Weights() {
		if d := v.DType(); !d.IsFloating() && !d.IsInteger() {
			continue
		}
		if err := b.train.histogram(int64(epoch), eventName(names[v])+"/histogram", v.Load()); err != nil {
			return err
		}
		if b.WriteImages {
			if err := b.train.image(ctx, int64(epoch), eventName(names[v])+"/image", v.Load()); err != nil {
				return err
			}
		}
	}
	return nil
}

// OnTrainEnd closes the files.
func (b *TensorBoard) OnTrainEnd(_ context.Context, r *Run, _ Logs) error {
	if b.profiled != nil {
		if err := b.endProfile(r); err != nil {
			return b.fail(errors.Join(err, b.close()))
		}
	}
	return b.fail(b.close())
}

// OnTrainAbort closes the files.
func (b *TensorBoard) OnTrainAbort() { _ = b.close() }

func (b *TensorBoard) close() error {
	var errs []error
	for _, f := range []**eventFile{&b.train, &b.validation} {
		if *f != nil {
			errs = append(errs, (*f).close())
			*f = nil
		}
	}
	return errors.Join(errs...)
}

var _ Aborter = (*TensorBoard)(nil)
