package chunked

import (
	"fmt"
	"io"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/cairnml/cairn/internal/pb"
	"github.com/cairnml/cairn/internal/riegeli"
)

// MaxChunk is TensorFlow's limit of a chunk (max_size.cc), somewhat less than protobuf's 2 GiB. It
// must not be higher.
const MaxChunk = 1<<31 - 500

// groupSize is the most bytes of nodes or functions that are joined in one chunk. A larger node or
// function is a chunk by itself. The size is Cairn's and may change: readers join any division to
// the same message. But the fingerprint changes with it.
const groupSize = 64 << 20

// Numbers of fields on the path to the split parts.
const (
	fieldMetaGraphs  = 2 // of SavedModel
	fieldGraphDef    = 2 // of MetaGraphDef
	fieldObjectGraph = 7
	fieldNode        = 1 // of GraphDef
	fieldLibrary     = 2
	fieldFunction    = 1 // of FunctionDefLibrary
	fieldNodeDef     = 3 // of FunctionDef
	fieldAttr        = 5 // of NodeDef
	fieldTensor      = 8 // of AttrValue
	fieldContent     = 4 // of TensorProto
)

// Write writes a SavedModel as a chunked file. Chunk 0 is the model without its graphs
// and objects. Then come the MetaGraphs, one after the other. The chunks of each are:
//
//  1. the graph without its nodes and functions, then the nodes
//  2. the contents of the large constants among these nodes
//  3. the functions, in the order of the library
//  4. the object graph
//
// Nodes of a graph or function, and functions, are joined in chunks of at most 64 MiB, or of
// most bytes if that is less. A function of more than most bytes is divided: into the function without
// its nodes, its nodes, and the contents of its large constants. A constant is large if its node
// has more than most bytes. The last record describes how to join all this.
//
// Three things must stay. Chunk 0 comes first, as fingerprint.Chunks expects. Chunks of one path
// are in the order of their contents, because TensorFlow merges them by their numbers. A message
// comes before its parts, because [Join] merges in the order of the file. The rest of the
// division is Cairn's and may change, as groupSize may. TensorFlow's splitter divides otherwise: it
// leaves the object graph, and nodes and functions that fit, in chunk 0.
//
// The argument most limits the bytes of a chunk whose contents can be split: a node without a
// large constant, the rest of a message and the object graph can't. 0 is the limit of
// TensorFlow's splitter in Python, 1 GiB. A chunk above [MaxChunk] is an error. Besides the model,
// Write uses memory for the largest chunk and for about two others of 64 MiB.
//
// If each isn't nil, it is called with every chunk except the last record, in order, and
// with the path to the field that the chunk is merged into; chunk 0 has none. It must not
// keep the chunk, whose memory is used again.
func Write(w io.Writer, m *pb.SavedModel, most int64, each func(path []*pb.FieldIndex, chunk []byte)) error {
	if most == 0 {
		most = 1 << 30
	}
	if each == nil {
		each = func([]*pb.FieldIndex, []byte) {}
	}
	s := &splitter{w: riegeli.NewWriter(w), most: most, each: each}
	rest := *m
	rest.MetaGraphs = nil
	for _, g := range m.MetaGraphs {
		g := *g
		g.GraphDef, g.ObjectGraphDef = nil, nil
		rest.MetaGraphs = append(rest.MetaGraphs, &g)
	}
	root, err := s.chunk("the model without its graphs", rest.Marshal(), pb.ChunkInfoTypeMessage, nil)
	if err != nil {
		return err
	}
	s.root = &pb.ChunkedMessage{ChunkIndex: root, HasChunkIndex: true}
	for i, g := range m.MetaGraphs {
		if err := s.metaGraph(g, []*pb.FieldIndex{number(fieldMetaGraphs), index(i)}); err != nil {
			return fmt.Errorf("chunked: MetaGraph %d: %w", i, err)
		}
	}
	meta := pb.ChunkMetadata{Version: &pb.VersionDef{Producer: 1}, Chunks: s.chunks, Message: s.root}
	_, err = s.w.Write(meta.Marshal())
	return err
}

// splitter writes the chunks of one model. After an error the file is unusable.
type splitter struct {
	w      *riegeli.Writer
	most   int64 // the argument of Write, its default set
	each   func(path []*pb.FieldIndex, chunk []byte)
	chunks []*pb.ChunkInfo    // those that were written
	root   *pb.ChunkedMessage // chunk 0, and the fields that the others are merged into
}

func number(n uint32) *pb.FieldIndex { return &pb.FieldIndex{Which: pb.FieldIndexField, Field: n} }
func index(i int) *pb.FieldIndex {
	return &pb.FieldIndex{Which: pb.FieldIndexIndex, Index: uint64(i)}
}
func mapKey(s string) *pb.FieldIndex {
	return &pb.FieldIndex{Which: pb.FieldIndexMapKey, MapKey: &pb.MapKey{Which: pb.MapKeyS, S: s}}
}

// path appends to a copy.
func path(to []*pb.FieldIndex, more ...*pb.FieldIndex) []*pb.FieldIndex {
	return append(slices.Clip(to), more...)
}

// chunk writes a chunk and returns its number.
func (s *splitter) chunk(what string, b []byte, kind pb.ChunkInfoType, to []*pb.FieldIndex) (uint64, error) {
	if int64(len(b)) > MaxChunk {
		return 0, fmt.Errorf("%s has %d bytes, and a chunk holds at most %d", what, len(b), MaxChunk)
	}
	s.each(to, b)
	at, err := s.w.Write(b)
	s.chunks = append(s.chunks, &pb.ChunkInfo{Type: kind, Size: uint64(len(b)), Offset: at})
	return uint64(len(s.chunks) - 1), err
}

// put writes a chunk that is merged into the field at a path.
func (s *splitter) put(what string, b []byte, kind pb.ChunkInfoType, to []*pb.FieldIndex) error {
	i, err := s.chunk(what, b, kind, to)
	s.root.ChunkedFields = append(s.root.ChunkedFields, &pb.ChunkedField{FieldTag: to, Message: &pb.ChunkedMessage{ChunkIndex: i, HasChunkIndex: true}})
	return err
}

// group gathers encoded fields of one message and writes them in chunks.
type group struct {
	s    *splitter
	what string           // the message, for errors
	to   []*pb.FieldIndex // the path to the message
	b    []byte           // encoded fields that aren't written yet
}

// makeRoom writes the collected fields if n bytes more would be too many.
func (g *group) makeRoom(n int) error {
	if len(g.b) == 0 || int64(len(g.b)+n) <= min(g.s.most, groupSize) {
		return nil
	}
	return g.flush()
}

// flush writes the collected fields as a chunk.
func (g *group) flush() error {
	err := g.s.put(g.what, g.b, pb.ChunkInfoTypeMessage, g.to)
	g.b = g.b[:0]
	return err
}

// field adds the message m, of n bytes encoded, as a field.
func (g *group) field(num protowire.Number, m pb.Message, n int) error {
	// 16 bytes are room for the tag and the length.
	if err := g.makeRoom(n + 16); err != nil {
		return err
	}
	g.b = protowire.AppendVarint(protowire.AppendTag(g.b, num, protowire.BytesType), uint64(n))
	g.b = m.AppendTo(g.b)
	return nil
}

// metaGraph writes the graph and the objects of a MetaGraph.
func (s *splitter) metaGraph(m *pb.MetaGraphDef, to []*pb.FieldIndex) error {
	if m.GraphDef != nil {
		g, err := m.GraphDef.Get()
		if err != nil {
			return err
		}
		if err := s.graph(g, path(to, number(fieldGraphDef))); err != nil {
			return err
		}
	}
	if m.ObjectGraphDef == nil {
		return nil
	}
	return s.put("the object graph", m.ObjectGraphDef.Encoded(), pb.ChunkInfoTypeMessage, path(to, number(fieldObjectGraph)))
}

// graph writes a graph at a path, and its functions.
func (s *splitter) graph(g *pb.GraphDef, to []*pb.FieldIndex) error {
	rest := *g
	rest.Node, rest.Library = nil, nil
	parts := &group{s: s, what: "the graph", to: to, b: rest.Marshal()}
	if err := s.nodes(parts, g.Node, fieldNode, to); err != nil {
		return err
	}
	if g.Library == nil {
		return parts.flush()
	}
	library := *g.Library
	library.Function = nil
	if err := parts.field(fieldLibrary, &library, pb.Size(&library)); err != nil {
		return err
	}
	functions := &group{s: s, what: "the library of functions", to: path(to, number(fieldLibrary))}
	// The library comes before its functions, and a function before its nodes.
	if err := parts.flush(); err != nil {
		return err
	}
	for i := range g.Library.Function {
		l := &g.Library.Function[i]
		if b := l.Encoded(); int64(len(b)) <= s.most {
			if err := functions.makeRoom(len(b) + 16); err != nil {
				return err
			}
			functions.b = protowire.AppendBytes(protowire.AppendTag(functions.b, fieldFunction, protowire.BytesType), b)
			continue
		}
		f, err := l.Get()
		if err != nil {
			return err
		}
		rest := *f
		rest.NodeDef = nil
		if err := functions.field(fieldFunction, &rest, pb.Size(&rest)); err != nil {
			return err
		}
		if err := functions.flush(); err != nil {
			return err
		}
		at := path(functions.to, number(fieldFunction), index(i))
		nodes := &group{s: s, what: fmt.Sprintf("the function %d of the library", i), to: at}
		if err := s.nodes(nodes, f.NodeDef, fieldNodeDef, at); err != nil {
			return err
		}
		if len(nodes.b) > 0 {
			if err := nodes.flush(); err != nil {
				return err
			}
		}
	}
	if len(functions.b) == 0 {
		return nil
	}
	return functions.flush()
}

// nodes adds the nodes of a graph or function at a path to a group; num is the field of
// the nodes. It takes the contents out of nodes of more than s.most bytes. If there are any, it
// writes the group, and then each content as a separate chunk.
func (s *splitter) nodes(g *group, nodes []*pb.NodeDef, num protowire.Number, to []*pb.FieldIndex) error {
	type content struct {
		path []*pb.FieldIndex
		b    []byte
	}
	var contents []content
	for i, n := range nodes {
		size := pb.Size(n)
		if int64(size) > s.most {
			var large []byte
			if n, large = withoutContent(n); large != nil {
				at := path(to, number(uint32(num)), index(i), number(fieldAttr), mapKey("value"), number(fieldTensor), number(fieldContent))
				contents = append(contents, content{at, large})
				size = pb.Size(n)
			}
		}
		if err := g.field(num, n, size); err != nil {
			return fmt.Errorf("node %q: %w", n.Name, err)
		}
	}
	if len(contents) == 0 {
		return nil
	}
	if err := g.flush(); err != nil {
		return err
	}
	for _, c := range contents {
		if err := s.put("a constant", c.b, pb.ChunkInfoTypeBytes, c.path); err != nil {
			return err
		}
	}
	return nil
}

// withoutContent returns a constant without its bytes, and these. It returns the node itself and
// nil if it isn't a constant, or has its elements in another field than tensor_content.
func withoutContent(n *pb.NodeDef) (*pb.NodeDef, []byte) {
	i := slices.IndexFunc(n.Attr, func(a *pb.AttrValueEntry) bool { return a.Key == "value" })
	if n.Op != "Const" || i < 0 || n.Attr[i].Value == nil || n.Attr[i].Value.Tensor == nil || len(n.Attr[i].Value.Tensor.TensorContent) == 0 {
		return n, nil
	}
	node, entry, value, tensor := *n, *n.Attr[i], *n.Attr[i].Value, *n.Attr[i].Value.Tensor
	content := tensor.TensorContent
	tensor.TensorContent = nil
	value.Tensor, entry.Value, node.Attr = &tensor, &value, slices.Clone(n.Attr)
	node.Attr[i] = &entry
	return &node, content
}
