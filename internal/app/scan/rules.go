package scan

import (
	"fmt"
	"strings"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/tensor"
)

// writers are the ops that change files, by the beginnings of their names; all
// other ops with the effect graph.Files only read.
var writers = []string{
	"WriteFile", "Save", "MergeV2Checkpoints", "DistributedSave", "SnapshotDataset", "CacheDataset", "DatasetToTFRecord",
	"ExperimentalDatasetToTFRecord", "SummaryWriter", "CreateSummary", "CloseSummaryWriter", "FlushSummaryWriter", "Write", "ImportEvent",
	"FileSystemSetConfiguration",
}

// checkpointOps are in nearly every model: its own saver.
var checkpointOps = map[string]bool{
	"SaveV2": true, "RestoreV2": true, "MergeV2Checkpoints": true, "Save": true, "SaveSlices": true, "Restore": true, "RestoreSlice": true,
}

// effects looks at what running the node would reach.
func (s *scanner) effects(f Finding, n *graph.Node) {
	var effect graph.Effect
	if d := graph.LookupOp(n.Op); d != nil {
		effect = d.Effect()
	} else {
		return
	}
	if effect&graph.Code != 0 {
		f.Rule, f.Severity, f.Message = ruleCode, High, n.Op+" runs code that is no graph"
		s.add(f)
	}
	if effect&graph.Network != 0 {
		f.Rule, f.Severity, f.Message = ruleNetwork, High, n.Op+" talks to other processes"
		s.add(f)
	}
	if urls := debugURLs(n); urls != "" {
		f.Rule, f.Severity, f.Message = ruleNetwork, High, fmt.Sprintf("%s sends what it gets to %q", n.Op, clip(urls))
		s.add(f)
	}
	if n.Op == "PrintV2" && strings.HasPrefix(n.Attrs.String("output_stream", ""), "file://") {
		effect |= graph.Files
	}
	if effect&graph.Files == 0 {
		return
	}
	f.Rule, f.Message = ruleRead, n.Op+" reads files"
	if n.Op == "PrintV2" || writes(n.Op) {
		f.Rule, f.Message = ruleWrite, n.Op+" writes files"
	}
	switch {
	case checkpointOps[n.Op] && (f.Reached == bySaver || f.Reached == ""):
		f.Severity = Note // what every model's saver has
	case f.Rule == ruleWrite:
		f.Severity = High
	case strings.HasPrefix(n.Op, "InitializeTableFromTextFile"):
		f.Severity = Note // a vocabulary among the model's assets
	default:
		f.Severity = Warning
	}
	s.add(f)
}

func writes(op string) bool {
	for _, p := range writers {
		if strings.HasPrefix(op, p) {
			return true
		}
	}
	return false
}

// debugURLs returns where a debugging op sends its tensors, if it is anywhere.
func debugURLs(n *graph.Node) string {
	if !strings.HasPrefix(n.Op, "Debug") {
		return ""
	}
	for _, a := range n.Attrs {
		if list, ok := a.Value().([]string); ok && (a.Name == "debug_urls" || a.Name == "tensor_debug_urls") {
			return strings.Join(list, ", ")
		}
	}
	return ""
}

// maxElements is how many elements a tensor that the graph makes out of nothing
// may have before it is odd.
const maxElements = 1 << 28

// makers are the ops that make a tensor of any size, with the input that says
// which.
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
		return // says what it takes, and makes nothing
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

// constant returns the value of a node that is a constant, through the functions
// that hand it on unchanged.
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

func productOf(dims []int) (words string, large bool) {
	p := 1.0
	for _, d := range dims {
		if d < 0 {
			return "", false // not known: whoever calls says so
		}
		p *= float64(d)
	}
	return fmt.Sprintf("%.3g", p), p > maxElements
}

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

// maxPathLen is how long a constant may be to be taken for a path.
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

// pathWords says what a string looks like; "" for nothing.
func pathWords(v string) string {
	if len(v) > maxPathLen || len(v) < 3 || strings.ContainsAny(v, "\n\x00") {
		return ""
	}
	scheme, rest, isURL := strings.Cut(v, "://")
	switch {
	case isURL && rest != "" && len(scheme) > 1 && len(scheme) < 12 && !strings.ContainsAny(scheme, " \"'/"):
		return "is an address"
	case strings.HasPrefix(v, "../") || strings.Contains(v, "/../"):
		return "leads to the folder above"
	case strings.HasPrefix(v, "/") && strings.Count(v, "/") > 1 && !strings.ContainsAny(v, " \"<>"):
		return "is a path of somebody's machine"
	case strings.HasPrefix(v, "~/"):
		return "is a path of somebody's home"
	}
	return ""
}
