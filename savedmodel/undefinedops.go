package savedmodel

import (
	"sort"
	"strconv"
	"strings"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/internal/pb"
)

// undefinedOps makes definitions for the unknown ops in functions, so that the rest
// of the file can be read. Their outputs are those that other nodes use. The
// definition needs nothing else, because no kernel runs such an op.
func (g *MetaGraph) undefinedOps() ([]*graph.OpDef, error) {
	b, err := g.graphDef.Read()
	if err != nil {
		return nil, err
	}
	var def pb.GraphDef
	if err := g.model.checkMemory(&def, b); err != nil {
		return nil, err
	}
	if err := def.Unmarshal(b); err != nil || def.Library == nil {
		return nil, err
	}
	has := map[string]bool{}
	for _, d := range g.Ops {
		has[d.Name] = true
	}
	var functions []*pb.FunctionDef
	for i := range def.Library.Function {
		f, err := def.Library.Function[i].Get()
		if err != nil {
			continue // reading the graph reports it
		}
		functions = append(functions, f)
		if f.Signature != nil {
			has[f.Signature.Name] = true
		}
	}
	guesses := map[string]*undefinedOp{}
	for _, f := range functions {
		nodes := map[string]*undefinedOp{}
		for _, n := range f.NodeDef {
			if has[n.Op] || graph.LookupOp(n.Op) != nil {
				continue
			}
			g := guesses[n.Op]
			if g == nil {
				g = &undefinedOp{attrs: map[string]*pb.AttrValue{}}
				guesses[n.Op] = g
			}
			for _, a := range n.Attr {
				if g.attrs[a.Key] == nil && a.Value != nil {
					g.attrs[a.Key] = a.Value
				}
			}
			nodes[n.Name] = g
		}
		if len(nodes) == 0 {
			continue
		}
		for _, n := range f.NodeDef {
			for _, in := range n.Input {
				noteOutput(nodes, in)
			}
		}
		for _, r := range f.Ret {
			noteOutput(nodes, r.Value)
		}
	}
	var out []*graph.OpDef
	for _, name := range sortedKeys(guesses) {
		if d, err := graphInternals.OpDefFromProto(guesses[name].def(name)); err == nil {
			out = append(out, d)
		}
	}
	return out, nil
}

// undefinedOp collects the properties of an op without a definition.
type undefinedOp struct {
	outputs []string       // in the order in which they are asked for
	last    map[string]int // the largest place that is asked of each
	attrs   map[string]*pb.AttrValue
}

// noteOutput records a use of the output "node:output:2".
func noteOutput(nodes map[string]*undefinedOp, ref string) {
	node, rest, ok := strings.Cut(ref, ":")
	g := nodes[node]
	if g == nil || !ok {
		return
	}
	output, at, _ := strings.Cut(rest, ":")
	i, err := strconv.Atoi(at)
	if err != nil || i < 0 {
		i = 0
	}
	if g.last == nil {
		g.last = map[string]int{}
	}
	last, asked := g.last[output]
	if !asked {
		g.outputs = append(g.outputs, output)
	}
	g.last[output] = max(last, i)
}

// def returns a definition with the outputs that are asked for. An output of
// several tensors has its types from an attribute that lists as many.
func (g *undefinedOp) def(name string) *pb.OpDef {
	d := &pb.OpDef{Name: name, IsStateful: true}
	lists := map[string]bool{}
	// The first list that is long enough counts, so only those that are longer than all before them can be it.
	var longer []string
	longest := 0
	for _, key := range sortedKeys(g.attrs) {
		l := g.attrs[key].List
		if l == nil || len(l.Type) <= longest || strings.HasPrefix(key, "_") || strings.HasPrefix(strings.ToLower(key), "in") || key == "Tin" {
			continue
		}
		longer, longest = append(longer, key), len(l.Type)
	}
	for _, output := range g.outputs {
		arg := &pb.ArgDef{Name: output, Type: pb.DataTypeVariant}
		i := sort.Search(len(longer), func(i int) bool { return len(g.attrs[longer[i]].List.Type) > g.last[output] })
		if i < len(longer) {
			key := longer[i]
			arg = &pb.ArgDef{Name: output, TypeListAttr: key}
			if !lists[key] {
				lists[key] = true
				d.Attr = append(d.Attr, &pb.AttrDef{Name: key, Type: "list(type)"})
			}
		}
		d.OutputArg = append(d.OutputArg, arg)
	}
	return d
}
