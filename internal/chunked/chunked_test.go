package chunked_test

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/cairnml/cairn/internal/chunked"
	"github.com/cairnml/cairn/internal/pb"
	"github.com/cairnml/cairn/internal/testkit/riegelitest"
)

// file writes chunks, each in a separate chunk of the file, and the metadata.
type file struct {
	w    *riegelitest.Writer
	meta pb.ChunkMetadata
}

func newFile() *file { return &file{w: riegelitest.New()} }

// add appends a chunk and returns its number.
func (f *file) add(kind pb.ChunkInfoType, data []byte) uint64 {
	at := f.w.Records('b', data)
	f.meta.Chunks = append(f.meta.Chunks, &pb.ChunkInfo{Type: kind, Size: uint64(len(data)), Offset: uint64(at)})
	return uint64(len(f.meta.Chunks) - 1)
}

func (f *file) bytes(m *pb.ChunkedMessage) []byte {
	f.meta.Message = m
	f.w.Records(0, f.meta.Marshal())
	return f.w.File
}

func chunk(i uint64, fields ...*pb.ChunkedField) *pb.ChunkedMessage {
	return &pb.ChunkedMessage{ChunkIndex: i, HasChunkIndex: true, ChunkedFields: fields}
}

func at(m *pb.ChunkedMessage, path ...*pb.FieldIndex) *pb.ChunkedField {
	return &pb.ChunkedField{FieldTag: path, Message: m}
}

func num(n uint32) *pb.FieldIndex   { return &pb.FieldIndex{Which: pb.FieldIndexField, Field: n} }
func index(i uint64) *pb.FieldIndex { return &pb.FieldIndex{Which: pb.FieldIndexIndex, Index: i} }
func key(s string) *pb.FieldIndex {
	return &pb.FieldIndex{Which: pb.FieldIndexMapKey, MapKey: &pb.MapKey{Which: pb.MapKeyS, S: s}}
}

// decoded returns the first graph of a SavedModel, which from then on is encoded by this
// project's rules.
func decoded(t *testing.T, m *pb.SavedModel) *pb.GraphDef {
	t.Helper()
	g, err := m.MetaGraphs[0].GraphDef.Get()
	if err != nil {
		t.Fatal(err)
	}
	*m.MetaGraphs[0].GraphDef = pb.LazyOf(g)
	return g
}

// split splits a SavedModel as TensorFlow does: the value of a constant, a
// node, the library, and half of its functions are separate chunks.
func split(t *testing.T, m *pb.SavedModel) []byte {
	t.Helper()
	f := newFile()
	g := decoded(t, m)
	var constant int
	for i, n := range g.Node {
		if n.Op == "Const" {
			constant = i
		}
	}
	var value *pb.AttrValueEntry
	for _, a := range g.Node[constant].Attr {
		if a.Key == "value" {
			value = a
		}
	}
	content := value.Value.Tensor.Marshal()
	value.Value.Tensor = &pb.TensorProto{}
	node := g.Node[constant].Marshal()
	*g.Node[constant] = pb.NodeDef{}
	half := len(g.Library.Function) / 2
	rest := &pb.FunctionDefLibrary{Function: g.Library.Function[half:]}
	g.Library.Function = g.Library.Function[:half]
	library := g.Library.Marshal()
	g.Library = nil
	// Chunks may be in any order.
	two := f.add(pb.ChunkInfoTypeMessage, library)
	three := f.add(pb.ChunkInfoTypeMessage, rest.Marshal())
	root := f.add(pb.ChunkInfoTypeMessage, m.Marshal())
	one := f.add(pb.ChunkInfoTypeMessage, node)
	zero := f.add(pb.ChunkInfoTypeBytes, content)
	graph := []*pb.FieldIndex{num(2), index(0), num(2)}
	path := func(more ...*pb.FieldIndex) []*pb.FieldIndex { return append(graph[:3:3], more...) }
	return f.bytes(chunk(root,
		at(chunk(one, at(chunk(zero), num(5), key("value"), num(8))), path(num(1), index(uint64(constant)))...),
		at(chunk(two, at(chunk(three))), path(num(2))...),
	))
}

// TestASplitSavedModelComesBack: the same message, byte for byte once both are
// encoded by the same rules.
func TestASplitSavedModelComesBack(t *testing.T) {
	for _, name := range []string{"module", "hub", "keras_mlp", "tables"} {
		raw, err := os.ReadFile("../../savedmodel/testdata/models/" + name + "/saved_model.pb")
		if err != nil {
			t.Fatal(err)
		}
		var m, want, got pb.SavedModel
		if err := errors.Join(m.Unmarshal(raw), want.Unmarshal(raw)); err != nil {
			t.Fatal(err)
		}
		b, err := chunked.Join(split(t, &m), 1<<30)
		if err != nil {
			t.Fatal(err)
		}
		if err := got.Unmarshal(b); err != nil {
			t.Fatal(err)
		}
		decoded(t, &got)
		decoded(t, &want)
		if !bytes.Equal(got.Marshal(), want.Marshal()) {
			t.Errorf("%s came back as another message", name)
		}
	}
}

// TestFieldsThatAreNotThereAreMade: elements at the end of lists, entries of maps,
// messages.
func TestFieldsThatAreNotThereAreMade(t *testing.T) {
	f := newFile()
	root := f.add(pb.ChunkInfoTypeMessage, (&pb.NodeDef{Name: "n"}).Marshal())
	text := f.add(pb.ChunkInfoTypeBytes, []byte("hello"))
	b, err := chunked.Join(f.bytes(chunk(root,
		at(chunk(text), num(3), index(0)), at(chunk(text), num(3), index(1)), at(chunk(text), num(2)),
		at(chunk(text), num(5), key("k"), num(2)), at(chunk(text), num(5), key("l"), num(9)),
	)), 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	var n pb.NodeDef
	if err := n.Unmarshal(b); err != nil {
		t.Fatal(err)
	}
	if n.Name != "n" || n.Op != "hello" || len(n.Input) != 2 || n.Input[1] != "hello" || len(n.Attr) != 2 || n.Attr[0].Key != "k" || string(n.Attr[0].Value.S) != "hello" {
		t.Errorf("%+v", n)
	}
}

func TestWhatIsWrongIsSaid(t *testing.T) {
	message := (&pb.NodeDef{Input: []string{"a"}}).Marshal()
	endless := func() *pb.ChunkedMessage {
		m := chunk(0)
		for range 80 {
			m = chunk(0, at(m, num(5), key("k")))
		}
		return m
	}
	for _, c := range []struct {
		name string
		m    *pb.ChunkedMessage
		want string
	}{
		{"no such chunk", chunk(7), "no chunk 7"},
		{"a chunk where no record is", chunk(1), "no record begins"},
		{"a chunk of another size", chunk(2), "the metadata has 4"},
		{"far in a list", chunk(0, at(chunk(0), num(3), index(5))), "element 5"},
		{"no field", chunk(0, at(chunk(0), index(5))), "field's number"},
		{"field 0", chunk(0, at(chunk(0), num(0))), "number 0"},
		{"a path into what is no message", chunk(0, at(chunk(0), num(3), index(0), num(1))), "field 1"},
		{"a map without a key", chunk(0, at(chunk(0), num(5), &pb.FieldIndex{Which: pb.FieldIndexMapKey})), "without a key"},
		{"deep chunks", endless(), "deep"},
		{"a bomb", chunk(3, at(chunk(3)), at(chunk(3)), at(chunk(3))), "more memory"},
		{"nothing", nil, "which message"},
	} {
		f := newFile()
		f.add(pb.ChunkInfoTypeMessage, message)
		f.meta.Chunks = append(f.meta.Chunks, &pb.ChunkInfo{Offset: 9}, &pb.ChunkInfo{Offset: f.meta.Chunks[0].Offset, Size: 4})
		f.add(pb.ChunkInfoTypeMessage, make([]byte, 400_000))
		if _, err := chunked.Join(f.bytes(c.m), 1<<20); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	if _, err := chunked.Join(riegelitest.New().File, 1<<20); err == nil {
		t.Error("a file without records")
	}
}

func FuzzJoin(f *testing.F) {
	message := (&pb.NodeDef{Name: "n", Input: []string{"a"}}).Marshal()
	f.Add(message, (&pb.ChunkMetadata{Message: chunk(0, at(chunk(0), num(3), index(1)), at(chunk(0), num(5), key("k"), num(2)))}).Marshal())
	f.Fuzz(func(t *testing.T, data, meta []byte) {
		x := newFile()
		x.add(pb.ChunkInfoTypeMessage, data)
		x.add(pb.ChunkInfoTypeBytes, data)
		x.w.Records(0, append(meta, x.meta.Marshal()...))
		const most = 1 << 20
		if b, err := chunked.Join(x.w.File, most); err == nil && len(b) > 16*most {
			t.Errorf("%d bytes", len(b))
		}
	})
}
