package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/keras"
	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/keras/config"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/savedmodel"
	"github.com/cairnml/cairn/tensor"
)

// layerFixtures has the cases that tf_keras ran for the tests of keras/layers.
const layerFixtures = "keras/layers/testdata"

// layerCase is a case of a file there: a layer, and how it was called. peer/layers.py reads
// the arrays by its name.
type layerCase struct {
	Name            string          `json:"name"`
	Config          json.RawMessage `json:"config"`
	Inputs          int             `json:"inputs"`
	Kwargs          map[string]any  `json:"kwargs"`
	Args            map[string]int  `json:"args"`
	Weights         []string        `json:"weights"`
	Training        []bool          `json:"training"`
	Forms, OutForms []string
	States          int  `json:"states"`
	Adapt           bool `json:"adapt"`
}

// tracedLayer is a layer's call that was saved for TensorFlow.
type tracedLayer struct {
	Directory string `json:"directory"`
	Family    string `json:"family"`
	Case      string `json:"case"`
	Mode      string `json:"mode"` // infer or train
	Inputs    int    `json:"inputs"`
}

// layerCases saves the traced calls of layers as SavedModels. TensorFlow loads and calls them, and
// compares their outputs and the gradients of their inputs with those of tf_keras's layers.
func layerCases(ctx context.Context, r *run) {
	directory := filepath.Join(r.root, "go", "layers")
	files, err := filepath.Glob(filepath.Join(layerFixtures, "*.json"))
	if err != nil || len(files) == 0 {
		r.result("layers", []string{fmt.Sprintf("%d files of cases, %v", len(files), err)}, "")
		return
	}
	var list []tracedLayer
	for _, file := range files {
		family := strings.TrimSuffix(filepath.Base(file), ".json")
		cases, err := saveLayers(ctx, file, filepath.Join(directory, family))
		r.check("layers of "+family+" are saved", func() error { return err })
		for _, c := range cases {
			c.Family = family
			list = append(list, c)
		}
	}
	text, err := json.Marshal(list)
	if err == nil {
		err = os.WriteFile(filepath.Join(directory, "list.json"), text, 0o666)
	}
	if err != nil {
		r.result("layers", wrongs(err), "")
		return
	}
	cmd := exec.CommandContext(ctx, r.python, "interop/peer/layers.py", layerFixtures, filepath.Join(directory, "list.json"))
	var out, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &stderr
	if err := cmd.Run(); err != nil {
		r.result("TensorFlow calls layers", wrongs(fmt.Errorf("%w\n%s", err, stderr.Bytes())), "")
		return
	}
	var wrong map[string][]string // by directory
	if err := json.Unmarshal(out.Bytes(), &wrong); err != nil {
		r.result("TensorFlow calls layers", wrongs(err), "")
		return
	}
	for _, c := range list {
		name := fmt.Sprintf("layer %s/%s in TensorFlow, %s", c.Family, c.Case, c.Mode)
		if answers, ok := wrong[c.Directory]; ok {
			r.result(name, answers, "")
		} else {
			r.result(name, []string{"no answer"}, "")
		}
	}
}

// saveLayers saves the calls of a file's layers into a directory.
func saveLayers(ctx context.Context, file, directory string) (list []tracedLayer, err error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var cases []layerCase
	if err := json.Unmarshal(text, &cases); err != nil {
		return nil, err
	}
	arrays, err := npzArrays(ctx, strings.TrimSuffix(file, ".json")+".npz")
	if err != nil {
		return nil, err
	}
	var failures []error
	for i, c := range cases {
		for _, training := range c.Training {
			if c.needsMore(arrays, training) {
				continue
			}
			l := tracedLayer{Directory: filepath.Join(directory, fmt.Sprintf("%d-%v", i, training)), Case: c.Name, Mode: "infer", Inputs: c.Inputs}
			if training {
				l.Mode = "train"
			}
			if err := c.save(ctx, l.Directory, arrays, training); err != nil {
				failures = append(failures, fmt.Errorf("%s: %w", c.Name, err))
				continue
			}
			list = append(list, l)
		}
	}
	return list, errors.Join(failures...)
}

// needsMore reports whether a call isn't one of dense tensors alone, without masks, states, files and
// random numbers, or the layer's class is one of the tests of keras/layers.
func (c *layerCase) needsMore(arrays map[string]*tensor.Tensor, training bool) bool {
	if len(c.Args) > 0 || c.Adapt || len(c.Forms) > 0 || len(c.OutForms) > 0 || c.States > 0 || strings.Contains(string(c.Config), `"vocabulary_file"`) || training && strings.HasPrefix(c.Name, "random") {
		return true
	}
	for i := range c.Inputs {
		if arrays[fmt.Sprintf("%s/input%d", c.Name, i)] == nil || arrays[fmt.Sprintf("%s/mask%d", c.Name, i)] != nil {
			return true
		}
	}
	_, err := keras.FromConfig(c.Config, nil)
	var unknown *config.UnknownError
	return errors.As(err, &unknown)
}

// save builds the layer, sets its weights and saves its call.
func (c *layerCase) save(ctx context.Context, directory string, arrays map[string]*tensor.Tensor, training bool) error {
	obj, err := keras.FromConfig(c.Config, nil)
	if err != nil {
		return err
	}
	layer, ok := obj.(base.LayerLike)
	if !ok {
		return fmt.Errorf("%T is no layer", obj)
	}
	shapes, in := make([]tensor.Shape, c.Inputs), make([]*ops.Value, c.Inputs)
	for i := range in {
		x := arrays[fmt.Sprintf("%s/input%d", c.Name, i)]
		in[i], shapes[i] = ops.ValueOf(x), x.Shape()
	}
	s := base.WithSeed(function.Eager(ctx), 1)
	if err := keras.Build(s, layer, shapes...); err != nil {
		return err
	}
	for i, v := range keras.Variables(layer) {
		if err := v.Store(arrays[c.Name+"/weight/"+c.Weights[i]].Clone()); err != nil {
			return err
		}
	}
	args := map[string]any{}
	maps.Copy(args, c.Kwargs)
	call, err := function.New(func(s *ops.Scope, in []*ops.Value) []*ops.Value {
		s, _ = base.WithLosses(base.WithSeed(s, 1))
		var x ops.Input = in
		if len(in) == 1 {
			x = in[0]
		}
		return layer.AsLayer().RunAll(s, layer, x, &base.CallOptions{Training: &training, Args: args})
	}).Trace(in)
	if err != nil {
		return err
	}
	root := &struct {
		Layer base.LayerLike
		Call  *graph.Concrete
	}{layer, call}
	return savedmodel.Save(ctx, root, directory, nil)
}
