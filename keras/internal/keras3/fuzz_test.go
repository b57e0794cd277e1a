package keras3

import (
	"encoding/json"
	"os"
	"testing"
)

// FuzzTranslation translates any JSON in both directions. The results are JSON, and a
// config that was translated to Keras 3 is translated back or refused.
func FuzzTranslation(f *testing.F) {
	data, err := os.ReadFile("../../testdata/models/models.json")
	if err != nil {
		f.Fatal(err)
	}
	var models []struct {
		Config json.RawMessage `json:"config"`
	}
	if err := json.Unmarshal(data, &models); err != nil {
		f.Fatal(err)
	}
	for _, m := range models {
		f.Add([]byte(m.Config))
	}
	f.Add([]byte(`{"class_name": "Functional", "config": {"layers": [{"name": "a", "class_name": "TFOpLambda", "config": {"function": "math.add"}, "inbound_nodes": [["a", 0, 0, {}]]}], "input_layers": [[["a", 0, 0]]], "output_layers": []}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, translate := range []func([]byte) (*Result, error){ToKeras3, ToKeras2, CompilationToKeras3, CompilationToKeras2} {
			r, err := translate(data)
			if err != nil {
				continue
			}
			if !json.Valid(r.JSON) {
				t.Fatalf("the result is no JSON: %.200s", r.JSON)
			}
		}
		if r, err := ToKeras3(data); err == nil {
			if down, err := ToKeras2(r.JSON); err == nil && !json.Valid(down.JSON) {
				t.Fatal("the result is no JSON")
			}
		}
	})
}
