package grad_test

import (
	"os"
	"strings"
	"testing"

	"github.com/cairnml/cairn/grad"
	"github.com/cairnml/cairn/kernel"
)

// registry returns the ops that TensorFlow's registry of gradients knows, and
// whether they have one.
func registry(t *testing.T) map[string]bool {
	t.Helper()
	text, err := os.ReadFile("testdata/tf2.21/gradients.txt")
	if err != nil {
		t.Fatal(err)
	}
	ops := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		word, op, _ := strings.Cut(strings.TrimSpace(line), " ")
		ops[op] = word == "yes"
	}
	return ops
}

// unwritten are ops with a kernel that TensorFlow differentiates and we don't.
var unwritten = map[string]string{
	"SparseSparseMaximum": "TensorFlow's rule refuses it",
	"ApproxTopK":          "whoever trains takes TopKV2, which gives the same",
	"SparseSparseMinimum": "TensorFlow's rule refuses it",
	"SparseDenseCwiseAdd": "TensorFlow's rule refuses it",
}

func init() {
	for _, op := range []string{"Read", "Write", "Gather", "Scatter", "Concat", "Split"} {
		for version, reason := range map[string]string{
			"":   "the flow of a TensorArray by reference begins with any number, by which nobody can tell it",
			"V2": "the flow of a TensorArray by name begins with any number, by which nobody can tell it",
			"V3": "arrays become lists in functions that are differentiated",
		} {
			unwritten["TensorArray"+op+version] = reason
		}
	}
}

// more are ops that TensorFlow has no gradient of.
var more = map[string]string{
	"Snapshot":                "an identity",
	"Bitcast":                 "constant: bits have no gradient",
	"NonMaxSuppressionV3":     "constant: its outputs are places",
	"NonMaxSuppressionV4":     "constant: its outputs are places",
	"SoftsignGrad":            "the second derivative",
	"MaxPoolGradGradV2":       "as MaxPoolGradGrad's",
	"EmptyTensorList":         "constant: a list of nothing",
	"TensorListReserve":       "constant: a list of nothing",
	"PartitionedCall":         "TensorFlow makes the gradients of calls elsewhere",
	"StatefulPartitionedCall": "TensorFlow makes the gradients of calls elsewhere",
}

func TestRulesAreThoseOfTensorFlowsRegistry(t *testing.T) {
	known, rules, kernels := registry(t), grad.All(), kernel.All()
	for op, differentiable := range known {
		switch has := rules.Lookup(op) != nil; {
		case kernels.Lookup(op) == nil:
		case has && unwritten[op] != "":
			t.Errorf("%s has a rule: unwritten is out of date", op)
		case !has && unwritten[op] == "":
			t.Errorf("%s has no rule; TensorFlow's registry: %v", op, differentiable)
		}
	}
	for _, op := range rules.Ops() {
		_, ok := known[op]
		if ok && more[op] != "" {
			t.Errorf("TensorFlow has a gradient of %s: more is out of date", op)
		}
		if !ok && more[op] == "" {
			t.Errorf("TensorFlow has no gradient of %s", op)
		}
	}
}
