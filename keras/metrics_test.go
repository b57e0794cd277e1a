package keras

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairnml/cairn/keras/metrics"
)

func TestMetricsLieInTheObjectGraphAsInTensorFlow(t *testing.T) {
	root := &struct {
		M *metrics.Mean
		A *metrics.SparseCategoricalAccuracy
	}{new(metrics.Mean), new(metrics.SparseCategoricalAccuracy)}
	want := []string{
		"0", "  a -> 1", "  m -> 2", "  save_counter -> 3",
		"1", "  total -> 4", "  count -> 5", "  _fn_kwargs -> 6",
		"2", "  total -> 7", "  count -> 8",
		"3", "  VARIABLE_VALUE save_counter save_counter/.ATTRIBUTES/VARIABLE_VALUE int64[]",
		"4", "  VARIABLE_VALUE total a/total/.ATTRIBUTES/VARIABLE_VALUE float32[]",
		"5", "  VARIABLE_VALUE count a/count/.ATTRIBUTES/VARIABLE_VALUE float32[]",
		"6 no values",
		"7", "  VARIABLE_VALUE total m/total/.ATTRIBUTES/VARIABLE_VALUE float32[]",
		"8", "  VARIABLE_VALUE count m/count/.ATTRIBUTES/VARIABLE_VALUE float32[]",
	}
	if diff := cmp.Diff(want, listing(t, root)); diff != "" {
		t.Errorf("object graph (-TensorFlow +Cairn):\n%s", diff)
	}
}
