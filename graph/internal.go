package graph

import (
	"github.com/cairnml/cairn/internal/notpublic"
	"github.com/cairnml/cairn/internal/pb"
)

// Internal returns the functions of this package that only packages of this module use, since only
// these can make a key. They have the messages of TensorFlow's files as arguments and results.
func Internal(notpublic.Key) internals { return internals{} }

type internals struct{}

// FromProto returns the graph that a GraphDef describes, with its library. It keeps references into
// p, which must not change afterwards. A fault of a node is a [*NodeDefError], that of a function a
// [*FunctionDefError].
func (internals) FromProto(p *pb.GraphDef, opts *Options) (*Graph, error) { return fromProto(p, opts) }

// Read reads a graph as [Unmarshal] does. It skips the functions in the file that [Options].Only
// leaves out, except for their names. guessed are definitions of ops that nothing defines. They have
// the outputs that nodes in functions name. No node gets one as its Def.
func (internals) Read(from pb.Source, opts *Options, guessed []*OpDef) (*Graph, error) {
	return readProto(from, opts, guessed)
}

// GraphProto returns g as a GraphDef. Its library has the functions of g.Library, followed by all
// others that nodes refer to, under unique names. Maps are sorted by key.
//
// finish may be nil. Otherwise it may change each function, which is then encoded in its canonical
// form ([pb.Canonical]). So one function at a time is in memory as a message.
func (internals) GraphProto(g *Graph, finish func(*pb.FunctionDef) error) (*pb.GraphDef, error) {
	return g.proto(finish)
}

// FunctionProto returns fn as a FunctionDef. lib has the names of the functions that it refers to;
// nil means the Name of each function.
func (internals) FunctionProto(fn *Function, lib *Library) (*pb.FunctionDef, error) {
	return fn.proto(lib, new(Effects))
}

// LibraryProto returns l as a FunctionDefLibrary.
func (internals) LibraryProto(l *Library) (*pb.FunctionDefLibrary, error) { return l.proto(nil) }

// OpDefFromProto returns the definition of an op in a file, or the signature of
// a function. A definition that contradicts itself is an [OpDefError].
func (internals) OpDefFromProto(p *pb.OpDef) (*OpDef, error) { return opDefFromProto(p) }

// OpDefProto returns d as a message, with the parts of the original message that this module
// doesn't use.
func (internals) OpDefProto(d *OpDef) *pb.OpDef { return d.proto() }

// DefaultProto returns the default value of an attribute, or nil if it has none. It must not be
// changed.
func (internals) DefaultProto(a *AttrDef) *pb.AttrValue { return a.defaultProto() }

// ShapeProto returns a shape as a message, with -1 for unknown sizes.
func (internals) ShapeProto(s PartialShape) *pb.TensorShapeProto { return shapeProto(s) }

// StructureFromProto returns the structure that a message describes. The rest of the message is
// kept, so that an unchanged structure is written as it was.
func (internals) StructureFromProto(p *pb.StructuredValue) (*Structure, error) {
	return structureFromProto(p)
}

// ReadStructure returns the structure that a message describes, for reading only: it doesn't keep
// the rest of the message. The bytes of its constants are subtracted from allowance, which they may
// not exceed.
func (internals) ReadStructure(p *pb.StructuredValue, allowance *int64) (*Structure, error) {
	return readStructure(p, allowance)
}

// ReadComposite returns the type of a composite that a message describes; see
// ReadStructure.
func (internals) ReadComposite(p *pb.TypeSpecProto, allowance *int64) (*Composite, error) {
	return readComposite(p, allowance)
}

// StructureProto returns s as a message. A static Go value that files can't
// contain is an error that names its place.
func (internals) StructureProto(s *Structure) (*pb.StructuredValue, error) { return s.proto() }

// NewSurvey begins a survey of a GraphDef. known reports whether an op is allowed.
func (internals) NewSurvey(from pb.Source, known func(op string) bool) (*Survey, error) {
	return newSurvey(from, known)
}
