package inspect

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/cairnml/cairn/inspect/render"
	"github.com/cairnml/cairn/internal/pb"
	"github.com/cairnml/cairn/tensorfile"
)

// maxObjects limits the differences of two object graphs, or of two SavedModels, that are listed.
// Further ones are only counted. The number may change.
const maxObjects = 10_000

// diffGraphs compares the objects by their first paths from the root: edges,
// attributes, slot variables and savers. It walks both graphs at once and
// composes a path only for a difference, since the paths of a deep graph
// together are far longer than the graph. Objects that no path from the root reaches
// aren't compared.
func diffGraphs(ctx context.Context, a, b *tensorfile.File) ([]Difference, error) {
	ga, err := a.Graph(ctx)
	if err != nil {
		return nil, err
	}
	gb, err := b.Graph(ctx)
	if err != nil || ga == nil || gb == nil {
		return nil, err
	}
	d := &graphDiff{ctx: ctx}
	if d.a, err = newGraphSide(a, ga); err != nil {
		return nil, err
	}
	if d.b, err = newGraphSide(b, gb); err != nil {
		return nil, err
	}
	if err := d.walk(); err != nil {
		return nil, err
	}
	slices.SortFunc(d.out, func(x, y Difference) int { return strings.Compare(x.Name, y.Name) })
	if d.more > 0 {
		d.out = append(d.out, Difference{Kind: Objects, Name: "…", A: fmt.Sprintf("%d more objects or edges differ", d.more)})
	}
	return d.out, nil
}

// graphSide is one of the two graphs. An edge is a Tree edge if the first path to its target ends
// with it. Each object that can be reached has one, except the root.
type graphSide struct {
	og    *pb.TrackableObjectGraph
	g     *render.Graph
	first []int32 // by node: the index of its first edge in g.Edges
}

func newGraphSide(s *tensorfile.File, og *pb.TrackableObjectGraph) (*graphSide, error) {
	if f := checkGraph(og); len(f) > 0 {
		return nil, fmt.Errorf("%s: the object graph is broken: %s", s.Prefix, f[0])
	}
	side := &graphSide{og: og, first: make([]int32, len(og.Nodes)+1)}
	if len(og.Nodes) == 0 {
		side.g = &render.Graph{}
		return side, nil
	}
	side.g = objectGraph(s, og, nil)
	for _, e := range side.g.Edges { // in the order of From
		side.first[e.From+1]++
	}
	for i := range og.Nodes {
		side.first[i+1] += side.first[i]
	}
	return side, nil
}

// edges lists a node's edges by the names that differences use. Of several edges with one name, which
// no file of TensorFlow has, the last counts.
func (s *graphSide) edges(node int32) (names []string, by map[string]*render.Edge) {
	list := s.g.Edges[s.first[node]:s.first[node+1]]
	by = make(map[string]*render.Edge, len(list))
	for i := range list {
		e := &list[i]
		if e.Slot && s.g.Nodes[e.From].Kind == render.Optimizer {
			continue // the slot variable is compared as an edge of its variable
		}
		name := e.Label
		if e.Slot {
			name = "(slot) " + name
		}
		if by[name] == nil {
			names = append(names, name)
		}
		by[name] = e
	}
	return names, by
}

// fact describes the target of an edge.
func (s *graphSide) fact(e *render.Edge) string {
	switch {
	case e.Tree:
		return s.object(e.To)
	case e.To == 0:
		return "the root"
	}
	return "the object " + s.g.Path(e.To)
}

// object describes a node.
func (s *graphSide) object(node int) string {
	n := s.og.Nodes[node]
	var what []string
	for _, a := range n.Attributes {
		what = append(what, a.Name)
	}
	if n.RegisteredSaver != nil && n.RegisteredSaver.Name != "" {
		what = append(what, "saved by "+n.RegisteredSaver.Name)
	}
	if len(what) == 0 {
		return "object"
	}
	return strings.Join(what, ", ")
}

// graphDiff is a comparison of two object graphs.
type graphDiff struct {
	ctx  context.Context
	a, b *graphSide
	twin []int32 // by node of a: the node of b with the same path, or -1
	out  []Difference
	more int
}

// walk compares the nodes that have the same path, from the roots on.
func (d *graphDiff) walk() error {
	if d.roots() {
		return d.ctx.Err()
	}
	d.twin = make([]int32, len(d.a.og.Nodes))
	for i := range d.twin {
		d.twin[i] = -1
	}
	d.twin[0] = 0
	type both struct{ a, b *render.Edge }
	// crossing has the edges that are Tree edges in neither graph. Two are equal if their targets are
	// twins, which are known at the end.
	var crossing []both
	for queue := []int32{0}; len(queue) > 0; queue = queue[1:] {
		if err := d.ctx.Err(); err != nil {
			return err
		}
		node := queue[0]
		names, x := d.a.edges(node)
		others, y := d.b.edges(d.twin[node])
		for _, name := range names {
			e, f := x[name], y[name]
			switch {
			case f == nil:
				d.only(d.a, e, name, true)
				continue
			case !e.Tree && !f.Tree:
				crossing = append(crossing, both{e, f})
				continue
			case e.Tree && f.Tree:
				d.twin[e.To] = int32(f.To)
				queue = append(queue, int32(e.To))
			// A Tree edge in one graph only: the other one reaches the target by an earlier path,
			// so the objects below have no counterpart here.
			case e.Tree:
				d.below(d.a, e.To, true)
			default:
				d.below(d.b, f.To, false)
			}
			d.compare(e, f, name)
		}
		for _, name := range others {
			if x[name] == nil {
				d.only(d.b, y[name], name, false)
			}
		}
	}
	for _, c := range crossing {
		if d.twin[c.a.To] != int32(c.b.To) {
			d.compare(c.a, c.b, c.a.Label)
		}
	}
	return nil
}

// roots compares the roots themselves. It reports true if no common walk remains,
// since one of the graphs or both have no objects.
func (d *graphDiff) roots() (done bool) {
	var x, y string
	a, b := len(d.a.og.Nodes) > 0, len(d.b.og.Nodes) > 0
	if a {
		x = d.a.object(0)
	}
	if b {
		y = d.b.object(0)
	}
	if x != y {
		d.out = append(d.out, Difference{Kind: Objects, Name: "(root)", A: x, B: y})
	}
	switch {
	case a && !b:
		d.below(d.a, 0, true)
	case b && !a:
		d.below(d.b, 0, false)
	}
	return !a || !b
}

// compare adds a difference if the targets of two edges of one name have different descriptions.
func (d *graphDiff) compare(e, f *render.Edge, name string) {
	if x, y := d.a.fact(e), d.b.fact(f); x != y {
		d.note(d.a, e, name, x, y)
	}
}

// only notes an edge that one side has, and all below it.
func (d *graphDiff) only(s *graphSide, e *render.Edge, name string, inA bool) {
	x, y := s.fact(e), ""
	if !inA {
		x, y = y, x
	}
	d.note(s, e, name, x, y)
	if e.Tree {
		d.below(s, e.To, inA)
	}
}

// below notes all edges below a node.
func (d *graphDiff) below(s *graphSide, node int, inA bool) {
	for queue := []int32{int32(node)}; len(queue) > 0 && d.ctx.Err() == nil; queue = queue[1:] {
		names, by := s.edges(queue[0])
		for _, name := range names {
			e := by[name]
			x, y := "", ""
			if len(d.out) < maxObjects {
				if x = s.fact(e); !inA {
					x, y = y, x
				}
			}
			d.note(s, e, name, x, y)
			if e.Tree {
				queue = append(queue, int32(e.To))
			}
		}
	}
}

// note adds the difference of the edge e of s, called name: x and y describe A's and B's side.
func (d *graphDiff) note(s *graphSide, e *render.Edge, name, x, y string) {
	if len(d.out) >= maxObjects {
		d.more++
		return
	}
	d.out = append(d.out, Difference{Kind: Objects, Name: join(s.g.Path(e.From), name), A: x, B: y})
}
