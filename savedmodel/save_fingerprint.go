package savedmodel

import (
	"bufio"
	"errors"
	"io/fs"
	"path"

	"github.com/cairnml/cairn/internal/chunked"
	"github.com/cairnml/cairn/internal/fingerprint"
	"github.com/cairnml/cairn/internal/pb"
	"github.com/cairnml/cairn/vfs"
)

// maxGraphFile is the size of the largest [GraphFile]. Protocol buffers have no larger
// messages.
const maxGraphFile = 1<<31 - 1

// chunkLimits are the sizes by which a model is written in chunks. Tests lower them.
type chunkLimits struct {
	file  int64 // the largest [GraphFile]; a larger model becomes a [ChunkedGraphFile]
	chunk int64 // the largest chunk; 0 is TensorFlow's limit
}

// writeGraphs writes the graph's file under its name with ".tmp" added, and the file that
// identifies the model. It returns the name of the graph's file. The variables are
// written already.
func writeGraphs(dir vfs.Dir, into string, m *pb.SavedModel, limits chunkLimits) (name string, err error) {
	index, err := fs.ReadFile(dir, path.Join(into, VariablesPrefix+".index"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // a model of TensorFlow 1 may have no variables
		return "", err
	}
	var f *pb.FingerprintDef
	if int64(pb.Size(m)) <= limits.file {
		// The model gets its canonical form, in which the checksum is that of the file.
		var encoded []byte
		if f, encoded, err = fingerprint.Compute(m, index); err != nil {
			return "", err
		}
		name = GraphFile
		err = writeFile(dir, path.Join(into, name+".tmp"), encoded)
	} else {
		name = ChunkedGraphFile
		f, err = writeChunked(dir, path.Join(into, name+".tmp"), m, limits.chunk, index)
	}
	if err != nil {
		return "", err
	}
	return name, writeFile(dir, path.Join(into, FingerprintFile), f.Marshal())
}

// writeChunked writes a model in chunks, makes the file durable, and returns the model's
// fingerprint.
func writeChunked(dir vfs.Dir, name string, m *pb.SavedModel, most int64, index []byte) (*pb.FingerprintDef, error) {
	if err := pb.Canonical(m); err != nil {
		return nil, err
	}
	f, err := dir.Create(name)
	if err != nil {
		return nil, err
	}
	var hashes fingerprint.Chunks
	w := bufio.NewWriterSize(f, 1<<20)
	err = chunked.Write(w, m, most, hashes.Add)
	if err == nil {
		err = w.Flush()
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, err
	}
	return hashes.Fingerprint(index)
}
