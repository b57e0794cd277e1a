package graph

import (
	"errors"
	"fmt"

	"github.com/cairnml/cairn/internal/pb"
)

// Options says how graphs are read; nil means the defaults.
type Options struct {
	// Ops are definitions of ops that TensorFlow 2.21 doesn't have, such as those
	// of a MetaGraphDef's stripped_op_list. Of an op that it has, its own
	// definition counts. Default none.
	Ops []*OpDef
	// MaxExpanded bounds the memory, in bytes, of constant elements that the file
	// doesn't spell out one by one: a single value may stand for any number of
	// them. Default 256 MiB.
	MaxExpanded int64
	// Only, where it isn't nil, leaves out the functions of the library to which
	// neither the graph's nodes nor these names lead, directly or through others.
	// Attributes that name them have a [Callee] without a function. Default: all are
	// read.
	Only []string
	// From, where it isn't nil, names the nodes of the graph that count for Only, with
	// those that they take inputs from or wait for. Default: all.
	From []string
}

func (o *Options) only() []string {
	if o == nil {
		return nil
	}
	return o.Only
}

func (o *Options) from() []string {
	if o == nil {
		return nil
	}
	return o.From
}

const (
	defaultMaxExpanded = 256 << 20
	maxNumbered        = 1 << 18 // outputs in a graph whose number an attribute tells
	maxPort            = 1 << 16 // outputs of an op that nobody defines
	maxAttrDepth       = 64      // functions with attributes that are functions with attributes
)

// A NodeDefError says what is wrong with a node in a file.
type NodeDefError struct {
	Function string // the function that the node is in; "" for the graph itself
	Node     string // the node's name
	Op       string // the node's op
	Err      error
}

// Error names function, node and op.
func (e *NodeDefError) Error() string {
	where := fmt.Sprintf("node %q (%s)", e.Node, e.Op)
	if e.Function != "" {
		where += fmt.Sprintf(" of function %q", e.Function)
	}
	return fmt.Sprintf("graph: %s: %v", where, e.Err)
}

// Unwrap gives the cause.
func (e *NodeDefError) Unwrap() error { return e.Err }

// A FunctionDefError says what is wrong with a function in a file.
type FunctionDefError struct {
	Function string
	Err      error
}

// Error names the function.
func (e *FunctionDefError) Error() string {
	return fmt.Sprintf("graph: function %q: %v", e.Function, e.Err)
}

// Unwrap gives the cause.
func (e *FunctionDefError) Unwrap() error { return e.Err }

// ErrUnknownOp says that a file uses an op that neither TensorFlow 2.21 nor
// [Options].Ops defines, where it can't be followed without its definition.
var ErrUnknownOp = errors.New("the op is unknown: give its definition in Options.Ops")

// reader makes graphs of messages.
type reader struct {
	lib      *Library
	defs     map[string]*OpDef              // of the file's own ops
	calls    map[*Function]*OpDef           // the signatures of the library's functions
	kinds    map[*OpDef]map[string]AttrKind // of definitions with many attributes
	expand   int64                          // what is left of Options.MaxExpanded
	numbered int64                          // what is left of maxNumbered
	value    *pb.AttrValue                  // for the next attribute of a node
	inputs   []string                       // of the node that is connected
}

func newReader(opts *Options) *reader {
	r := &reader{expand: defaultMaxExpanded, numbered: maxNumbered}
	if opts != nil {
		if opts.MaxExpanded > 0 {
			r.expand = opts.MaxExpanded
		}
		r.defs = make(map[string]*OpDef, len(opts.Ops))
		for _, d := range opts.Ops {
			r.defs[d.Name] = d
		}
	}
	return r
}

// def returns the definition of an op or the signature of a library function,
// or nil.
func (r *reader) def(op string) *OpDef {
	if f := r.lib.Lookup(op); f != nil {
		return r.calls[f]
	}
	if d := LookupOp(op); d != nil {
		return d
	}
	return r.defs[op]
}

// FromProto returns the graph that a GraphDef describes, with its library. It
// keeps references into p, which must not change afterwards. What is wrong with
// a node is a [*NodeDefError], with a function a [*FunctionDefError].
//
// Facts of outputs have the element types that definitions and attributes
// tell; nothing else is inferred.
func FromProto(p *pb.GraphDef, opts *Options) (*Graph, error) {
	nodes := make([][]byte, len(p.Node))
	for i, n := range p.Node {
		nodes[i] = n.Marshal()
	}
	return fromProto(p, nodes, opts)
}

// fromProto returns the graph of a GraphDef with these nodes, which are encoded: a graph
// takes less memory than the messages that describe it.
func fromProto(p *pb.GraphDef, nodes [][]byte, opts *Options) (*Graph, error) {
	r := newReader(opts)
	g := &Graph{extra: &graphExtra{versions: p.Versions, version: p.Version, debug: p.DebugInfo, unknown: p.Unknown}}
	if v := p.Versions; v != nil {
		g.Versions = Versions{v.Producer, v.MinConsumer, v.BadConsumers}
	}
	if p.Library != nil {
		only := opts.only()
		if only != nil {
			only = only[:len(only):len(only)]
			gradientLinks(p.Library).ofNodes(needed(nodes, opts.from()), func(name string) { only = append(only, name) })
		}
		lib, err := r.library(p.Library, only)
		if err != nil {
			return nil, err
		}
		g.Library, g.extra.library = lib, p.Library.Unknown
	}
	in := &nodeReader{reader: r, graph: g}
	if err := in.nodes(nodes); err != nil {
		return nil, err
	}
	return g, nil
}

// Unmarshal returns the graph that an encoded GraphDef describes; see
// [FromProto]. It keeps references into b.
func Unmarshal(b []byte, opts *Options) (*Graph, error) {
	var p pb.GraphDef
	nodes, err := pb.UnmarshalBut(&p, b, 1)
	if err != nil {
		return nil, fmt.Errorf("graph: %w", err)
	}
	return fromProto(&p, nodes, opts)
}

// Proto returns the graph as a GraphDef. Its library has the functions of
// g.Library and, after them, all others that nodes refer to, under names that
// are unique. Maps are sorted by key.
//
// A graph that was read and not changed gives the message it was read from,
// except for this: map entries are sorted, and of two with one key the last is
// written; "x:0" in an input is written as "x", in a function "x:y" as "x:y:0";
// unknown fields inside map entries are lost.
func (g *Graph) Proto() (*pb.GraphDef, error) {
	lib := g.written()
	p := &pb.GraphDef{}
	x := g.extra
	if x == nil {
		x = &graphExtra{}
	}
	p.Version, p.DebugInfo, p.Unknown = x.version, x.debug, x.unknown
	if v := g.Versions; x.versions != nil || v.Producer != 0 || v.MinConsumer != 0 || len(v.BadConsumers) > 0 {
		p.Versions = &pb.VersionDef{Producer: v.Producer, MinConsumer: v.MinConsumer, BadConsumers: v.BadConsumers}
		if x.versions != nil {
			p.Versions.Unknown = x.versions.Unknown
		}
	}
	w := &writer{lib: lib, names: nodeNames(g, nil)}
	var err error
	if p.Node, err = w.nodes(g); err != nil {
		return nil, err
	}
	if g.Library != nil || len(lib.order) > 0 {
		if p.Library, err = lib.Proto(); err != nil {
			return nil, err
		}
		p.Library.Unknown = x.library
	}
	return p, nil
}

// Marshal returns the graph as an encoded GraphDef; see [Graph.Proto].
func (g *Graph) Marshal() ([]byte, error) {
	p, err := g.Proto()
	if err != nil {
		return nil, err
	}
	return p.Marshal(), nil
}
