package savedmodel

import (
	"slices"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/internal/collect"
	"github.com/cairnml/cairn/internal/pb"
)

// finisher brings the main graph and each function into the form in which a save writes
// them, one after the other, and collects the ops that they use. The order of its steps
// must stay: debug ops are stripped before defaults, and ops are counted last.
type finisher struct {
	*saver
	own  map[string]*graph.OpDef // by op, the definitions that the functions' nodes have
	defs map[string]*graph.OpDef // of the ops that are used, by name
}

func newFinisher(s *saver) *finisher {
	f := &finisher{saver: s, own: map[string]*graph.OpDef{}, defs: map[string]*graph.OpDef{}}
	for _, fn := range s.lib.Functions() {
		for _, n := range fn.Graph.Nodes() {
			if n.Def != nil {
				f.own[n.Op] = n.Def
			}
		}
	}
	return f
}

// calls reports whether an op is the name of a function of the model.
func (f *finisher) calls(op string) bool { return f.lib.Lookup(op) != nil }

func (f *finisher) function(def *pb.FunctionDef) error {
	f.nodes(def.NodeDef, def.Signature)
	collect.Grown()
	return nil
}

// nodes finishes the nodes of a function with that signature, or of the main graph.
func (f *finisher) nodes(nodes []*pb.NodeDef, signature *pb.OpDef) {
	if f.opts.StripDebugOps {
		stripDebugOps(nodes, signature)
	}
	stripDefaults(nodes, f.calls)
	for _, n := range nodes {
		if f.defs[n.Op] != nil || f.calls(n.Op) {
			continue
		}
		if d := f.own[n.Op]; d != nil {
			f.defs[n.Op] = d
		} else if d := graph.LookupOp(n.Op); d != nil {
			f.defs[n.Op] = d
		}
	}
}

// usedOps returns the definitions of all ops of the nodes that were finished.
func (f *finisher) usedOps() *pb.OpList {
	list := &pb.OpList{}
	for _, name := range sortedKeys(f.defs) {
		list.Op = append(list.Op, graphInternals.OpDefProto(f.defs[name]))
	}
	return list
}

// sortFunctions sorts encoded functions by the numbers at the end of their names, the order
// in which TensorFlow hashes them.
func sortFunctions(list []pb.Lazy[pb.FunctionDef]) {
	type named struct {
		name string
		def  pb.Lazy[pb.FunctionDef]
	}
	sorted := make([]named, len(list))
	for i := range list {
		sorted[i] = named{pb.StringAt(list[i].Encoded(), functionSignature, signatureName), list[i]}
	}
	slices.SortStableFunc(sorted, func(a, b named) int { return compareNumbered(a.name, b.name) })
	for i := range sorted {
		list[i] = sorted[i].def
	}
}

// Numbers of the fields of FunctionDef and OpDef that lead to a function's name.
const (
	functionSignature = 1
	signatureName     = 1
)
