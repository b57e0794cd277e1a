package checkpoint_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"time"

	"github.com/cairnml/cairn/checkpoint"
	"github.com/cairnml/cairn/trackable"
	"github.com/cairnml/cairn/vfs"
)

type run struct {
	Step  *trackable.Scalar[int64]
	Score *trackable.Scalar[float32]
}

// A training loop that saves now and then, and resumes after an interruption.
func ExampleManager() {
	dir, err := os.MkdirTemp("", "run")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	train := func() error {
		ctx := context.Background()
		r := &run{trackable.NewScalar[int64](0), trackable.NewScalar[float32](0)}
		ck, err := checkpoint.New(r, nil)
		if err != nil {
			return err
		}
		m, err := checkpoint.NewManager(ck, dir, &checkpoint.ManagerOptions{MaxToKeep: 2})
		if err != nil {
			return err
		}
		defer m.Close()
		switch _, err := m.RestoreLatest(ctx); {
		case errors.Is(err, checkpoint.ErrNotFound):
			fmt.Println("from scratch")
		case err != nil:
			return err
		default:
			fmt.Println("from step", r.Step.Get())
		}
		for range 6 {
			if step := r.Step.Add(1); step%2 == 0 {
				path, err := m.Save(ctx)
				if err != nil {
					return err
				}
				fmt.Println("saved", filepath.Base(path), "at step", step)
			}
		}
		return nil
	}
	for range 2 {
		if err := train(); err != nil {
			log.Fatal(err)
		}
	}
	// Output:
	// from scratch
	// saved ckpt-1 at step 2
	// saved ckpt-2 at step 4
	// saved ckpt-3 at step 6
	// from step 6
	// saved ckpt-4 at step 8
	// saved ckpt-5 at step 10
	// saved ckpt-6 at step 12
}

// The best checkpoints by a metric stay, besides the newest one.
func ExampleBestN() {
	ctx := context.Background()
	r := &run{trackable.NewScalar[int64](0), trackable.NewScalar[float32](0)}
	ck, err := checkpoint.New(r, nil)
	if err != nil {
		log.Fatal(err)
	}
	m, err := checkpoint.NewManager(ck, "run", &checkpoint.ManagerOptions{
		MaxToKeep: 1,
		Policies:  []checkpoint.Policy{checkpoint.BestN{N: 1, Metric: "accuracy"}},
		Dir:       vfs.MemDir(),
	})
	if err != nil {
		log.Fatal(err)
	}
	defer m.Close()
	for _, accuracy := range []float64{0.5, 0.9, 0.7, 0.8} {
		if _, err := m.SaveWith(ctx, &checkpoint.SaveOptions{Metrics: map[string]float64{"accuracy": accuracy}}); err != nil {
			log.Fatal(err)
		}
	}
	for _, s := range m.Saved() {
		fmt.Println(filepath.Base(s.Path), s.Metrics["accuracy"])
	}
	// Output:
	// ckpt-2 0.9
	// ckpt-4 0.8
}

// A damaged latest checkpoint is an error that names the one before, which a
// program may allow to be taken instead.
func ExampleDamagedError() {
	ctx := context.Background()
	dir := vfs.MemDir()
	r := &run{trackable.NewScalar[int64](0), trackable.NewScalar[float32](0)}
	ck, err := checkpoint.New(r, nil)
	if err != nil {
		log.Fatal(err)
	}
	m, err := checkpoint.NewManager(ck, "run", &checkpoint.ManagerOptions{
		Dir: dir,
		Fallback: func(d *checkpoint.DamagedError) bool {
			fmt.Println(filepath.Base(d.Path), "is damaged,", filepath.Base(d.Previous), "holds")
			return true
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	defer m.Close()
	for range 2 {
		r.Step.Add(10)
		if _, err := m.Save(ctx); err != nil {
			log.Fatal(err)
		}
	}
	if err := dir.Remove("ckpt-2.data-00000-of-00001"); err != nil {
		log.Fatal(err)
	}
	report, err := m.RestoreLatest(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("restored", filepath.Base(report.Path), "at step", r.Step.Get())
	// Output:
	// ckpt-2 is damaged, ckpt-1 holds
	// restored ckpt-1 at step 10
}

// An evaluation that runs in parallel with the training takes each new
// checkpoint.
func ExampleWatch() {
	ctx := context.Background()
	dir := vfs.MemDir()
	r := &run{trackable.NewScalar[int64](7), trackable.NewScalar[float32](0)}
	ck, err := checkpoint.New(r, nil)
	if err != nil {
		log.Fatal(err)
	}
	if _, err := ck.SaveTo(ctx, dir, "ckpt"); err != nil {
		log.Fatal(err)
	}
	opts := &checkpoint.WatchOptions{Timeout: time.Millisecond, State: &checkpoint.StateOptions{Dir: dir}}
	for path, err := range checkpoint.Watch(ctx, "run", opts) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println("evaluating", filepath.Base(path))
	}
	// Output: evaluating ckpt-1
}

// The state file of a directory, as other programs see it.
func ExampleUpdateCheckpointState() {
	dir := vfs.MemDir()
	err := checkpoint.UpdateCheckpointState("run", &checkpoint.CheckpointState{
		ModelCheckpointPath:          filepath.Join("run", "model-20"),
		AllModelCheckpointPaths:      []string{filepath.Join("run", "model-10"), filepath.Join("run", "model-20")},
		AllModelCheckpointTimestamps: []float64{1700000000.5, 1700000060},
	}, &checkpoint.StateOptions{Dir: dir})
	if err != nil {
		log.Fatal(err)
	}
	text, err := dir.ReadFile("checkpoint")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Print(string(text))
	// Output:
	// model_checkpoint_path: "model-20"
	// all_model_checkpoint_paths: "model-10"
	// all_model_checkpoint_paths: "model-20"
	// all_model_checkpoint_timestamps: 1700000000.5
	// all_model_checkpoint_timestamps: 1700000060.0
}
