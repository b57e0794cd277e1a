package keras3

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// CompilationToKeras3 translates the arguments of compile: compile_config of an archive of
// Keras 2, or training_config of a .h5 file or a SavedModel.
func CompilationToKeras3(data []byte) (*Result, error) { return translate(data, true, compilation) }

// CompilationToKeras2 translates compile_config or training_config of Keras 3 to the form of an
// archive.
func CompilationToKeras2(data []byte) (*Result, error) { return translate(data, false, compilation) }

// compileDefaults are the arguments of compile that training_config has no place for.
var compileDefaults = map[string]any{"loss": nil, "loss_weights": nil, "metrics": nil, "weighted_metrics": nil,
	"run_eagerly": false, "steps_per_execution": 1, "jit_compile": false}

func compilation(t *translator, v any) (any, error) {
	fields, ok := v.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("the compilation is %s, want an object", short(v))
	}
	out := maps.Clone(compileDefaults)
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		v, err := t.value(kindOfKey(name, layer), fields[name])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		switch name {
		case "optimizer_config":
			name = "optimizer"
		case "metrics", "weighted_metrics": // a list for the only output
			if list, ok := v.([]any); ok && len(list) == 1 && t.up {
				if inner, ok := list[0].([]any); ok {
					v = inner
				}
			}
		case "run_eagerly", "jit_compile":
			if v == nil {
				v = false
			}
		case "steps_per_execution":
			if v == nil {
				v = 1
			}
		case "sample_weight_mode":
			if v != nil {
				return nil, fmt.Errorf("sample_weight_mode: Keras 3 has no such option (got %s)", short(v))
			}
			continue
		}
		out[name] = v
	}
	return out, nil
}

// wrapped returns the name of a metric that is made of a function, as compile takes it; ok is
// false for other metrics.
func wrapped(class string, conf map[string]any) (name string, ok bool) {
	switch class {
	case "MeanMetricWrapper", "SumOverBatchSizeMetricWrapper":
	default:
		return "", false
	}
	fn, ok := conf["fn"].(string)
	if !ok {
		if o, isObject := conf["fn"].(map[string]any); isObject {
			fn, ok = o["config"].(string)
		}
	}
	if !ok {
		return "", false
	}
	if name, _ := conf["name"].(string); short2[name] == fn || name == "accuracy" && strings.HasSuffix(fn, "_accuracy") {
		return name, true
	}
	return fn, true
}

// short2 are the functions of metrics by their short names.
var short2 = map[string]string{"acc": "binary_accuracy", "mae": "mean_absolute_error", "mse": "mean_squared_error",
	"mape": "mean_absolute_percentage_error", "msle": "mean_squared_logarithmic_error"}
