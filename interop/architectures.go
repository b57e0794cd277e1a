package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/cairnml/cairn/checkpoint"
	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/grad"
	"github.com/cairnml/cairn/keras"
	"github.com/cairnml/cairn/keras/base"
	kerasmodels "github.com/cairnml/cairn/keras/models"
	"github.com/cairnml/cairn/keras/optimizers"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
)

// architectures is the number of random models that are compared.
const architectures = "200"

// architectureCases has tf_keras make random models, makes each from its config, restores its
// checkpoint, and compares outputs, gradients and the losses of 20 steps of training.
func architectureCases(ctx context.Context, r *run) {
	folder := r.tf("architectures")
	cmd := exec.CommandContext(ctx, r.python, "interop/peer/architectures.py", folder, architectures)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Run(); err != nil {
		r.result("tf_keras writes random models", wrongs(fmt.Errorf("%w\n%s", err, stderr.Bytes())), "")
		return
	}
	list, err := os.ReadDir(folder)
	if err != nil || len(list) == 0 {
		r.result("tf_keras writes random models", []string{fmt.Sprintf("%d models, %v", len(list), err)}, "")
		return
	}
	for _, e := range list {
		r.check("architecture "+e.Name(), func() error {
			return architecture(ctx, filepath.Join(folder, e.Name()), filepath.Join(r.root, "go", "architectures", e.Name()))
		})
	}
}

// npzArrays reads the arrays of a file.
func npzArrays(ctx context.Context, path string) (map[string]*tensor.Tensor, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	z, err := tensor.OpenNPZ(bytes.NewReader(data), int64(len(data)), nil)
	if err != nil {
		return nil, err
	}
	arrays := map[string]*tensor.Tensor{}
	for _, name := range z.Names() {
		if arrays[name], err = z.Read(ctx, name); err != nil {
			return nil, err
		}
	}
	return arrays, nil
}

// numbered returns the arrays name0, name1, ….
func numbered(arrays map[string]*tensor.Tensor, name string) []*ops.Value {
	var list []*ops.Value
	for {
		t := arrays[fmt.Sprintf("%s%d", name, len(list))]
		if t == nil {
			return list
		}
		list = append(list, ops.ValueOf(t))
	}
}

// architecture compares one model, and saves it as a SavedModel for peer/kerasmodels.py. The
// names of files and arrays in the directory are peer/architectures.py's.
func architecture(ctx context.Context, folder, saved string) error {
	text, err := os.ReadFile(filepath.Join(folder, "config.json"))
	if err != nil {
		return err
	}
	obj, err := keras.FromConfig(text, nil)
	if err != nil {
		return err
	}
	model, ok := obj.(*keras.Functional)
	if !ok {
		return fmt.Errorf("%T is no functional model", obj)
	}
	ck, err := checkpoint.New(&struct{ Model base.Callable }{model}, nil)
	if err != nil {
		return err
	}
	report, err := ck.Restore(ctx, filepath.Join(folder, "ckpt"), nil)
	if err != nil {
		return err
	}
	if err := report.AssertConsumed(); err != nil {
		return err
	}
	arrays, err := npzArrays(ctx, filepath.Join(folder, "arrays.npz"))
	if err != nil {
		return err
	}
	inputs, targets := numbered(arrays, "input"), numbered(arrays, "target")
	var wrong []error
	compare := func(what string, got []*ops.Value, name string, tol float64) {
		want := numbered(arrays, name)
		if len(got) != len(want) {
			wrong = append(wrong, fmt.Errorf("%s: %d values, want %d", what, len(got), len(want)))
			return
		}
		for i, v := range got {
			t, err := v.Tensor()
			if err == nil {
				err = nearTensor(t, arrays[fmt.Sprintf("%s%d", name, i)], tol)
			}
			if err != nil {
				wrong = append(wrong, fmt.Errorf("%s %d: %w", what, i, err))
			}
		}
	}
	predict := function.New(func(s *ops.Scope, in []*ops.Value) []*ops.Value { return keras.CallAll(s, model, in, nil) }, nil)
	out, err := predict.Call(ctx, inputs)
	if err != nil {
		return err
	}
	compare("output", out, "output", 1e-5)
	if _, err := os.Stat(filepath.Join(folder, "saved")); err == nil {
		loaded, err := kerasmodels.Load(ctx, os.DirFS(filepath.Join(folder, "saved")), nil)
		if err != nil {
			return fmt.Errorf("the SavedModel: %w", err)
		}
		for _, o := range loaded.Objects {
			if o.Generic {
				wrong = append(wrong, fmt.Errorf("the SavedModel: %s is generic: %s", o.Path, o.Reason))
			}
		}
		run := function.New(func(s *ops.Scope, in []*ops.Value) []*ops.Value { return keras.CallAll(s, loaded.Model, in, nil) }, nil)
		out, err := run.Call(ctx, inputs)
		if err != nil {
			return fmt.Errorf("the SavedModel: %w", err)
		}
		compare("output of the SavedModel", out, "output", 1e-5)
	}
	if err := os.MkdirAll(filepath.Dir(saved), 0o777); err != nil {
		return err
	}
	if err := kerasmodels.Save(ctx, model, saved, nil); err != nil {
		return err
	}
	optimizer := optimizers.NewSGD(0.02)
	optimizer.Momentum = 0.5
	vars := keras.Trainable(model)
	step := function.New(func(s *ops.Scope, in []*ops.Value) []*ops.Value {
		s = s.WithTraining(true)
		loss, tape := grad.Of(s, func(s *ops.Scope) *ops.Value {
			s, losses := base.WithLosses(s)
			var sum *ops.Value
			add := func(x *ops.Value) {
				if sum == nil {
					sum = x
				} else {
					sum = ops.Add(s, sum, x)
				}
			}
			for i, y := range keras.CallAll(s, model, in, nil) {
				add(ops.Mean(s, ops.Square(s, ops.Sub(s, y, targets[i]))))
			}
			for _, l := range losses.Values() {
				add(l)
			}
			for _, l := range base.RegularizationLosses(s, model) {
				add(l)
			}
			return sum
		})
		gradients := tape.Gradient(loss, vars)
		optimizer.Apply(s, gradients)
		base.Constrain(s, model)
		result := []*ops.Value{loss}
		for _, p := range gradients {
			if p.Grad == nil {
				result = append(result, ops.ZerosLike(s, p.Variable))
			} else {
				result = append(result, ops.Identity(s, p.Grad))
			}
		}
		return result
	}, &function.Options{Mode: function.Traced})
	losses := arrays["losses"]
	for i, want := range tensor.Values[float32](losses) {
		got, err := step.Call(ctx, inputs)
		if err != nil {
			return fmt.Errorf("step %d: %w", i, err)
		}
		if i == 0 {
			compare("gradient", got[1:], "gradient", 1e-4)
		}
		loss, err := ops.Item[float32](got[0])
		if err != nil {
			return err
		}
		if diff := float64(loss - want); !(diff < 1e-4*max(1, float64(want)) && -diff < 1e-4*max(1, float64(want))) {
			wrong = append(wrong, fmt.Errorf("loss of step %d is %v, want %v", i, loss, want))
			break
		}
	}
	return errors.Join(wrong...)
}
