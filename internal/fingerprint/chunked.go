package fingerprint

import (
	"errors"
	"fmt"
	"slices"

	"github.com/dgryski/go-farm"

	"github.com/cairnml/cairn/internal/pb"
)

// chunkedProducer is the version of the rules for models in chunks.
const chunkedProducer = 2

// Chunks computes the fingerprint of a model that is written in chunks (package chunked),
// from the chunks as they are written. TensorFlow's rules for such models are others:
//
//	saved_model_checksum     the hashes of all chunks but the first, joined, and H("")
//	graph_def_program_hash   H(the first graph, of the chunks merged into it) joined with
//	                         the hashes, joined, of the chunks in it and below it
//	signature_def_hash       as in one file, joined in another order
//	saved_object_graph_hash  as the graph's
//
// The zero Chunks has seen no chunk.
type Chunks struct {
	// begun reports whether chunk 0 was added, odd whether a chunk belongs to a field
	// other than graphs and objects.
	begun, odd     bool
	root           []byte // chunk 0
	checksum       uint64 // of the other chunks
	graph, objects chunkedPart
}

// chunkedPart is a message stored in separate chunks.
type chunkedPart struct {
	encoded []byte // the chunks that are merged into the message itself
	hash    uint64 // of these and of those below it
}

// ErrChunks reports chunks below a field other than the graphs and the objects.
var ErrChunks = fmt.Errorf("the model has chunks in fields other than graphs and objects: %w", errors.ErrUnsupported)

// Add adds the next chunk, which is merged into the field at a path. It keeps no chunk.
func (c *Chunks) Add(path []*pb.FieldIndex, chunk []byte) {
	if !c.begun {
		c.begun, c.root = true, slices.Clone(chunk)
		return
	}
	h := farm.Fingerprint64(chunk)
	c.checksum = join(c.checksum, h)
	if len(path) < 3 || path[0].Field != 2 || path[1].Which != pb.FieldIndexIndex {
		c.odd = true
		return
	}
	if path[1].Index != 0 {
		return // not of the first MetaGraph
	}
	var part *chunkedPart
	switch path[2].Field {
	case 2:
		part = &c.graph
	case 7:
		part = &c.objects
	default:
		c.odd = true
		return
	}
	part.hash = join(part.hash, h)
	if len(path) == 3 {
		part.encoded = append(part.encoded, chunk...)
	}
}

// Fingerprint returns the fingerprint of the chunks that were added, of a model whose
// variables have the given index file; nil for none.
func (c *Chunks) Fingerprint(index []byte) (*pb.FingerprintDef, error) {
	f := &pb.FingerprintDef{Version: &pb.VersionDef{Producer: chunkedProducer}, SavedModelChecksum: join(c.checksum, farm.Fingerprint64(nil))}
	if c.odd {
		return nil, ErrChunks
	}
	var root pb.SavedModel
	if err := root.Unmarshal(c.root); err != nil {
		return nil, err
	}
	if err := pb.Canonical(&root); err != nil {
		return nil, err
	}
	var graph, objects []byte // their parts in the first chunk
	if len(root.MetaGraphs) > 0 {
		g := root.MetaGraphs[0]
		f.SignatureDefHash = chunkedSignaturesHash(g.SignatureDef)
		if g.GraphDef != nil {
			graph = g.GraphDef.Encoded()
		}
		if g.ObjectGraphDef != nil {
			objects = g.ObjectGraphDef.Encoded()
		}
	}
	var err error
	if f.GraphDefProgramHash, err = c.graph.sum(&pb.GraphDef{}, graph); err != nil {
		return nil, err
	}
	if f.SavedObjectGraphHash, err = c.objects.sum(&pb.SavedObjectGraph{}, objects); err != nil {
		return nil, err
	}
	if index != nil {
		f.CheckpointHash = farm.Fingerprint64(index)
	}
	f.Uuid = uuid(f)
	return f, nil
}

// maxEncoded is the largest message that C++ encodes; for a larger one it writes no
// bytes.
const maxEncoded = 1<<31 - 1

// sum returns the part's hash. begin is the part of the message before its chunks.
func (p *chunkedPart) sum(m pb.Message, begin []byte) (uint64, error) {
	encoded := p.encoded
	if len(begin) > 0 {
		encoded = append(slices.Clip(begin), encoded...)
	}
	if err := m.Unmarshal(encoded); err != nil {
		return 0, err
	}
	if err := pb.Canonical(m); err != nil {
		return 0, err
	}
	b := m.Marshal()
	if len(b) > maxEncoded {
		b = nil
	}
	return join(farm.Fingerprint64(b), p.hash), nil
}

func chunkedSignaturesHash(sorted []*pb.SignatureDefEntry) uint64 {
	var h uint64
	for _, e := range sorted {
		var b []byte
		if e.Value != nil {
			b = e.Value.Marshal()
		}
		h = join(h, join(farm.Fingerprint64([]byte(e.Key)), farm.Fingerprint64(b)))
		h = join(h, 0) // the hash of chunks inside the signature, of which there are none
	}
	return h
}
