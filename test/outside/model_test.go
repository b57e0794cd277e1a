package outside

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"

	"github.com/cairnml/cairn"
	"github.com/cairnml/cairn/checkpoint"
	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/graph/shape"
	"github.com/cairnml/cairn/kernel"
	"github.com/cairnml/cairn/savedmodel/run"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// model is a SavedModel with this module's op, which its file defines, over numbers
// that it reads from a checkpoint in its directory.
const model = `meta_graphs {
	meta_info_def { tags: 'serve' stripped_op_list { op { name: 'OutsideCube' input_arg { name: 'x' type_attr: 'T' } output_arg { name: 'y' type_attr: 'T' }
		attr { name: 'T' type: 'type' } attr { name: 'factor' type: 'float' default_value { f: 1 } } } } }
	graph_def {
		node { name: 'prefix' op: 'Placeholder' attr { key: 'dtype' value { type: DT_STRING } } }
		node { name: 'names' op: 'Const' attr { key: 'dtype' value { type: DT_STRING } } attr { key: 'value' value { tensor { dtype: DT_STRING tensor_shape { dim { size: 1 } } string_val: 'x/.ATTRIBUTES/VARIABLE_VALUE' } } } }
		node { name: 'slices' op: 'Const' attr { key: 'dtype' value { type: DT_STRING } } attr { key: 'value' value { tensor { dtype: DT_STRING tensor_shape { dim { size: 1 } } string_val: '' } } } }
		node { name: 'read' op: 'RestoreV2' input: 'prefix' input: 'names' input: 'slices' attr { key: 'dtypes' value { list { type: DT_FLOAT } } } }
		node { name: 'cube' op: 'OutsideCube' input: 'read' attr { key: 'T' value { type: DT_FLOAT } } attr { key: 'factor' value { f: 2 } } } }
	signature_def { key: 'serving_default' value {
		inputs { key: 'prefix' value { name: 'prefix:0' dtype: DT_STRING tensor_shape { } } }
		outputs { key: 'y' value { name: 'cube:0' dtype: DT_FLOAT } } } } }`

// TestAModelWithAnOpAndAFileGrantOfOnesOwn: nothing inside had to be changed.
func TestAModelWithAnOpAndAFileGrantOfOnesOwn(t *testing.T) {
	dir := t.TempDir()
	c, err := checkpoint.New(&struct{ X *trackable.Variable }{trackable.NewVariable(tensor.Vector[float32](1, -2, 3))}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Write(t.Context(), filepath.Join(dir, "numbers")); err != nil {
		t.Fatal(err)
	}
	files := fstest.MapFS{"saved_model.pbtxt": {Data: []byte(model)}}
	var missing *run.UnsupportedError
	if _, err := cairn.Load(t.Context(), files, nil); !errors.As(err, &missing) || missing.Ops[0].Op != "OutsideCube" || missing.Ops[0].Def == nil {
		t.Errorf("without the kernel: %v", err)
	}
	kernels, err := kernel.All().With(cubeKernel)
	if err != nil {
		t.Fatal(err)
	}
	o := &run.LoadOptions{Kernels: kernels, Shapes: shape.All().With("OutsideCube", cubeShape)}
	call := func() ([]float32, error) {
		m, err := cairn.Load(t.Context(), files, o)
		if err != nil {
			return nil, err
		}
		out, err := m.Call(t.Context(), "serving_default", map[string]*tensor.Tensor{"prefix": tensor.Scalar("numbers")})
		if err != nil {
			return nil, err
		}
		return tensor.ValuesOf[float32](out["y"])
	}
	if _, err := call(); !errors.Is(err, engine.ErrNotGranted) {
		t.Errorf("without the grant: %v", err)
	}
	o.Files = &engine.Files{Read: os.DirFS(dir)}
	y, err := call()
	if err != nil || len(y) != 3 || y[0] != 2 || y[1] != -16 || y[2] != 54 {
		t.Errorf("%v, %v", y, err)
	}
}
