package scan_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/cairnml/cairn/internal/app/scan"
)

// schema is what SARIF 2.1.0 says of the objects that a scan writes: properties
// with their kinds, those that must be there with a "!", nested objects by name.
var schema = map[string]map[string]string{
	"log":              {"$schema": "string", "version": "string!", "runs": "[]run!"},
	"run":              {"tool": "tool!", "results": "[]result", "columnKind": "string"},
	"tool":             {"driver": "toolComponent!"},
	"toolComponent":    {"name": "string!", "version": "string", "informationUri": "string", "rules": "[]rule"},
	"rule":             {"id": "string!", "shortDescription": "text", "help": "text"},
	"text":             {"text": "string!"},
	"result":           {"ruleId": "string", "ruleIndex": "number", "level": "string", "message": "text!", "locations": "[]location", "occurrenceCount": "number"},
	"location":         {"physicalLocation": "physicalLocation", "logicalLocations": "[]logicalLocation"},
	"physicalLocation": {"artifactLocation": "artifactLocation!"},
	"artifactLocation": {"uri": "string"},
	"logicalLocation":  {"name": "string", "fullyQualifiedName": "string", "kind": "string"},
}

// conforms reports what of v isn't as the schema's object says.
func conforms(kind, where string, v any) error {
	if elem, list := strings.CutPrefix(kind, "[]"); list {
		for i, x := range v.([]any) {
			if err := conforms(elem, fmt.Sprintf("%s[%d]", where, i), x); err != nil {
				return err
			}
		}
		return nil
	}
	switch x := v.(type) {
	case string, float64:
		if want := map[bool]string{true: "string", false: "number"}[func() bool { _, s := x.(string); return s }()]; want != kind {
			return fmt.Errorf("%s is a %s, not a %s", where, want, kind)
		}
		return nil
	case map[string]any:
		fields := schema[kind]
		for key, y := range x {
			k, known := fields[key]
			if !known {
				return fmt.Errorf("%s has the property %q, a %s has none such", where, key, kind)
			}
			if err := conforms(strings.TrimSuffix(k, "!"), where+"."+key, y); err != nil {
				return err
			}
		}
		for key, k := range fields {
			if _, there := x[key]; strings.HasSuffix(k, "!") && !there {
				return fmt.Errorf("%s lacks the property %q", where, key)
			}
		}
		return nil
	}
	return fmt.Errorf("%s is a %T", where, v)
}

func TestSARIFIsAsItsSchemaSays(t *testing.T) {
	r, err := scan.Dir(t.Context(), os.DirFS("../../../cmd/cairn/testdata/hostile"), "some where/hostile", nil)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := scan.SARIF(&b, "v1", r, r); err != nil {
		t.Fatal(err)
	}
	var v map[string]any
	if err := json.Unmarshal(b.Bytes(), &v); err != nil {
		t.Fatal(err)
	}
	if err := conforms("log", "log", v); err != nil {
		t.Error(err)
	}
	if v["version"] != "2.1.0" {
		t.Errorf("version %v", v["version"])
	}
	run := v["runs"].([]any)[0].(map[string]any)
	rules := run["tool"].(map[string]any)["driver"].(map[string]any)["rules"].([]any)
	results := run["results"].([]any)
	if len(results) != 2*len(r.Findings) {
		t.Errorf("%d results of %d findings", len(results), len(r.Findings))
	}
	for _, x := range results {
		x := x.(map[string]any)
		if level := x["level"].(string); !slices.Contains([]string{"none", "note", "warning", "error"}, level) {
			t.Errorf("level %q", level)
		}
		if id := rules[int(x["ruleIndex"].(float64))].(map[string]any)["id"]; id != x["ruleId"] {
			t.Errorf("rule %v has the index of %v", x["ruleId"], id)
		}
		uri := x["locations"].([]any)[0].(map[string]any)["physicalLocation"].(map[string]any)["artifactLocation"].(map[string]any)["uri"].(string)
		if !strings.HasPrefix(uri, "some%20where/hostile/") {
			t.Errorf("uri %q", uri)
		}
	}
}

// TestEveryRuleFindsSomething: the model made by hand, and what follows, meet
// each rule but for keras-code's bytecode, which is a model of its own.
func TestEveryRuleFindsSomething(t *testing.T) {
	found := map[string]bool{}
	note := func(r *scan.Report, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range r.Findings {
			found[f.Rule] = true
		}
	}
	note(scan.Dir(t.Context(), os.DirFS("../../../cmd/cairn/testdata/hostile"), "hostile", nil))
	note(scan.Bytes(t.Context(), []byte("no model"), "x.pb", nil))
	lambda := `meta_graphs { object_graph_def { nodes { user_object { identifier: "_tf_keras_layer" metadata: '{"class_name": "Lambda", "name": "shout"}' } } } }`
	note(scan.Dir(t.Context(), fstest.MapFS{"saved_model.pbtxt": {Data: []byte(lambda)}}, "lambda", nil))
	for _, r := range scan.Rules() {
		if !found[r.ID] {
			t.Errorf("nothing was found by %s", r.ID)
		}
	}
}

// TestAGraphDefIsScannedToo: a frozen graph has no MetaGraph around it.
func TestAGraphDefIsScannedToo(t *testing.T) {
	// node { name: "a" op: "WriteFile" input: "^b" } node { name: "b" op: "NoOp" input: "^a" }
	b := []byte("\x0a\x12\x0a\x01a\x12\x09WriteFile\x1a\x02^b\x0a\x0d\x0a\x01b\x12\x04NoOp\x1a\x02^a")
	r, err := scan.Bytes(t.Context(), b, "frozen.pb", nil)
	if err != nil {
		t.Fatal(err)
	}
	var rules []string
	for _, f := range r.Findings {
		rules = append(rules, f.Rule)
	}
	if !slices.Contains(rules, "file-write") || !slices.Contains(rules, "cycle") {
		t.Errorf("found %v: %v", rules, r.Findings)
	}
}

// TestLongChainsAndRingsAreScannedInLittleTime: 20,000 functions that call each
// other in a ring, and as many nodes in a chain.
func TestLongChainsAndRingsAreScannedInLittleTime(t *testing.T) {
	const n = 20_000
	var b strings.Builder
	b.WriteString("meta_graphs { graph_def { library {")
	for i := range n {
		fmt.Fprintf(&b, "function { signature { name: 'f%d' } node_def { name: 'c' op: 'f%d' } }\n", i, (i+1)%n)
	}
	b.WriteString("} } }")
	r, err := scan.Bytes(t.Context(), []byte(b.String()), "ring.pbtxt", nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Findings) != 1 || r.Findings[0].Rule != "recursion" {
		t.Errorf("found %+v", r.Findings)
	}
}
