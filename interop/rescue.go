package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/keras"
	"github.com/cairnml/cairn/keras/config"
	"github.com/cairnml/cairn/keras/rescue"
	"github.com/cairnml/cairn/keras/saving"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
)

// rescueCases moves models of tf_keras to Keras 3 and back, and has both compare outputs and the
// losses of further steps. peer/rescue.py prints a line for each case: its name, a tab, its fault.
func rescueCases(ctx context.Context, r *run) {
	folder := r.tf("rescue")
	dir := func(name string) string { return filepath.Join(folder, name) }
	peer := func(verb string) bool {
		cmd := exec.CommandContext(ctx, r.python, "interop/peer/rescue.py", verb, folder)
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		for line := range strings.Lines(string(out)) {
			name, wrong, ok := strings.Cut(strings.TrimRight(line, "\n"), "\t")
			if !ok {
				continue
			}
			var list []string
			if wrong != "" {
				list = []string{wrong}
			}
			r.result(name, list, "")
		}
		if err != nil {
			r.result("rescue.py "+verb, wrongs(fmt.Errorf("%w\n%s", err, stderr.Bytes())), "")
		}
		return err == nil
	}
	if !peer("two") {
		return
	}
	for _, name := range []string{"rescued", "again", "back"} {
		if err := os.MkdirAll(dir(name), 0o777); err != nil {
			r.result("rescue", wrongs(err), "")
			return
		}
	}
	list, err := os.ReadDir(folder)
	if err != nil {
		r.result("rescue", wrongs(err), "")
		return
	}
	for _, e := range list {
		ext := filepath.Ext(e.Name())
		if ext != ".keras" && ext != ".h5" && ext != ".tf" {
			continue
		}
		r.check("rescue "+e.Name(), func() error {
			_, err := rescue.Convert(ctx, dir(e.Name()), filepath.Join(dir("rescued"), e.Name()+".keras"), &rescue.Options{Force: true})
			if untranslatable(err) {
				return nil
			}
			return err
		})
		if ext == ".keras" {
			r.check("rescue "+e.Name()+" as .h5", func() error {
				err := saveThree(ctx, dir(e.Name()), filepath.Join(dir("rescued"), e.Name()+".h5"))
				if untranslatable(err) {
					return nil
				}
				return err
			})
		}
		if strings.HasPrefix(e.Name(), "fit_") {
			r.check("save again "+e.Name(), func() error { return saveAgain(ctx, dir(e.Name()), dir("again")) })
		}
	}
	if !peer("three") {
		return
	}
	if list, err = os.ReadDir(dir("three")); err != nil {
		r.result("rescue", wrongs(err), "")
		return
	}
	for _, e := range list {
		ext := filepath.Ext(e.Name())
		if ext != ".keras" && ext != ".h5" {
			continue
		}
		path := filepath.Join(dir("three"), e.Name())
		r.check("read Keras 3's "+e.Name(), func() error { return sameOutputs(ctx, path) })
		r.check("move Keras 3's "+e.Name()+" to a SavedModel", func() error {
			_, err := rescue.Convert(ctx, path, filepath.Join(dir("back"), e.Name()+".tf"), &rescue.Options{Force: true})
			return err
		})
	}
	peer("back")
}

// untranslatable reports whether Keras 3 lacks a part of the model, or the model has code of
// Python. Such a model isn't written, which is no fault.
func untranslatable(err error) bool {
	var lacks *saving.TranslationError
	var unknown *config.UnknownError
	return errors.As(err, &lacks) || errors.As(err, &unknown)
}

// saveThree reads a whole model and writes it as a .h5 file of Keras 3.
func saveThree(ctx context.Context, path, to string) error {
	m, err := saving.LoadModel(ctx, path, nil)
	if err != nil {
		return err
	}
	ignore := func(string) {}
	return saving.SaveModel(ctx, m.Model, to, &saving.SaveModelOptions{Keras: 3, Optimizer: m.Optimizer, Training: m.Training, Note: ignore})
}

// saveAgain reads a whole model and writes it in both forms of tf_keras.
func saveAgain(ctx context.Context, path, to string) error {
	m, err := saving.LoadModel(ctx, path, nil)
	if err != nil {
		return err
	}
	out := filepath.Join(to, filepath.Base(path))
	return saving.SaveModel(ctx, m.Model, out, &saving.SaveModelOptions{Optimizer: m.Optimizer, Training: m.Training})
}

// sameOutputs reads a model and compares its outputs with the arrays next to it.
func sameOutputs(ctx context.Context, path string) error {
	m, err := saving.LoadModel(ctx, path, nil)
	if err != nil {
		return err
	}
	arrays, err := npzArrays(ctx, strings.TrimSuffix(path, filepath.Ext(path))+".npz")
	if err != nil {
		return err
	}
	var inputs []*ops.Value
	for i := 0; arrays[fmt.Sprint("in", i)] != nil; i++ {
		inputs = append(inputs, ops.ValueOf(arrays[fmt.Sprint("in", i)]))
	}
	s := function.Eager(ctx)
	out := keras.CallAll(s, m.Model, inputs, nil)
	if err := s.Err(); err != nil {
		return err
	}
	if arrays[fmt.Sprint("out", len(out))] != nil {
		return fmt.Errorf("there are more outputs than ours (got %d)", len(out))
	}
	for i, v := range out {
		got, err := v.Tensor()
		if err != nil {
			return err
		}
		want := arrays[fmt.Sprint("out", i)]
		if want == nil {
			return fmt.Errorf("there is no output %d", i)
		}
		if err := near(got, want); err != nil {
			return fmt.Errorf("output %d: %w", i, err)
		}
	}
	return nil
}

// near compares two tensors element by element. Numbers may differ by 1e-5 times the magnitude
// of the wanted one, or by 1e-5 if that is more.
func near(got, want *tensor.Tensor) error {
	if !slices.Equal(got.Shape(), want.Shape()) {
		return fmt.Errorf("got the shape %v, want %v", got.Shape(), want.Shape())
	}
	a, errA := tensor.Cast(got, tensor.Float64)
	b, errB := tensor.Cast(want, tensor.Float64)
	if err := errors.Join(errA, errB); err != nil {
		return err
	}
	y := tensor.Values[float64](b)
	for i, x := range tensor.Values[float64](a) {
		if !(math.Abs(x-y[i]) <= 1e-5*max(1, math.Abs(y[i]))) { // NaN is never near
			return fmt.Errorf("element %d: got %v, want %v", i, x, y[i])
		}
	}
	return nil
}
