package keras3

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cairnml/cairn/keras/internal/orderedjson"
)

// TestConfigsOfAllCasesHaveKeysOfKeras3 translates the config of each layer of the fixtures of
// keras/layers, and compares the options with those that Keras 3 has.
func TestConfigsOfAllCasesHaveKeysOfKeras3(t *testing.T) {
	known := map[string]map[string]any{}
	data, err := os.ReadFile("testdata/keys.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &known); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("../../layers/testdata/*.json")
	if err != nil || len(files) == 0 {
		t.Fatal(err, len(files))
	}
	refused, ok := map[string]int{}, 0
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var cases []struct {
			Name   string          `json:"name"`
			Config json.RawMessage `json:"config"`
		}
		if err := json.Unmarshal(data, &cases); err != nil {
			t.Fatal(name, err)
		}
		for _, c := range cases {
			r, err := ToKeras3(c.Config)
			if err != nil {
				refused[err.Error()]++
				continue
			}
			ok++
			v, _, err := orderedjson.Parse(r.JSON)
			if err != nil {
				t.Fatal(err)
			}
			checkKeys(t, c.Name, known, v)
		}
	}
	for why, n := range refused {
		t.Log(n, why)
	}
	t.Log(ok, "translated")
}

func checkKeys(t *testing.T, name string, known map[string]map[string]any, v any) {
	switch v := v.(type) {
	case []any:
		for _, x := range v {
			checkKeys(t, name, known, x)
		}
	case map[string]any:
		class, _ := v["class_name"].(string)
		conf, ok := v["config"].(map[string]any)
		for _, x := range v {
			checkKeys(t, name, known, x)
		}
		if !ok || class == "" || class == "Functional" || class == "Sequential" || strings.HasPrefix(class, "__") || class == "DTypePolicy" {
			return
		}
		if r, _ := v["registered_name"].(string); strings.Contains(r, ">") {
			return
		}
		keys, ok := known[v["module"].(string)+"."+class]
		if !ok {
			t.Errorf("%s: Keras 3 has no class %v.%s", name, v["module"], class)
			return
		}
		for key := range conf {
			if _, ok := keys[key]; !ok && !slices.Contains([]string{"activity_regularizer"}, key) {
				t.Errorf("%s: %s has no option %q (%s)", name, class, key, short(conf[key]))
			}
		}
	}
}

func TestConvolutionsOfFurtherDimensionsAreRefused(t *testing.T) {
	for shape, want := range map[string]string{"[null, 8, 3]": "", "[null, 2, 8, 3]": "4 dimensions, of which Keras 3 takes 3"} {
		_, err := ToKeras3([]byte(`{"module": "keras.layers", "class_name": "Conv1D", "config": {"name": "c"}, "registered_name": null,
			"build_config": {"input_shape": ` + shape + `}}`))
		if got := fmt.Sprint(err); want == "" && err != nil || !strings.Contains(got, want) {
			t.Errorf("%s: got %s, want %q", shape, got, want)
		}
	}
}

func TestClassesThatKeras3LacksAreRefused(t *testing.T) {
	for _, class := range []string{"AddLoss", "ConvLSTMCell", "SequenceFeatures", "DenseFeatures", "LocallyConnected1D"} {
		_, err := ToKeras3([]byte(`{"module": "keras.layers", "class_name": "` + class + `", "config": {"name": "l"}, "registered_name": null}`))
		if err == nil || !strings.Contains(err.Error(), class) || !strings.Contains(err.Error(), "Keras 3 has no") {
			t.Errorf("%s: got %v, want an error", class, err)
		}
	}
}
