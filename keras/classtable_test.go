package keras_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"github.com/cairnml/cairn/keras/config"
	"github.com/cairnml/cairn/keras/constraints"
	"github.com/cairnml/cairn/keras/featurecolumn"
	"github.com/cairnml/cairn/keras/initializers"
	"github.com/cairnml/cairn/keras/internal/kerastest"
	"github.com/cairnml/cairn/keras/layers"
	"github.com/cairnml/cairn/keras/losses"
	"github.com/cairnml/cairn/keras/metrics"
	"github.com/cairnml/cairn/keras/optimizers"
	"github.com/cairnml/cairn/keras/optimizers/schedules"
	"github.com/cairnml/cairn/keras/regularizers"
	"github.com/cairnml/cairn/tensor"
)

var update = flag.Bool("update", false, "write docs/keras-classes.md anew")

// shown holds the properties of a class that fixtures of tf_keras cover.
type shown struct {
	configs, values, gradients int
	masks, dtypes, forms       map[string]bool
}

func (s *shown) dtype(name string) {
	if name != "" {
		s.dtypes[name] = true
	}
}

// evidence maps "kind Class" to the properties that fixtures cover.
type evidence map[string]*shown

func (e evidence) of(kind, class string) *shown {
	key := kind + " " + class
	if e[key] == nil {
		e[key] = &shown{masks: map[string]bool{}, dtypes: map[string]bool{}, forms: map[string]bool{}}
	}
	return e[key]
}

// object is an object in a config.
type object struct {
	Module string
	Class  string `json:"class_name"`
	Config json.RawMessage
}

// kindOf returns the part of tf_keras that an object of the new form belongs to.
func kindOf(module string) string {
	module = strings.TrimPrefix(module, "tf_keras.src.")
	module = strings.TrimPrefix(module, "keras.")
	part, rest, _ := strings.Cut(module, ".")
	switch {
	case strings.HasSuffix(module, "legacy"):
		return "optimizers.legacy"
	case part == "mixed_precision":
		return "optimizers"
	case strings.HasPrefix(rest, "functional"):
		return "keras"
	case strings.HasSuffix(rest, "schedules"), strings.Contains(rest, "learning_rate_schedule"):
		return "schedules"
	case part == "applications", part == "experimental", rest == "base_layer":
		return "layers"
	}
	return part
}

// configs counts the classes of all objects within a config of the new form.
func (e evidence) configs(x any) {
	switch x := x.(type) {
	case []any:
		for _, v := range x {
			e.configs(v)
		}
	case map[string]any:
		class, ok := x["class_name"].(string)
		if module, has := x["module"].(string); ok && has {
			e.of(kindOf(module), class).configs++
		} else if ok && strings.HasSuffix(class, "Column") {
			e.of("featurecolumn", class).configs++
		}
		for _, v := range x {
			e.configs(v)
		}
	}
}

// columns counts the classes of feature columns that produce a case's outputs.
func (e evidence) columns(x any) {
	switch x := x.(type) {
	case []any:
		for _, v := range x {
			e.columns(v)
		}
	case map[string]any:
		if class, ok := x["class_name"].(string); ok && strings.HasSuffix(class, "Column") {
			e.of("featurecolumn", class).values++
		}
		for _, v := range x {
			e.columns(v)
		}
	}
}

func anyOf(t *testing.T, data []byte) any {
	t.Helper()
	var x any
	d := json.NewDecoder(bytes.NewReader(bytes.ReplaceAll(data, []byte("NaN"), []byte("null"))))
	kerastest.Must(t, d.Decode(&x))
	return x
}

// arrays returns the names of the arrays in a file, by the case before the first slash.
func arrays(t *testing.T, path string) map[string][]string {
	data, err := os.ReadFile(path)
	kerastest.Must(t, err)
	z, err := tensor.OpenNPZ(bytes.NewReader(data), int64(len(data)), nil)
	kerastest.Must(t, err)
	out := map[string][]string{}
	for _, name := range z.Names() {
		c, rest, _ := strings.Cut(name, "/")
		out[c] = append(out[c], rest)
	}
	return out
}

func (e evidence) layers(t *testing.T) {
	files, err := filepath.Glob("layers/testdata/*.json")
	kerastest.Must(t, err)
	for _, file := range files {
		var cases []struct {
			Name     string
			Config   json.RawMessage
			Outputs  []string
			Training []bool

			Forms, OutForms []string
		}
		kerastest.JSON(t, file, &cases)
		all := arrays(t, strings.TrimSuffix(file, ".json")+".npz")
		for _, c := range cases {
			e.configs(anyOf(t, c.Config))
			var o object
			kerastest.Must(t, json.Unmarshal(c.Config, &o))
			var settings struct{ DType any }
			kerastest.Must(t, json.Unmarshal(o.Config, &settings))
			s := e.of(kindOf(o.Module), o.Class)
			s.values += len(c.Training)
			for _, name := range all[c.Name] {
				mode, part, _ := strings.Cut(name, "/")
				switch {
				case strings.HasPrefix(part, "gradient"):
					s.gradients++
				case strings.HasPrefix(part, "outmask"):
					s.masks["out"] = true
				case strings.HasPrefix(mode, "mask"), mode == "argmask":
					s.masks["in"] = true
				}
			}
			switch d := settings.DType.(type) {
			case string:
				s.dtype(d)
			case map[string]any:
				name, _ := d["config"].(map[string]any)["name"].(string)
				s.dtype(name)
			}
			if c.OutForms == nil { // of others there are indices, too
				for _, d := range c.Outputs {
					s.dtype(d)
				}
			}
			for _, form := range c.Forms {
				if form != "" {
					s.forms[form] = true
				}
			}
			if o.Class == "DenseFeatures" || o.Class == "SequenceFeatures" {
				e.columns(anyOf(t, c.Config))
			}
		}
	}
}

func (e evidence) losses(t *testing.T) {
	var f struct {
		Cases []struct {
			Name   string
			Config json.RawMessage
		}
	}
	kerastest.JSON(t, "losses/testdata/losses.json", &f)
	all := arrays(t, "losses/testdata/losses.npz")
	for _, c := range f.Cases {
		e.configs(anyOf(t, c.Config))
		var o object
		kerastest.Must(t, json.Unmarshal(c.Config, &o))
		s := e.of("losses", o.Class)
		for _, name := range all[c.Name] {
			switch {
			case name == "loss":
				s.values++
			case strings.HasPrefix(name, "gradient"):
				s.gradients++
			case strings.Contains(name, "mask"):
				s.masks["in"] = true
			}
		}
	}
}

func (e evidence) metrics(t *testing.T) {
	var f struct {
		Cases []struct {
			Name    string
			Config  json.RawMessage
			Updates [][]string
		}
	}
	kerastest.JSON(t, "metrics/testdata/metrics.json", &f)
	for _, c := range f.Cases {
		if len(c.Config) == 0 || string(c.Config) == "null" {
			continue
		}
		e.configs(anyOf(t, c.Config))
		var o object
		kerastest.Must(t, json.Unmarshal(c.Config, &o))
		var settings struct{ DType any }
		kerastest.Must(t, json.Unmarshal(o.Config, &settings))
		s := e.of("metrics", o.Class)
		if d, ok := settings.DType.(string); ok {
			s.dtype(d)
		}
		s.values += len(c.Updates)
		for _, u := range c.Updates {
			if slices.Contains(u, "mask") {
				s.masks["in"] = true
			}
		}
	}
}

func (e evidence) optimizers(t *testing.T) {
	type entry struct{ Config json.RawMessage }
	var f struct{ Cases, Schedules map[string]entry }
	kerastest.JSON(t, "optimizers/testdata/optimizers.json", &f)
	for _, entries := range []map[string]entry{f.Cases, f.Schedules} {
		for _, c := range entries {
			e.keyed(t, c.Config)
		}
	}
}

// keyed counts the case of a separate object.
func (e evidence) keyed(t *testing.T, config []byte) {
	e.configs(anyOf(t, config))
	var o object
	kerastest.Must(t, json.Unmarshal(config, &o))
	e.of(kindOf(o.Module), o.Class).values++
}

// weights counts the objects whose names of arrays begin with a config: name ends the one
// of each case that counts.
func (e evidence) weights(t *testing.T, path, name string) {
	for config, arrays := range arrays(t, path) {
		if !strings.HasPrefix(config, "{") {
			continue
		}
		var o object
		kerastest.Must(t, json.Unmarshal([]byte(config), &o))
		s := e.of(kindOf(o.Module), o.Class)
		s.configs++
		for _, a := range arrays {
			if strings.HasSuffix(a, name) {
				s.values++
				d, _, _ := strings.Cut(a, "/")
				s.dtype(d)
			}
		}
	}
}

// models counts the objects in whole models and fits.
func (e evidence) models(t *testing.T) {
	for _, path := range []string{"testdata/models/models.json", "training/testdata/forms.json", "training/testdata/fit.json"} {
		data, err := os.ReadFile(path)
		kerastest.Must(t, err)
		all := anyOf(t, data)
		e.configs(all)
		if path == "training/testdata/fit.json" {
			continue
		}
		for _, m := range all.([]any) { // one call each
			e.calls(m.(map[string]any)["config"])
		}
	}
}

// calls counts the fixtures of functions and models. Functions have those of models only.
func (e evidence) calls(x any) {
	switch x := x.(type) {
	case []any:
		for _, v := range x {
			e.calls(v)
		}
	case map[string]any:
		class, _ := x["class_name"].(string)
		switch class {
		case "Sequential", "Functional":
			e.of("keras", class).values++
		case "TFOpLambda", "SlicingOpLambda", "AddLoss":
			e.of("layers", class).values++
		}
		for _, v := range x {
			e.calls(v)
		}
	}
}

// groups are the kinds of classes, in the order of the table.
var groups = []struct {
	kind, title string
	classes     []config.Class
}{
	{"layers", "Layers", layers.Classes()},
	{"featurecolumn", "Feature columns", featurecolumn.Classes()},
	{"losses", "Losses", losses.Classes()},
	{"metrics", "Metrics", metrics.Classes()},
	{"optimizers", "Optimizers", append(optimizers.Classes(), config.Class{Name: "LossScaleOptimizerV3"})},
	{"optimizers.legacy", "Optimizers of the legacy layout", nil},
	{"schedules", "Learning rate schedules", schedules.Classes()},
	{"initializers", "Initializers", initializers.Classes()},
	{"regularizers", "Regularizers", regularizers.Classes()},
	{"constraints", "Constraints", constraints.Classes()},
	{"keras", "Models", []config.Class{{Name: "Sequential"}, {Name: "Functional"}}},
}

func list(m map[string]bool) string { return strings.Join(slices.Sorted(maps.Keys(m)), ", ") }

func number(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprint(n)
}

// TestClassTable compares docs/keras-classes.md, the table of classes, with the fixtures
// of tf_keras, and requires fixtures of every class.
func TestClassTable(t *testing.T) {
	e := evidence{}
	e.layers(t)
	e.losses(t)
	e.metrics(t)
	e.optimizers(t)
	e.weights(t, "initializers/testdata/initializers.npz", "")
	e.weights(t, "constraints/testdata/constraints.npz", "/to")
	e.models(t)
	var out strings.Builder
	for _, g := range groups {
		fmt.Fprintf(&out, "## %s\n\n| class | config | forward | gradient | mask | dtype | form |\n|---|---|---|---|---|---|---|\n", g.title)
		var names []string
		for _, c := range g.classes {
			if unicode.IsUpper(rune(c.Name[0])) && !slices.Contains(names, c.Name) { // others are functions
				names = append(names, c.Name)
			}
		}
		if g.classes == nil { // one Go type for two classes
			for key := range e {
				if kind, name, _ := strings.Cut(key, " "); kind == g.kind {
					names = append(names, name)
				}
			}
			slices.Sort(names)
		}
		for _, name := range names {
			s := e.of(g.kind, name)
			if s.configs == 0 {
				t.Errorf("no fixture has a config of %s %s", g.kind, name)
			}
			fmt.Fprintf(&out, "| %s | %s | %s | %s | %s | %s | %s |\n", name, number(s.configs), number(s.values), number(s.gradients), list(s.masks), list(s.dtypes), list(s.forms))
		}
		out.WriteString("\n")
	}
	const path = "../docs/keras-classes.md"
	text, err := os.ReadFile(path)
	kerastest.Must(t, err)
	const marker = "<!-- classes -->\n"
	head, old, ok := strings.Cut(string(text), marker)
	if !ok {
		t.Fatalf("%s has no line %q", path, marker)
	}
	want := "\n" + strings.TrimSuffix(out.String(), "\n")
	if *update {
		kerastest.Must(t, os.WriteFile(path, []byte(head+marker+want), 0o666))
		return
	}
	if d := cmp.Diff(old, want); d != "" {
		t.Errorf("%s is old; run go test ./keras -run ClassTable -update (-file +fixtures):\n%s", path, d)
	}
}
