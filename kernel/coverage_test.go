package kernel_test

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/grad"
	"github.com/cairnml/cairn/internal/testkit/opfixture"
	"github.com/cairnml/cairn/kernel"
	"github.com/cairnml/cairn/tensor"
)

var update = flag.Bool("update", false, "write docs/ops.md anew")

// TestTheListOfOpsIsFresh holds docs/ops.md to the tables.
func TestTheListOfOpsIsFresh(t *testing.T) {
	const path = "../docs/ops.md"
	want := coverage(t)
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil || strings.ReplaceAll(string(got), "\r\n", "\n") != want {
		t.Errorf("%s is stale (%v): go test ./kernel -run ListOfOps -update", path, err)
	}
}

// asLists are the ops on arrays that become ops on lists when a function is
// differentiated.
var asLists = []string{"TensorArrayReadV3", "TensorArrayWriteV3", "TensorArrayGatherV3", "TensorArrayScatterV3", "TensorArrayConcatV3", "TensorArraySplitV3"}

func coverage(t *testing.T) string {
	fixtures := opfixture.Load(t, "testdata/tf2.21")
	programs := map[string]int{}
	for _, p := range opfixture.LoadPrograms(t, "testdata/tf2.21/programs") {
		for op := range p.Ops() {
			programs[op] += len(p.Runs)
		}
	}
	for _, p := range opfixture.LoadPrograms(t, fusedPrograms) {
		for op, n := range p.Fused {
			if n != 0 {
				programs[op] += len(p.Runs)
			}
		}
	}
	rules := grad.All()
	var b strings.Builder
	fmt.Fprintf(&b, `# Ops

The %d ops of TensorFlow that have a kernel, written by a test from the tables in kernel/. A precision is how close the
outputs are to TensorFlow's (see engine.Precision). The types are those that the kernel declares for each attribute, all
that the definition allows where there are none (see engine.Types); then come those whose results were compared with TensorFlow 2.21's, and
in how many calls. "Constant" means a gradient of zero almost everywhere, or none that makes sense; "in functions", that
arrays are differentiated as lists, in functions that make them.

| op | family | precision | gradient | types | compared calls | compared types |
|---|---|---|---|---|---|---|
`, kernel.All().Len())
	for family, table := range kernel.Families() {
		table = slices.Clone(table)
		slices.SortFunc(table, func(a, b engine.Kernel) int { return strings.Compare(a.Op, b.Op) })
		for _, k := range table {
			gradient := ""
			if r := rules.Lookup(k.Op); r != nil {
				gradient = "yes"
				if name := runtime.FuncForPC(reflect.ValueOf(r).Pointer()).Name(); strings.HasSuffix(name, "grad.none") {
					gradient = "constant"
				}
			}
			if slices.Contains(asLists, k.Op) {
				gradient = "in functions"
			}
			var types []string
			for _, d := range tensor.DTypes() {
				if slices.ContainsFunc(fixtures[k.Op], func(f opfixture.Fixture) bool { return firstType(f) == d.String() }) {
					types = append(types, d.String())
				}
			}
			fmt.Fprintf(&b, "| %s | %s | %v | %s | %s | %d | %s |\n", k.Op, family, k.Precision, gradient, declared(&k), len(fixtures[k.Op])+programs[k.Op], strings.Join(types, " "))
		}
	}
	return b.String()
}

// declared lists the types of each attribute that the op's definition allows.
func declared(k *engine.Kernel) string {
	var parts []string
	for _, attr := range slices.Sorted(maps.Keys(k.Types)) {
		allowed := k.Definition().Attr(attr).AllowedTypes
		var names []string
		for _, d := range k.Types[attr] {
			if allowed == nil || slices.Contains(allowed, d) {
				names = append(names, d.String())
			}
		}
		parts = append(parts, attr+": "+strings.Join(names, " "))
	}
	return strings.Join(parts, "; ")
}

// firstType returns the element type that a call is about.
func firstType(f opfixture.Fixture) string {
	for _, list := range [][]opfixture.Tensor{f.Out, f.In} {
		for _, x := range list {
			if len(f.In) > 0 && x.DType == "bool" && f.In[0].DType != "bool" {
				continue // a comparison is about its inputs
			}
			return x.DType
		}
	}
	return ""
}
