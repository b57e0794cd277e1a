package scan_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/savedmodel"
	"github.com/cairnml/cairn/savedmodel/scan"
)

// schema lists the properties of SARIF 2.1.0's objects that a scan writes, with
// their kinds. Required ones have a "!"; nested objects have the name of their
// type.
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

// conforms reports the differences between v and the schema's object.
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
	r, err := scan.Dir(t.Context(), os.DirFS("../../cmd/cairn/testdata/hostile"), "some where/hostile", nil)
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

// TestEveryRuleFindsSomething checks that a handwritten model and some more
// have a finding for each rule. The bytecode of keras-code has a model of its
// own test, and so has the rule more.
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
	note(scan.Dir(t.Context(), os.DirFS("../../cmd/cairn/testdata/hostile"), "hostile", nil))
	note(scan.Bytes(t.Context(), []byte("no model"), "x.pb", nil))
	note(scan.Bytes(t.Context(), []byte(`meta_graphs { graph_def { node { name: "a" op: "Abort" } node { name: "p" op: "Print" } } }`), "x.pbtxt", nil))
	lambda := `meta_graphs { object_graph_def { nodes { user_object { identifier: "_tf_keras_layer" metadata: '{"class_name": "Lambda", "name": "shout"}' } } } }`
	note(scan.Dir(t.Context(), fstest.MapFS{"saved_model.pbtxt": {Data: []byte(lambda)}}, "lambda", nil))
	for _, r := range scan.Rules() {
		if !found[r.ID] && r.ID != "more" {
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

// TestLongChainsAndCyclesAreScannedInLinearTime: 20,000 functions that call each
// other in a ring, and as many nodes in a chain.
func TestLongChainsAndCyclesAreScannedInLinearTime(t *testing.T) {
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

// The names that public scanners look for: modelscan 0.8 (settings.py),
// TensorAbuse (TensorDetect/settings.py) and modelaudit
// (suspicious_symbols.py). Names that are no ops of TensorFlow's are unknown
// ops.
var publicLists = map[string]string{
	"modelscan": `ReadFile WriteFile MatchingFiles PyFunc EagerPyFunc WholeFileReader`,
	"TensorAbuse": `ReadFile FixedLengthRecordDataset FixedLengthRecordDatasetV2 CSVDataset CSVDatasetV2 ExperimentalCSVDataset ImmutableConst
		InitializeTableFromTextFile InitializeTableFromTextFileV2 WriteFile SaveV2 Save SaveSlices PrintV2 MatchingFiles MatchingFilesDataset
		ExperimentalMatchingFilesDataset DebugIdentity DebugIdentityV2 DebugIdentityV3 DistributedSave RpcCall RpcClient RpcServer RpcServerRegister
		RegisterDataset RegisterDatasetV2 DataServiceDataset DataServiceDatasetV2 DataServiceDatasetV3 DataServiceDatasetV4 SqlDataset`,
	"modelaudit": `ReadFile WriteFile MergeV2Checkpoints Save SaveV2 LoadAndRemapMatrix RestoreV2 LookupTableImport InitializeTable LookupTableImportV2
		InitializeTableV2 PyFunc PyFuncStateless EagerPyFunc PyCall ShellExecute ExecuteOp SystemConfig QueueEnqueue QueueEnqueueV2 QueueDequeue
		QueueDequeueV2 QueueEnqueueMany QueueDequeueMany Print PrintV2 Assert Abort DecodeRaw DecodeJpeg DecodePng`,
	"Cairn's": `CacheDatasetV2 DatasetFromGraph DumpTensor CalibrationStatisticsSaver FixedUnigramCandidateSampler Skipgram SnapshotDatasetV2
		LMDBDataset GenerateVocabRemapping MlirPassthroughOp XlaCustomCallV2 FileSystemSetConfiguration CreateSummaryFileWriter WriteScalarSummary
		_Send RemoteCall CollectiveReduceV2 DecodeProtoV2`,
}

// harmlessOnly are ops of the lists that reach nothing outside of the model as
// the test has them: these are notes.
const harmlessOnly = `PrintV2 Print Assert DecodeRaw DecodeJpeg DecodePng InitializeTable InitializeTableV2 LookupTableImport LookupTableImportV2
	QueueEnqueue QueueEnqueueV2 QueueDequeue QueueDequeueV2 QueueEnqueueMany QueueDequeueMany`

// attributes are those that an op needs to reach something.
var attributes = map[string]string{
	"DebugIdentity":                `attr { key: "debug_urls" value { list { s: "grpc://example.com:80" } } }`,
	"DebugIdentityV2":              `attr { key: "debug_urls" value { list { s: "grpc://example.com:80" } } }`,
	"DebugIdentityV3":              `attr { key: "debug_urls" value { list { s: "file:///tmp/x" } } }`,
	"FixedUnigramCandidateSampler": `attr { key: "vocab_file" value { s: "/etc/passwd" } }`,
	"Skipgram":                     `attr { key: "filename" value { s: "/etc/passwd" } }`,
	"DecodeProtoV2":                `attr { key: "descriptor_source" value { s: "/etc/passwd" } }`,
}

// outputs returns the attributes that determine an op's outputs.
func outputs(op string) string {
	d := graph.LookupOp(op)
	if d == nil {
		return ""
	}
	var b strings.Builder
	seen := map[string]bool{"": true}
	attr := func(name, value string) {
		if !seen[name] && !d.Attr(name).HasDefault() {
			fmt.Fprintf(&b, "attr { key: '%s' value { %s } } ", name, value)
		}
		seen[name] = true
	}
	for _, o := range d.Outputs {
		attr(o.TypeAttr, "type: DT_FLOAT")
		attr(o.NumberAttr, "i: 1")
		attr(o.TypeListAttr, "list { type: DT_FLOAT }")
	}
	return b.String()
}

// graphOf returns a serialized GraphDef with one node.
func graphOf(node string) string {
	m, err := savedmodel.UnmarshalText([]byte("meta_graphs { graph_def { "+node+" } }"), nil)
	if err != nil {
		panic(err)
	}
	g, err := m.MetaGraphs[0].Graph()
	if err != nil {
		panic(err)
	}
	b, err := g.Marshal()
	if err != nil {
		panic(err)
	}
	return string(b)
}

func octal(s string) string {
	var b strings.Builder
	for i := range len(s) {
		fmt.Fprintf(&b, "\\%03o", s[i])
	}
	return b.String()
}

// TestOpsOfPublicListsAreFoundEverywhere checks a graph, a function, a
// dataset's function, the ops that run at loading, and a serialized graph.
func TestOpsOfPublicListsAreFoundEverywhere(t *testing.T) {
	const meta = "saved_model_schema_version: 1 meta_graphs { meta_info_def { tags: 'serve' } graph_def { %s } signature_def { key: '%s' value { outputs { key: 'y' value { name: '%s' dtype: DT_FLOAT } } } } }"
	const library = " library { function { signature { name: 'f' control_output: 'a' } %s control_ret { key: 'a' value: 'op' } } }"
	for list, names := range publicLists {
		for _, op := range strings.Fields(names) {
			node := "{ name: 'op' op: '" + op + "' " + attributes[op] + outputs(op) + " }"
			for place, text := range map[string]string{
				"graph":            fmt.Sprintf(meta, "node "+node, "serving_default", "op:0"),
				"function":         fmt.Sprintf(meta, "node { name: 'call' op: 'StatefulPartitionedCall' attr { key: 'f' value { func { name: 'f' } } } attr { key: 'Tin' value { list {} } } attr { key: 'Tout' value { list {} } } }"+fmt.Sprintf(library, "node_def "+node), "serving_default", "call"),
				"dataset function": fmt.Sprintf(meta, "node { name: 'data' op: 'MapDataset' attr { key: 'f' value { func { name: 'f' } } } }"+fmt.Sprintf(library, "node_def "+node), "serving_default", "data:0"),
				"initializer":      fmt.Sprintf(meta, "node "+node, "__saved_model_init_op", "op"),
				"serialized graph": fmt.Sprintf(meta, "node { name: 'g' op: 'Const' attr { key: 'dtype' value { type: DT_STRING } } attr { key: 'value' value { tensor { dtype: DT_STRING tensor_shape {} string_val: '"+octal(graphOf("node "+node))+"' } } } } node { name: 'data' op: 'DatasetFromGraph' input: 'g' }", "serving_default", "data:0"),
			} {
				r, err := scan.Bytes(t.Context(), []byte(text), "m.pbtxt", nil)
				if err != nil {
					t.Fatalf("%s in a %s: %v", op, place, err)
				}
				worst, found := scan.Note, false
				for _, f := range r.Findings {
					if f.Op == op && strings.Contains(f.Message, op) {
						found, worst = true, max(worst, f.Severity)
					}
				}
				if least := scan.Warning; !found || worst < least && !slices.Contains(strings.Fields(harmlessOnly), op) {
					t.Errorf("%s of %s in a %s: %v", op, list, place, r.Findings)
				}
			}
		}
	}
}

// TestCleanModelsAreSilent scans all SavedModels and GraphDefs that tests load.
func TestCleanModelsAreSilent(t *testing.T) {
	var paths []string
	for _, pattern := range []string{"../testdata/models/*", "../testdata/graphs/*.pb*", "../../examples/*/model", "../../inspect/testdata/tf2.21/*/saved_model.pb", "../../checkpoint/testdata/tf2.21/saved_model"} {
		found, err := filepath.Glob(pattern)
		if err != nil || len(found) == 0 {
			t.Fatal(pattern, found, err)
		}
		paths = append(paths, found...)
	}
	scanned := 0
	for _, path := range paths {
		r, err := scan.Path(t.Context(), path, nil)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, errors.ErrUnsupported) {
			continue // no model
		}
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		scanned++
		var loud []string
		for _, f := range r.Findings {
			if f.Severity > scan.Note {
				loud = append(loud, f.Rule+" "+f.Op)
			}
		}
		slices.Sort(loud)
		if got := strings.Join(slices.Compact(loud), ", "); got != "" {
			t.Errorf("%s: found %s", path, got)
		}
	}
	if scanned < 50 {
		t.Errorf("%d models were scanned", scanned)
	}
}

// TestSerializedGraphsAreBounded checks serialized graphs inside of each other,
// and many nodes that run the same one.
func TestSerializedGraphsAreBounded(t *testing.T) {
	node := "node { name: 'op' op: 'WriteFile' }"
	for range 12 {
		node = "node { name: 'g' op: 'Const' attr { key: 'dtype' value { type: DT_STRING } } attr { key: 'value' value { tensor { dtype: DT_STRING tensor_shape {} string_val: '" + octal(graphOf(node)) + "' } } } } node { name: 'data' op: 'DatasetFromGraph' input: 'g' }"
	}
	r, err := scan.Bytes(t.Context(), []byte("meta_graphs { graph_def { "+node+" } }"), "m.pbtxt", nil)
	if err != nil {
		t.Fatal(err)
	}
	deepest := ""
	for _, f := range r.Findings {
		if f.Rule == "malformed" {
			deepest = f.Message + " " + f.Function
		}
	}
	if !strings.Contains(deepest, "there is one more data: data: ") {
		t.Errorf("found %q in %v", deepest, r.Findings)
	}
}

// TestTablesOfAssetsAreNoted, those of other files are warnings.
func TestTablesOfAssetsAreNoted(t *testing.T) {
	r, err := scan.Dir(t.Context(), os.DirFS("../testdata/models/assets"), "assets", nil)
	if err != nil {
		t.Fatal(err)
	}
	notes := 0
	for _, f := range r.Findings {
		if f.Severity > scan.Note {
			t.Errorf("found %+v", f)
		}
		if strings.Contains(f.Message, "reads an asset of the model") {
			notes++
		}
	}
	if notes != 2 {
		t.Errorf("%d notes of assets: %v", notes, r.Findings)
	}
	const table = `saved_model_schema_version: 1 meta_graphs { graph_def {
		node { name: "file" op: "Const" attr { key: "dtype" value { type: DT_STRING } } attr { key: "value" value { tensor { dtype: DT_STRING tensor_shape {} string_val: "%s" } } } }
		node { name: "table" op: "HashTableV2" } node { name: "other" op: "Const" attr { key: "dtype" value { type: DT_STRING } } attr { key: "value" value { tensor { dtype: DT_STRING tensor_shape {} string_val: "/etc/shadow" } } } }
		node { name: "v" op: "VarHandleOp" attr { key: "dtype" value { type: DT_STRING } } attr { key: "shared_name" value { s: "v" } } }
		node { name: "set" op: "AssignVariableOp" input: "v" input: "file" }
		%s
		node { name: "init" op: "InitializeTableFromTextFileV2" input: "table" input: "%s" }
	} asset_file_def { tensor_info { name: "file:0" } filename: "words.txt" } signature_def { key: "__saved_model_init_op" value { outputs { key: "y" value { name: "init" } } } } }`
	for _, c := range []struct {
		name, more, file string
		want             scan.Severity
	}{
		{"the asset", "", "file", scan.Note},
		{"through a variable", `node { name: "get" op: "ReadVariableOp" input: "v" }`, "get", scan.Note},
		{"another file", "", "other", scan.Warning},
		{"a variable with another value", `node { name: "get" op: "ReadVariableOp" input: "v" } node { name: "again" op: "AssignVariableOp" input: "v" input: "other" }`, "get", scan.Warning},
		{"a variable by another handle", `node { name: "get" op: "ReadVariableOp" input: "v" } node { name: "v2" op: "VarHandleOp" attr { key: "dtype" value { type: DT_STRING } } attr { key: "shared_name" value { s: "v" } } } node { name: "again" op: "AssignVariableOp" input: "v2" input: "other" }`, "get", scan.Warning},
		{"a variable that a call may change", `node { name: "get" op: "ReadVariableOp" input: "v" } node { name: "call" op: "DestroyResourceOp" input: "v" }`, "get", scan.Warning},
	} {
		r, err := scan.Bytes(t.Context(), []byte(fmt.Sprintf(table, "/home/me/words.txt", c.more, c.file)), "m.pbtxt", nil)
		if err != nil {
			t.Fatal(err)
		}
		var got []scan.Severity
		for _, f := range r.Findings {
			if f.Rule == "file-read" {
				got = append(got, f.Severity)
			}
		}
		if len(got) != 1 || got[0] != c.want {
			t.Errorf("%s: %v, want %v (%v)", c.name, got, c.want, r.Findings)
		}
	}
}

// TestNotesDontHideFindings checks that a model with more notes than a report lists still
// has its severe findings in the report, and that the report says how many are missing.
func TestNotesDontHideFindings(t *testing.T) {
	var b strings.Builder
	for i := range 10_050 {
		fmt.Fprintf(&b, "node { name: 'c%d' op: 'Const' attr { key: 'dtype' value { type: DT_STRING } } attr { key: 'value' value { tensor { dtype: DT_STRING tensor_shape {} string_val: '/etc/a%d' } } } }\n", i, i)
	}
	b.WriteString("node { name: 'w' op: 'WriteFile' input: 'c0' input: 'c1' }")
	r, err := scan.Bytes(t.Context(), []byte("meta_graphs { graph_def { "+b.String()+" } }"), "m.pbtxt", nil)
	if err != nil {
		t.Fatal(err)
	}
	if worst, _ := r.Worst(); worst != scan.High {
		t.Errorf("the worst finding of %d is %v", len(r.Findings), worst)
	}
	more := 0
	for _, f := range r.Findings {
		if f.Rule == "more" {
			more += f.Count
		}
	}
	if more != 50 {
		t.Errorf("the report says that %d findings are not listed, want 50", more)
	}
}
