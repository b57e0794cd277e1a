package run_test

import (
	"testing"
	"testing/fstest"

	"github.com/cairnml/cairn/kernel"
	"github.com/cairnml/cairn/savedmodel/run"
	"github.com/cairnml/cairn/tensor"
)

// TestBindAcceptsADashAsName: the tag "-" leaves a field out, "-," is the input "-".
func TestBindAcceptsADashAsName(t *testing.T) {
	const model = `saved_model_schema_version: 1 meta_graphs { meta_info_def { tags: "serve" } graph_def {
		node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } } }
		node { name: "y" op: "Identity" input: "x" attr { key: "T" value { type: DT_FLOAT } } }
	} signature_def { key: "serving_default" value {
		inputs { key: "-" value { name: "x:0" dtype: DT_FLOAT tensor_shape { unknown_rank: true } } }
		outputs { key: "-" value { name: "y:0" dtype: DT_FLOAT tensor_shape { unknown_rank: true } } }
	} } }`
	m, err := run.Load(t.Context(), fstest.MapFS{"saved_model.pbtxt": {Data: []byte(model)}}, &run.LoadOptions{Kernels: kernel.All()})
	if err != nil {
		t.Fatal(err)
	}
	type dash struct {
		X     *tensor.Tensor `cairn:"-,"`
		Other int            `cairn:"-"`
	}
	call, err := run.Bind[dash, dash](m, "serving_default")
	if err != nil {
		t.Fatal(err)
	}
	if out, err := call(t.Context(), dash{X: tensor.Scalar[float32](2)}); err != nil || !out.X.Equal(tensor.Scalar[float32](2)) {
		t.Error(out, err)
	}
}
