package scan

import (
	"fmt"
	"strings"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/tensor"
)

// Package graph has the table of effects of ops outside of the model. The engine refuses access to files
// by the same table. This file decides the severity of findings. The limits are Cairn's and may change.

// checkpointOps are the ops of a model's own saver, which nearly every model has.
var checkpointOps = map[string]bool{
	"SaveV2": true, "RestoreV2": true, "MergeV2Checkpoints": true, "Save": true, "SaveSlices": true, "Restore": true, "RestoreSlice": true,
}

// effects reports the effects of a node outside of the model, by package
// graph's table of effects.
func (s *scanner) effects(f Finding, n *graph.Node) {
	effect := n.OwnEffect() & graph.Outside
	if effect == 0 {
		s.noted(f, n)
		return
	}
	refs := n.References()
	if effect&graph.Code != 0 {
		s.code(f, n, refs)
	}
	if effect&graph.Network != 0 {
		f.Rule, f.Severity, f.Message = ruleNetwork, High, n.Op+" talks to other processes or devices"+named(refs, graph.Network)
		s.add(f)
	}
	saver := checkpointOps[n.Op] && (f.Reached == bySaver || f.Reached == "")
	switch {
	case effect&graph.FileWrites != 0:
		f.Rule, f.Severity, f.Message = ruleWrite, High, n.Op+" writes files"
		if saver {
			f.Severity = Note // every model's saver has these
		} else {
			f.Message += named(refs, graph.FileWrites)
		}
		s.add(f)
	case effect&graph.FileReads != 0:
		f.Rule, f.Severity, f.Message = ruleRead, Warning, n.Op+" reads files"
		switch {
		case saver:
			f.Severity = Note
		case s.assets.all(refs):
			f.Severity, f.Message = Note, n.Op+" reads an asset of the model"
		default:
			f.Message += named(refs, graph.FileReads)
		}
		s.add(f)
	}
}

// maxNamed is the number of names that a message quotes.
const maxNamed = 3

// named returns the names that references of that effect have: `: "/etc/passwd"`.
func named(refs []graph.Reference, effect graph.Effect) string {
	var list []string
	for _, r := range refs {
		if r.Effect&effect == 0 || !r.Known {
			continue
		}
		for _, name := range r.Names {
			if len(list) == maxNamed {
				return ": " + strings.Join(list, ", ") + " …"
			}
			list = append(list, fmt.Sprintf("%q", clip(name)))
		}
	}
	if list == nil {
		return ""
	}
	return ": " + strings.Join(list, ", ")
}

// code reports a node that runs code other than a graph. It scans the graph of
// a node that runs a graph in a string of the model.
func (s *scanner) code(f Finding, n *graph.Node, refs []graph.Reference) {
	f.Rule, f.Severity, f.Message = ruleCode, High, n.Op+" runs code that is no graph"
	if n.Op != "DatasetFromGraph" {
		s.add(f)
		return
	}
	for _, r := range refs {
		if !r.Known || len(r.Names) != 1 {
			f.Message = "DatasetFromGraph runs a graph that is not in the model"
			s.add(f)
			continue
		}
		f.Severity, f.Message = Warning, "DatasetFromGraph runs a graph that a string of the model holds"
		s.add(f)
		s.serialized(f, r.Names[0])
	}
}

// notedOps are ops that other scanners list, but that have no effect outside of
// the model, with a description of each.
var notedOps = map[string]string{
	"Print": "prints what it gets", "PrintV2": "prints what it gets", "Assert": "stops the call if a condition fails",
	"DecodeRaw": "decodes bytes", "DecodeJpeg": "decodes bytes", "DecodePng": "decodes bytes",
	"InitializeTable": "fills a table", "InitializeTableV2": "fills a table", "LookupTableImport": "fills a table", "LookupTableImportV2": "fills a table",
	"QueueEnqueue": "keeps values for other calls", "QueueEnqueueV2": "keeps values for other calls",
	"QueueEnqueueMany": "keeps values for other calls", "QueueEnqueueManyV2": "keeps values for other calls",
	"QueueDequeue": "takes values of other calls", "QueueDequeueV2": "takes values of other calls",
	"QueueDequeueMany": "takes values of other calls", "QueueDequeueManyV2": "takes values of other calls",
	"DebugIdentity": "is a debugger's, and names no address", "DebugIdentityV2": "is a debugger's, and names no address", "DebugIdentityV3": "is a debugger's, and names no address",
}

// noted reports ops without an effect outside of the model that other scanners
// list.
func (s *scanner) noted(f Finding, n *graph.Node) {
	if n.Op == "Abort" {
		f.Rule, f.Severity, f.Message = ruleAbort, Warning, "Abort ends the process"
		s.add(f)
		return
	}
	if words, ok := notedOps[n.Op]; ok && graph.LookupOp(n.Op) != nil {
		f.Rule, f.Severity, f.Message = ruleNoted, Note, n.Op+" "+words
		s.add(f)
	}
}

// maxElements is the number of elements, 1 GiB of float32, above which a tensor that the graph makes out
// of nothing is reported.
const maxElements = 1 << 28

// makers are the ops that make a tensor of any size, with the index of the
// input that has the size.
var makers = map[string]int{
	"Fill": 0, "RandomUniform": 0, "RandomStandardNormal": 0, "TruncatedNormal": 0, "RandomUniformInt": 0, "RandomGamma": 0, "Empty": 0,
	"StatelessRandomUniform": 0, "StatelessRandomNormal": 0, "StatelessRandomUniformV2": 0, "StatelessRandomNormalV2": 0,
	"StatefulUniform": 2, "StatefulStandardNormalV2": 2, "BroadcastTo": 1, "ScatterNd": 2, "TensorListReserve": 1, "SparseToDense": 1,
}

// sizes looks for tensors that would fill the memory.
func (s *scanner) sizes(f Finding, n *graph.Node) {
	f.Rule, f.Severity = ruleShape, Warning
	if at, ok := makers[n.Op]; ok && at < len(n.In) {
		if t := constant(n.In[at].Node); t != nil {
			if count, large := product(t); large {
				f.Message = fmt.Sprintf("%s makes a tensor of %s elements", n.Op, count)
				s.add(f)
			}
		}
	}
	if n.Op == "Range" && len(n.In) == 3 {
		if c := rangeLen(n); c > maxElements {
			f.Message = fmt.Sprintf("Range makes a tensor of %.3g elements", c)
			s.add(f)
		}
	}
	if n.Op == "Placeholder" {
		return // a Placeholder declares a shape and allocates nothing
	}
	for _, a := range n.Attrs {
		if p, ok := a.Value().(graph.PartialShape); ok && a.Name == "shape" && p.HasRank() {
			if count, large := productOf(p.Dims()); large {
				f.Message = fmt.Sprintf("%s has the shape %v, which is %s elements", n.Op, p, count)
				s.add(f)
			}
		}
	}
	if n.Op != "Const" {
		return
	}
	if t := n.Attrs.Tensor("value"); t != nil && t.Len() > maxElements {
		f.Message = fmt.Sprintf("Const stands for %d elements", t.Len())
		s.add(f)
	}
}

// constant returns the value of a constant, also through up to 16 ops that pass it
// on unchanged; nil if n is none.
func constant(n *graph.Node) *tensor.Tensor {
	for range 16 {
		switch n.Op {
		case "Const":
			return n.Attrs.Tensor("value")
		case "Identity", "StopGradient", "Snapshot":
			if len(n.In) == 0 {
				return nil
			}
			n = n.In[0].Node
		default:
			return nil
		}
	}
	return nil
}

// product multiplies the elements of a shape vector, and reports whether that is
// too much.
func product(t *tensor.Tensor) (words string, large bool) {
	if t.Len() > 256 {
		return fmt.Sprintf("%d dimensions and so many", t.Len()), true
	}
	dims := make([]int, 0, t.Len())
	if t.DType() != tensor.Int32 && t.DType() != tensor.Int64 {
		return "", false
	}
	c, err := tensor.Cast(t, tensor.Int64)
	if err != nil {
		return "", false
	}
	for _, d := range tensor.Values[int64](c) {
		dims = append(dims, int(d))
	}
	return productOf(dims)
}

// productOf multiplies sizes, and reports whether the product is over maxElements.
func productOf(dims []int) (words string, large bool) {
	p := 1.0
	for _, d := range dims {
		if d < 0 {
			return "", false // the caller of the function decides the size
		}
		p *= float64(d)
	}
	return fmt.Sprintf("%.3g", p), p > maxElements
}

// rangeLen returns the number of elements of a Range with constant inputs; 0 if they aren't constant.
func rangeLen(n *graph.Node) float64 {
	var v [3]float64
	for i, in := range n.In {
		t := constant(in.Node)
		if t == nil || t.Len() != 1 || t.DType() == tensor.String {
			return 0
		}
		c, err := tensor.Cast(t, tensor.Float64)
		if err != nil {
			return 0
		}
		v[i] = tensor.Values[float64](c)[0]
	}
	if v[2] == 0 {
		return 0
	}
	return (v[1] - v[0]) / v[2]
}

// maxPathLen is the number of bytes up to which a constant may be a path.
const maxPathLen = 1024

// paths looks for constants that lead out of the model.
func (s *scanner) paths(f Finding, n *graph.Node) {
	if n.Op != "Const" || f.Reached == bySaver || n.Attrs.Type("dtype", tensor.Invalid) != tensor.String {
		return
	}
	t := n.Attrs.Tensor("value")
	if t == nil || t.Len() > 16 {
		return
	}
	for _, v := range t.Strings() {
		if why := pathWords(v); why != "" {
			f.Rule, f.Severity, f.Message = rulePath, Note, fmt.Sprintf("the constant %q %s", clip(v), why)
			s.add(f)
		}
	}
}

// pathWords describes the kind of path that a string is; "" if it is none.
func pathWords(v string) string {
	if len(v) > maxPathLen || len(v) < 3 || strings.ContainsAny(v, "\n\x00") {
		return ""
	}
	scheme, rest, isURL := strings.Cut(v, "://")
	switch {
	case isURL && rest != "" && len(scheme) > 1 && len(scheme) < 12 && !strings.ContainsAny(scheme, " \"'/"):
		return "is an address"
	case strings.HasPrefix(v, "../") || strings.Contains(v, "/../"):
		return "leads to the directory above"
	case strings.HasPrefix(v, "/") && strings.Count(v, "/") > 1 && !strings.ContainsAny(v, " \"<>"):
		return "is a path of somebody's machine"
	case strings.HasPrefix(v, "~/"):
		return "is a path of somebody's home"
	}
	return ""
}
