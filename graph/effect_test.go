package graph

import "testing"

func TestEveryStatefulOpHasAnEffectClass(t *testing.T) {
	n := 0
	for d := range Ops() {
		takesRef := false
		for i := range d.Inputs {
			takesRef = takesRef || d.Inputs[i].Ref
		}
		if _, ok := effectOf(d.Name); !ok && referencesByOp()[d.Name] == nil && (d.Stateful || takesRef) {
			t.Errorf("%s is stateful, and effectList doesn't say what it does", d.Name)
		}
		n++
	}
	for op := range effectTable().exact {
		if LookupOp(op) == nil {
			t.Errorf("effectList has %s, which TensorFlow doesn't define", op)
		}
	}
	for _, p := range effectTable().prefixes {
		if p.effect == 0 {
			continue
		}
		for d := range Ops() {
			if len(d.Name) >= len(p.prefix) && d.Name[:len(p.prefix)] == p.prefix && !d.Stateful && !takesRefs(d) && !knownStateless[d.Name] {
				if _, exact := effectTable().exact[d.Name]; !exact {
					t.Errorf("%s* gives %s the effect %v, though TensorFlow says that it is stateless", p.prefix, d.Name, p.effect)
				}
			}
		}
	}
	if n < 1900 {
		t.Errorf("only %d ops", n)
	}
}

func takesRefs(d *OpDef) bool {
	for i := range d.Inputs {
		if d.Inputs[i].Ref {
			return true
		}
	}
	return false
}

// knownStateless are ops with an effect that their definitions don't show.
var knownStateless = map[string]bool{
	"DebugIdentity": true, "DebugNumericSummary": true, "DebugNumericSummaryV2": true,
	"TensorArrayReadV2": true, "TensorArrayGatherV2": true, "TensorArrayConcatV2": true, "TensorArraySizeV2": true,
	"TensorArrayWriteV2": true, "TensorArrayScatterV2": true, "TensorArraySplitV2": true, "TensorArrayCloseV2": true,
	"SnapshotDataset": true, "SnapshotDatasetV2": true, "RegisterDataset": true, "RegisterDatasetV2": true,
	"InfeedEnqueuePrelinearizedBuffer": true, "TPUCompilationResult": true, "TPUEmbeddingActivations": true,
	"TPUPartitionedCall": true, "TPUPartitionedInput": true, "TPUPartitionedInputV2": true, "TPUPartitionedOutput": true,
	"TPUPartitionedOutputV2": true, "TPUReplicateMetadata": true, "TPUReplicatedInput": true, "TPUReplicatedOutput": true,
}

func TestTheEffectOfACallIsItsFunctions(t *testing.T) {
	pure := NewFunction("pure")
	x, err := pure.AddArg("x", Fact{})
	if err != nil {
		t.Fatal(err)
	}
	pure.AddResult("y", x)
	random := NewFunction("random")
	if err := random.Graph.Add(&Node{Op: "RandomUniform"}); err != nil {
		t.Fatal(err)
	}
	loop := NewFunction("loop") // it calls itself
	if err := loop.Graph.Add(&Node{Op: "StatefulPartitionedCall", Attrs: Attrs{Func("f", loop)}}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		node Node
		want Effect
	}{
		{Node{Op: "StatefulPartitionedCall", Attrs: Attrs{Func("f", pure)}}, 0},
		{Node{Op: "If", Attrs: Attrs{Func("then_branch", pure), Func("else_branch", random)}}, Random},
		{Node{Op: "Case", Attrs: Attrs{Funcs("branches", Callee{Function: random}, Callee{Function: pure})}}, Random},
		{Node{Op: "PartitionedCall", Attrs: Attrs{Func("f", loop)}}, 0},
		{Node{Op: "PartitionedCall", Attrs: Attrs{Call("f", Callee{Name: "missing"})}}, Code},
		{Node{Op: "AssignVariableOp"}, Reads | Writes},
		{Node{Op: "ReadFile"}, FileReads},
		{Node{Op: "MyOwnOp"}, Code},
		{Node{Op: "MatMul"}, 0},
	} {
		if got := c.node.Effect(); got != c.want {
			t.Errorf("%v: %v, want %v", c.node.Op, got, c.want)
		}
	}
}

// TestRandomNumbersAloneHaveNoOtherEffect has the ops that TensorFlow's
// automatic control dependencies leave out, because they change nothing but
// their own random state.
func TestRandomNumbersAloneHaveNoOtherEffect(t *testing.T) {
	for _, op := range []string{"RandomUniform", "RandomUniformInt", "RandomStandardNormal", "ParameterizedTruncatedNormal", "TruncatedNormal",
		"RandomShuffle", "Multinomial", "RandomGamma", "RandomGammaGrad", "RandomPoisson", "RandomPoissonV2"} {
		if e := LookupOp(op).Effect(); e&^Random != 0 {
			t.Errorf("%s: %v", op, e)
		}
	}
}

// TestEffectsOfDeepFunctionsAreFoundOnce has functions that call each other 2000 deep, and
// in a ring at the end. Asking for the effect of each node of each function enters each
// function once.
func TestEffectsOfDeepFunctionsAreFoundOnce(t *testing.T) {
	const n = 2000
	var kept Effects
	var all []*Function
	call := func(f, callee *Function) {
		if err := f.Graph.Add(&Node{Op: "StatefulPartitionedCall", Attrs: Attrs{Func("f", callee)}}); err != nil {
			t.Fatal(err)
		}
	}
	add := func(op string) *Function {
		f := NewFunction("f")
		if op != "" {
			if err := f.Graph.Add(&Node{Op: op}); err != nil {
				t.Fatal(err)
			}
		}
		f.Graph.KeepEffects(&kept)
		all = append(all, f)
		return f
	}
	last, ring, reads := add("RandomUniform"), add(""), add("ReadFile")
	call(last, ring)
	call(ring, last)
	call(ring, reads)
	above := last
	for range n {
		f := add("")
		call(f, above)
		above = f
	}
	top := add("Assert")
	call(top, above)
	for i := range all { // the deepest first, then from the top
		for _, f := range []*Function{all[i], all[len(all)-1-i]} {
			want := Random | FileReads
			switch f {
			case reads:
				want = FileReads
			case top:
				want |= Checks
			}
			if got := f.Effect(); got != want {
				t.Fatalf("function %d: %v, want %v", i, got, want)
			}
			for _, node := range f.Graph.Nodes() {
				if calls := node.Op == "StatefulPartitionedCall"; calls && node.Effect() != kept.OfNode(node) {
					t.Fatalf("node %v: %v, want %v", node, node.Effect(), kept.OfNode(node))
				}
			}
			if f.Stateful() != (f != reads) || kept.Recursive(f) != (f == last || f == ring) {
				t.Errorf("stateful: %v, recursive: %v", f.Stateful(), kept.Recursive(f))
			}
		}
	}
	entered := 0
	kept = Effects{}
	for _, f := range all {
		kept.effects.of(f, func(f *Function) (Effect, []*Function) { entered++; return f.ownEffect() }, func(a, b Effect) Effect { return a | b })
	}
	if entered != len(all) {
		t.Errorf("%d functions were entered %d times", len(all), entered)
	}
}

// TestResultsOfOneNameAreAddedInProportion adds 30,000 results of one name: each gets the
// next number, and no name is tried twice.
func TestResultsOfOneNameAreAddedInProportion(t *testing.T) {
	fn := NewFunction("f")
	x, err := fn.AddArg("x", Fact{})
	if err != nil {
		t.Fatal(err)
	}
	fn.AddResult("y_2", x)
	fn.Results = append(fn.Results, Result{"y", x})
	want := []string{"y_2", "y", "y_1", "y_3", "y_4"}
	for range 30_000 {
		fn.AddResult("y", x)
	}
	for i, name := range want {
		if fn.Results[i].Name != name {
			t.Errorf("result %d is %q, want %q", i, fn.Results[i].Name, name)
		}
	}
	seen := map[string]bool{}
	for _, r := range fn.Results {
		if seen[r.Name] {
			t.Fatalf("there are two results %q", r.Name)
		}
		seen[r.Name] = true
	}
}
