package main

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sort"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/tensor"
)

// The judge is TensorFlow's process, which makes the same calls. This is the format that its
// programs interop/peer/run_functions.py and differentiate.py read: the keys and their meanings
// must stay or change there, too.
type (
	// judgeCall is a call of a function of the library.
	judgeCall struct {
		Function string              `json:"function"`
		Inputs   string              `json:"inputs"` // the file of the arrays
		Args     []map[string]string `json:"args"`   // each is {"input": array} or {"variable": name}
		Outputs  string              `json:"outputs"`
		Dys      []*string           `json:"dys,omitempty"` // the arrays of the outputs' gradients; nil: none
		By       []int               `json:"by,omitempty"`  // the places of the arguments to differentiate by
	}
	judgeVariable struct {
		Name  string   `json:"name"`
		DType string   `json:"dtype"`
		Shape []int    `json:"shape"`
		Value []string `json:"value"` // a file and an array in it
	}
	// judgeGradient contains the description, by a SavedModel's objects, of a
	// gradient in the library.
	judgeGradient struct {
		Function string         `json:"function"`
		Inputs   int            `json:"inputs"` // of the node
		Gives    []int          `json:"gives"`  // as in graph.RegisteredGradient
		Captures []judgeCapture `json:"captures"`
	}
	judgeCapture struct {
		Function string `json:"function"`
		Tensor   string `json:"tensor"`
	}
	judgeCalls struct {
		Calls     []judgeCall     `json:"calls"`
		Variables []judgeVariable `json:"variables"`
		Gradients []judgeGradient `json:"gradients,omitempty"`
	}
)

// write writes the files of a directory: the library, the calls of its functions and
// the arrays that they are given.
func (j *judgeCalls) write(dir string, lib *graph.Library, arrays map[string]*tensor.Tensor) error {
	raw, err := (&graph.Graph{Library: lib}).Marshal()
	if err != nil {
		return err
	}
	text, err := json.Marshal(j)
	if err != nil {
		return err
	}
	return errors.Join(
		os.MkdirAll(dir, 0o777),
		os.WriteFile(filepath.Join(dir, "graph.pb"), raw, 0o666),
		os.WriteFile(filepath.Join(dir, "calls.json"), text, 0o666),
		writeNPZ(filepath.Join(dir, "in.npz"), arrays))
}

// gradients records the captures and results of a library's custom gradients.
func (j *judgeCalls) gradients(lib *graph.Library) {
	holder := map[*graph.Node]*graph.Function{}
	for _, f := range lib.Functions() {
		for _, n := range f.Graph.Nodes() {
			holder[n] = f
		}
	}
	for _, r := range lib.Registered {
		f := r.Gradient.Function
		g := judgeGradient{Function: lib.NameOf(f), Inputs: len(f.Args) - len(r.Captures), Gives: r.Gives, Captures: []judgeCapture{}}
		for _, o := range r.Captures {
			g.Captures = append(g.Captures, judgeCapture{lib.NameOf(holder[o.Node]), fmt.Sprintf("%s:%d", holder[o.Node].NameInFile(o.Node), o.Index)})
		}
		j.Gradients = append(j.Gradients, g)
	}
}

// readNPZ opens an .npz that was read as a whole.
func readNPZ(path string) (*tensor.NPZ, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return tensor.OpenNPZ(bytes.NewReader(raw), int64(len(raw)), nil)
}

// arguments adds a function's arguments to the arrays and variables, under names that
// begin with prefix, and returns the name of each argument.
func (j *judgeCalls) arguments(prefix string, in []*tensor.Tensor, captures []graph.Capture, arrays map[string]*tensor.Tensor) ([]map[string]string, error) {
	var args []map[string]string
	for i, x := range in {
		key := fmt.Sprintf("%sin%d", prefix, i)
		arrays[key] = x
		args = append(args, map[string]string{"input": key})
	}
	for i, capture := range captures {
		key := fmt.Sprintf("%sc%d", prefix, i)
		switch {
		case capture.Variable != nil:
			arrays[key] = capture.Variable.Load()
			j.Variables = append(j.Variables, judgeVariable{
				Name: key, DType: capture.Variable.DType().String(), Shape: capture.Variable.Shape(), Value: []string{"in.npz", key}})
			args = append(args, map[string]string{"variable": key})
		case capture.Tensor != nil:
			arrays[key] = capture.Tensor
			args = append(args, map[string]string{"input": key})
		default:
			return nil, fmt.Errorf("a capture of a %T", capture.Resource)
		}
	}
	return args, nil
}

// withInputShapes stores the known parts of the arguments' shapes in the
// attribute that TensorFlow reads: its own shape rules refuse some ops whose
// inputs have no known number of dimensions.
func withInputShapes(f *graph.Function) {
	shapes := make([]graph.PartialShape, len(f.Args))
	for i, a := range f.Args {
		shapes[i] = a.Out[0].Shape
	}
	f.Attrs = f.Attrs.Set(graph.Shapes("_input_shapes", shapes...))
}

// writeNPZ writes arrays to the file at path, strings as hexed.
func writeNPZ(path string, arrays map[string]*tensor.Tensor) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	w := tensor.NewNPZWriter(f, nil)
	names := make([]string, 0, len(arrays))
	for name := range arrays {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		t := arrays[name]
		if t.DType() == tensor.String {
			t = tensor.Must(hexed(t))
		}
		err = errors.Join(err, w.Add(name, t))
	}
	return errors.Join(err, w.Close(), f.Close())
}

// hexed returns strings as hexadecimal digits, as run_functions.py takes them.
func hexed(t *tensor.Tensor) (*tensor.Tensor, error) {
	out := slices.Clone(tensor.Values[string](t))
	for i, s := range out {
		out[i] = hex.EncodeToString([]byte(s))
	}
	return tensor.FromStrings(tensor.String, out, t.Shape()...)
}
