package main

import (
	"strings"
	"testing"
)

// TestVariablesOfKeras3ExportsAreShownByName checks the verbs that print or accept names.
func TestVariablesOfKeras3ExportsAreShownByName(t *testing.T) {
	const export = "../../inspect/testdata/tf2.21/keras3_export"
	for want, args := range map[string][]string{
		"variables/0                   sequential/dense/kernel": {"ls", export},
		"17 tensors, 35 parameters":                             {"ls", export, "*"},
		"sequential/dense_1/bias":                               {"stat", export, "dense_1"},
		`"variable":"sequential/dense_1/kernel"`:                {"ls", export, "--json"},
		"├─ 0  float32 [4,3], sequential/dense/kernel":          {"show", export},
		"cast    variables/0 to float64":                        {"edit", export, "-n", "--cast", "sequential/dense/kernel=float64"},
	} {
		if out, stderr, code := cairn(t, args...); code != 0 || !strings.Contains(out, want) {
			t.Errorf("%v: %d, no %q\n%s%s", args, code, want, out, stderr)
		}
	}
	if out, stderr, code := cairn(t, "cat", export, "sequential/dense_1/bias"); code != 0 || strings.Count(out, " ") < 1 {
		t.Errorf("cat: %d\n%s%s", code, out, stderr)
	}
	if out, _, _ := cairn(t, "show", export); strings.Contains(out, "_all_variables") || strings.Contains(out, "non_trainable") {
		t.Errorf("show has Keras's own lists:\n%s", out)
	}
}
