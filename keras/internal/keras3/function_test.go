package keras3

import (
	"reflect"
	"testing"
)

// TestFunctionsAreNames translates the objects by which Keras 3 stores functions, and damaged ones.
func TestFunctionsAreNames(t *testing.T) {
	for name, tt := range map[string]struct {
		v    map[string]any
		name bool
	}{
		"builtin":           {map[string]any{"module": "builtins", "config": "relu"}, true},
		"no module":         {map[string]any{"config": "relu"}, true},
		"registered":        {map[string]any{"module": "mine", "config": "relu", "registered_name": "relu"}, true},
		"registered other":  {map[string]any{"module": "builtins", "config": "relu", "registered_name": "my>relu"}, false},
		"other module":      {map[string]any{"module": "mine", "config": "relu"}, false},
		"objects":           {map[string]any{"config": map[string]any{}, "registered_name": map[string]any{}}, false},
		"lists":             {map[string]any{"config": []any{}, "registered_name": []any{}}, false},
		"name of an object": {map[string]any{"config": "relu", "registered_name": map[string]any{}}, false},
		"nothing":           {map[string]any{"config": nil}, false},
	} {
		got, err := (&translator{}).function(tt.v)
		if want := any(tt.v); err != nil || tt.name && got != "relu" || !tt.name && !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %v, %v", name, got, err)
		}
	}
}
