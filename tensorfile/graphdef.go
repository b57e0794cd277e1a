package tensorfile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	pathpkg "path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cairnml/cairn/internal/limit"
	"github.com/cairnml/cairn/internal/misplaced"
	"github.com/cairnml/cairn/internal/pb"
	"github.com/cairnml/cairn/internal/tensorproto"
	"github.com/cairnml/cairn/tensor"
)

// graphStore lists the constants of a GraphDef, the values of a frozen graph, by the names of their
// nodes. Constants inside of functions aren't listed: their names aren't unique.
type graphStore struct {
	listed
	f      io.Closer
	values map[string]*pb.TensorProto // by name, not yet decoded
	most   int64                      // bytes that a value may take in memory
}

// IsGraphDef reports whether name is a regular file with the suffix of a GraphDef, .pb or
// .pbtxt, unless its name is that of a SavedModel's graph file. The file is in fsys, or in
// the operating system's file system if fsys is nil. The contents aren't read.
func IsGraphDef(fsys fs.FS, name string) bool {
	stat, base := os.Stat, filepath.Base
	if fsys != nil {
		stat, base = func(name string) (fs.FileInfo, error) { return fs.Stat(fsys, name) }, pathpkg.Base
	}
	switch strings.ToLower(filepath.Ext(name)) {
	case ".pb", ".pbtxt":
	default:
		return false
	}
	if slices.Contains(graphFiles, base(name)) {
		return false
	}
	info, err := stat(name)
	return err == nil && info.Mode().IsRegular()
}

// GraphDefError reports that a file, whose name is that of a GraphDef, can't be decoded as one.
type GraphDefError struct {
	Path string
	Err  error
}

// Error returns the path and the cause.
func (e *GraphDefError) Error() string { return e.Path + " " + e.Words() }

// Words returns the cause without the path.
func (e *GraphDefError) Words() string {
	if errors.Is(e.Err, io.ErrUnexpectedEOF) {
		return fmt.Sprintf("is no whole GraphDef: %v", e.Err)
	}
	return fmt.Sprintf("is no GraphDef: %v", e.Err)
}

// Unwrap returns the cause.
func (e *GraphDefError) Unwrap() error { return e.Err }

func openGraphDef(path string, o *Options) (backend, error) {
	f, size, err := openSized(path)
	if err != nil {
		return nil, err
	}
	b, err := newGraphDef(f, size, f, path, o)
	if err != nil {
		f.Close()
	}
	return b, err
}

// newGraphDef reads the GraphDef in r, of size bytes. The store's close closes f. If newGraphDef fails,
// the caller closes it. name is the file's, whose suffix decides between text and binary form.
func newGraphDef(r io.ReaderAt, size int64, f io.Closer, name string, o *Options) (backend, error) {
	most := o.memory(limit.Stored(f, size))
	much := func(need int64) error {
		return fmt.Errorf("%s takes %d bytes of memory, more than %d; %s", name, need, most, raises)
	}
	if size > most {
		return nil, much(size)
	}
	b := make([]byte, size)
	if _, err := io.ReadFull(io.NewSectionReader(r, 0, size), b); err != nil {
		return nil, err
	}
	if err := misplaced.Check(b); err != nil {
		return nil, err
	}
	var g pb.GraphDef
	switch {
	case strings.HasSuffix(strings.ToLower(name), ".pbtxt"):
		// Each message in text begins with { or <, so their number bounds the messages, each
		// of at most maxNode bytes in memory.
		if need := int64(strings.Count(string(b), "{")+strings.Count(string(b), "<")) * maxNode; need > most {
			return nil, much(need)
		}
		if err := pb.UnmarshalText(b, &g); err != nil {
			return nil, &GraphDefError{name, err}
		}
	case size > 0 && b[0] == 1<<3: // field 1 as a number: saved_model_schema_version; in a GraphDef it is a node
		return nil, fmt.Errorf("%s is a SavedModel's file under another name (want saved_model.pb in a separate directory)", name)
	default:
		if need := pb.Memory(&g, b); need > most {
			return nil, much(need)
		}
		if err := g.Unmarshal(b); err != nil {
			return nil, &GraphDefError{name, err}
		}
	}
	if len(g.Node) == 0 {
		return nil, &GraphDefError{name, errors.New("it has no nodes")}
	}
	s := &graphStore{f: f, values: map[string]*pb.TensorProto{}, most: most}
	for _, n := range g.Node {
		if err := s.add(n); err != nil {
			return nil, fmt.Errorf("%s: node %q: %w", name, n.Name, err)
		}
	}
	slices.SortFunc(s.listed, func(a, b Entry) int { return strings.Compare(a.Name, b.Name) })
	return s, nil
}

// maxNode is about the memory in bytes of the largest of the messages that make up a node.
const maxNode = 512

// add lists a node if it is a constant. A constant without a value is no entry; running the graph
// reports it.
func (s *graphStore) add(n *pb.NodeDef) error {
	if n == nil || n.Op != "Const" {
		return nil
	}
	for _, a := range n.Attr {
		if a.Key != "value" || a.Value == nil || a.Value.Tensor == nil {
			continue
		}
		t := a.Value.Tensor
		shape, err := tensorproto.Shape(t.TensorShape)
		if err != nil {
			return err
		}
		if s.values[n.Name] != nil {
			return errors.New("there are two nodes of that name")
		}
		e := Entry{Name: n.Name, DType: tensor.DType(t.Dtype), Shape: shape, Offset: -1}
		count, err := shape.NumElements()
		if err != nil {
			return err
		}
		if e.DType.Fixed() {
			e.Bytes = int64(count) * int64(e.DType.Size())
		}
		for _, v := range t.StringVal {
			e.Bytes += int64(len(v))
		}
		s.values[n.Name], s.listed = t, append(s.listed, e)
	}
	return nil
}

func (s *graphStore) read(_ context.Context, name string) (*tensor.Tensor, error) {
	allowance := s.most
	return tensorproto.Decode(s.values[name], &allowance)
}

func (s *graphStore) close() error { return s.f.Close() }
