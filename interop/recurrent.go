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

	"github.com/cairnml/cairn/checkpoint"
	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/grad"
	"github.com/cairnml/cairn/keras"
	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
)

// recurrentLayers is the number of random layers that are compared.
const recurrentLayers = "120"

// recurrentCases has tf_keras make random recurrent layers, makes each from its config,
// restores its checkpoint, and compares outputs and gradients, traced with and without
// knowing the batch and the number of time steps.
func recurrentCases(ctx context.Context, r *run) {
	folder := r.tf("recurrent")
	cmd := exec.CommandContext(ctx, r.python, "interop/peer/recurrent.py", folder, recurrentLayers)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Run(); err != nil {
		r.result("tf_keras writes recurrent layers", wrongs(fmt.Errorf("%w\n%s", err, stderr.Bytes())), "")
		return
	}
	list, err := os.ReadDir(folder)
	if err != nil || len(list) == 0 {
		r.result("tf_keras writes recurrent layers", []string{fmt.Sprintf("%d layers, %v", len(list), err)}, "")
		return
	}
	for _, e := range list {
		r.check("recurrent layer "+e.Name(), func() error { return recurrentLayer(ctx, filepath.Join(folder, e.Name())) })
	}
}

// recurrentLayer compares one layer with the arrays that peer/recurrent.py wrote: x, mask,
// out0 and so on, and the gradient of a loss that is made of all outputs as here.
func recurrentLayer(ctx context.Context, folder string) error {
	text, err := os.ReadFile(filepath.Join(folder, "config.json"))
	if err != nil {
		return err
	}
	obj, err := keras.FromConfig(text, nil)
	if err != nil {
		return err
	}
	layer, ok := obj.(base.Callable)
	if !ok {
		return fmt.Errorf("%T is no layer", obj)
	}
	ck, err := checkpoint.New(&struct{ Layer base.Callable }{layer}, nil)
	if err != nil {
		return err
	}
	report, err := ck.Restore(ctx, filepath.Join(folder, "ckpt"), nil)
	if err != nil {
		return err
	}
	arrays, err := npzArrays(ctx, filepath.Join(folder, "arrays.npz"))
	if err != nil {
		return err
	}
	in := []*ops.Value{ops.ValueOf(arrays["x"])}
	if m := arrays["mask"]; m != nil {
		in = append(in, ops.ValueOf(m))
	}
	call := func(s *ops.Scope, in []*ops.Value) []*ops.Value {
		rec, tape := grad.Record(s)
		tape.Watch(in[0])
		opts := &base.CallOptions{}
		if len(in) > 1 {
			opts.Masks = in[1:]
		}
		out := base.CallAll(rec, layer, in[:1], opts)
		loss := ops.Const(rec, float32(0))
		for i, y := range out {
			loss = ops.Add(rec, loss, ops.Sum(rec, ops.Mul(rec, ops.Tanh(rec, y), i+1)))
		}
		return append(out, tape.GradientOf(loss, in[0])...)
	}
	if _, err := function.New(call, &function.Options{Mode: function.Eagerly}).Call(ctx, in); err != nil {
		return fmt.Errorf("eagerly: %w", err)
	}
	if err := report.AssertConsumed(); err != nil {
		return err
	}
	var wrong []error
	compare := func(how string, got []*ops.Value) {
		for i, v := range got {
			name, tol := fmt.Sprintf("out%d", i), 1e-5
			if i == len(got)-1 {
				name, tol = "gradient", 1e-4
			}
			t, err := v.Tensor()
			if err == nil {
				err = nearTensor(t, arrays[name], tol)
			}
			if err != nil {
				wrong = append(wrong, fmt.Errorf("%s: %s: %w", how, name, err))
			}
		}
		if arrays[fmt.Sprintf("out%d", len(got)-1)] != nil {
			wrong = append(wrong, fmt.Errorf("%s: tf_keras has more than %d outputs", how, len(got)-1))
		}
	}
	unrolled := bytes.Contains(text, []byte(`"unroll": true`))
	for _, known := range []bool{true, false} {
		if !known && unrolled {
			continue
		}
		f := function.New(call, &function.Options{Mode: function.Traced})
		specs := make([]*ops.Value, len(in))
		for i, v := range in {
			dims := v.Shape().Clone()
			if !known {
				dims[0], dims[1] = -1, -1
			}
			specs[i] = ops.Spec(v.DType(), dims...)
		}
		if _, err := f.Trace(specs); err != nil {
			return err
		}
		got, err := f.Call(ctx, in)
		if err != nil {
			return err
		}
		compare(fmt.Sprintf("traced, known shapes %v", known), got)
	}
	return errors.Join(wrong...)
}

// nearTensor returns an error unless each element of two float32 tensors is within tol times
// its magnitude in want, or times a tenth of the largest magnitude or 0.01 if that is more.
func nearTensor(got, want *tensor.Tensor, tol float64) error {
	if want == nil || got.DType() != want.DType() || !got.Shape().Equal(want.Shape()) {
		return fmt.Errorf("got %v, tf_keras has %v", got, want)
	}
	g, w := tensor.Values[float32](got), tensor.Values[float32](want)
	largest := 0.0
	for _, x := range w {
		largest = max(largest, math.Abs(float64(x)))
	}
	for i := range w {
		if d := math.Abs(float64(g[i]) - float64(w[i])); !(d <= tol*max(math.Abs(float64(w[i])), largest/10, 1e-2)) {
			return fmt.Errorf("element %d is %v, tf_keras's is %v", i, g[i], w[i])
		}
	}
	return nil
}
