package graph

import (
	"errors"
	"fmt"

	"github.com/cairnml/cairn/internal/pb"
)

// Options are the options for reading graphs; nil means the defaults.
type Options struct {
	// Ops are definitions of ops that TensorFlow 2.21 doesn't have, such as
	// those of a MetaGraphDef's stripped_op_list. TensorFlow's definition of an
	// op takes precedence. A node may have attributes that only the definition
	// here has, if their values are its defaults. So files of later releases
	// can be written. Default none.
	Ops []*OpDef
	// MaxExpanded bounds the memory, in bytes, of constant elements that the
	// file doesn't contain one by one: a single value may be repeated any
	// number of times. Default 256 MiB.
	MaxExpanded int64
	// Only, unless it is nil, are the names of the functions to read. Functions
	// that the graph's nodes or these functions reach, directly or through
	// others, are read too. Attributes that name other functions have a
	// [Callee] without a function. Default: all are read.
	Only []string
	// From, unless it is nil, are the names of the graph's nodes that count for
	// Only, with the nodes that they depend on. Default: all.
	From []string
	// MaxMemory, unless it is zero, is an approximate bound, in bytes, on the
	// memory of the messages from which the graph is made. More is a
	// [*MemoryError]. Default: no bound.
	MaxMemory int64
}

// A MemoryError reports that a graph would take more memory than
// [Options].MaxMemory, in bytes.
type MemoryError struct{ Need, Most int64 }

// Error returns a message with both numbers.
func (e *MemoryError) Error() string {
	return fmt.Sprintf("graph: the file's messages would take about %d bytes in memory, the most is %d", e.Need, e.Most)
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
	maxNumbered        = 1 << 18 // outputs in a graph whose number comes from an attribute
	maxListed          = 1 << 20 // inputs in a graph besides one for each name: the name of a list stands for all its tensors
	maxPort            = 1 << 16 // outputs of an op without a definition
	maxAttrDepth       = 64      // functions with attributes that are functions with attributes
)

// A NodeDefError reports a fault of a node in a file.
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

// Unwrap returns the cause.
func (e *NodeDefError) Unwrap() error { return e.Err }

// A FunctionDefError reports a fault of a function in a file.
type FunctionDefError struct {
	Function string
	Err      error
}

// Error names the function.
func (e *FunctionDefError) Error() string {
	return fmt.Sprintf("graph: function %q: %v", e.Function, e.Err)
}

// Unwrap returns the cause.
func (e *FunctionDefError) Unwrap() error { return e.Err }

// ErrUnknownOp reports that a file uses an op that neither TensorFlow 2.21 nor
// [Options].Ops defines, and that reading the node needs its definition.
var ErrUnknownOp = errors.New("the op is unknown; put its definition in Options.Ops")

// reader makes graphs of messages.
type reader struct {
	lib      *Library
	defs     map[string]*OpDef              // of the file's own ops
	later    map[string]*OpDef              // TensorFlow's, with the attributes that the file's has besides
	guessed  map[string]*OpDef              // of ops that nothing defines, see internals.Read
	calls    map[*Function]*OpDef           // the signatures of the library's functions
	kinds    map[*OpDef]map[string]AttrKind // of definitions with many attributes
	expand   int64                          // the rest of Options.MaxExpanded
	numbered int64                          // the rest of maxNumbered
	listed   int64                          // the rest of maxListed
	value    *pb.AttrValue                  // for the next attribute of a node
	inputs   []string                       // of the node that is connected
	took     int64                          // approximate memory of the decoded messages, in bytes
	most     int64                          // bound of took; 0 means no limit
}

// count counts an encoded message before it is decoded.
func (r *reader) count(m pb.Message, b []byte) error {
	if r.most == 0 {
		return nil
	}
	return r.need(pb.Memory(m, b))
}

// need counts memory.
func (r *reader) need(n int64) error {
	if r.took += n; r.most != 0 && r.took > r.most {
		return &MemoryError{r.took, r.most}
	}
	return nil
}

func newReader(opts *Options) *reader {
	r := &reader{expand: defaultMaxExpanded, numbered: maxNumbered, listed: maxListed}
	if opts != nil {
		r.most = opts.MaxMemory
		if opts.MaxExpanded > 0 {
			r.expand = opts.MaxExpanded
		}
		r.defs = make(map[string]*OpDef, len(opts.Ops))
		for _, d := range opts.Ops {
			own := LookupOp(d.Name)
			if own == nil {
				r.defs[d.Name] = d
			} else if more := own.withAttrsOf(d); more != own {
				if r.later == nil {
					r.later = map[string]*OpDef{}
				}
				r.later[d.Name] = more
			}
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

// fromProto returns the graph that a GraphDef describes, with its library. It
// keeps references into p, which must not change afterwards. A fault of a node
// is a [*NodeDefError], that of a function a [*FunctionDefError].
//
// Facts of outputs have the element types of definitions and attributes;
// nothing else is inferred.
func fromProto(p *pb.GraphDef, opts *Options) (*Graph, error) {
	nodes := make([][]byte, len(p.Node))
	for i, n := range p.Node {
		nodes[i] = n.Marshal()
	}
	var lib *library
	if p.Library != nil {
		lib = libraryOf(p.Library)
	}
	return newReader(opts).graph(p, nodes, lib, opts)
}

// graph returns the graph of a GraphDef with these encoded nodes and the encoded library, nil for
// none. They are encoded because a graph takes less memory than the messages that describe it.
func (r *reader) graph(p *pb.GraphDef, nodes [][]byte, l *library, opts *Options) (*Graph, error) {
	g := &Graph{extra: &graphExtra{versions: p.Versions, version: p.Version, debug: p.DebugInfo, unknown: p.Unknown}}
	if v := p.Versions; v != nil {
		g.Versions = Versions{v.Producer, v.MinConsumer, v.BadConsumers}
	}
	if l != nil {
		only := opts.only()
		if only != nil {
			only = only[:len(only):len(only)]
			gradientLinks(&l.FunctionDefLibrary).ofNodes(needed(nodes, opts.from()), func(name string) { only = append(only, name) })
		}
		lib, err := r.library(l, only)
		if err != nil {
			return nil, err
		}
		g.Library, g.extra.library = lib, l.Unknown
	}
	in := &nodeReader{reader: r, graph: g}
	if err := in.nodes(nodes); err != nil {
		return nil, err
	}
	return g, nil
}

// Unmarshal returns the graph that an encoded GraphDef describes; see
// fromProto. It keeps references into b.
func Unmarshal(b []byte, opts *Options) (*Graph, error) { return readProto(pb.InMemory(b), opts, nil) }

// readProto reads a graph as [Unmarshal] does. It skips the functions in the file
// that [Options].Only leaves out, except for their names. guessed are those of internals.Read.
func readProto(from pb.Source, opts *Options, guessed []*OpDef) (*Graph, error) {
	fail := func(err error) (*Graph, error) { return nil, fmt.Errorf("graph: %w", err) }
	var libraries []pb.Source
	rest, err := from.Split(func(p *pb.Parts) error {
		libraries = append(libraries, p.Part)
		return nil
	}, fieldLibrary)
	if err != nil {
		return fail(err)
	}
	b, err := rest.Read()
	if err != nil {
		return fail(err)
	}
	r := newReader(opts)
	r.guessed = make(map[string]*OpDef, len(guessed))
	for _, d := range guessed {
		r.guessed[d.Name] = d
	}
	var p pb.GraphDef
	if err := r.count(&p, b); err != nil {
		return nil, err
	}
	nodes, err := pb.UnmarshalBut(&p, b, fieldNodes)
	if err != nil {
		return fail(err)
	}
	var l *library
	if libraries != nil {
		whole, err := pb.Join(libraries)
		if err != nil {
			return fail(err)
		}
		if l, err = r.readLibrary(whole); err != nil {
			return fail(err)
		}
	}
	return r.graph(&p, nodes, l, opts)
}

// Numbers of the fields of a GraphDef.
const (
	fieldNodes   = 1
	fieldLibrary = 2
)

// proto returns the graph as a GraphDef. Its library has the functions of
// g.Library, followed by all others that nodes refer to, under unique names.
// Maps are sorted by key.
//
// A graph that was read and not changed returns the message it was read from,
// with these exceptions. Map entries are sorted, and the last of two with the
// same key is written. "x:0" in an input is written as "x", in a function "x:y"
// as "x:y:0". Unknown fields inside map entries are lost.
//
// finish is that of internals.GraphProto.
func (g *Graph) proto(finish func(*pb.FunctionDef) error) (*pb.GraphDef, error) {
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
		if p.Library, err = lib.proto(finish); err != nil {
			return nil, err
		}
		p.Library.Unknown = x.library
	}
	return p, nil
}

// Marshal returns the graph as an encoded GraphDef; see Graph.proto.
func (g *Graph) Marshal() ([]byte, error) {
	p, err := g.proto(nil)
	if err != nil {
		return nil, err
	}
	return p.Marshal(), nil
}
