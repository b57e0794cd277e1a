package graph

import "testing"

func TestEveryStatefulOpHasAnEffectClass(t *testing.T) {
	n := 0
	for d := range Ops() {
		takesRef := false
		for i := range d.Inputs {
			takesRef = takesRef || d.Inputs[i].Ref
		}
		if _, ok := effectOf(d.Name); !ok && references()[d.Name] == nil && (d.Stateful || takesRef) {
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
