package savedmodel

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/cairnml/cairn/bundle"
	"github.com/cairnml/cairn/checkpoint"
	"github.com/cairnml/cairn/internal/chunked"
	"github.com/cairnml/cairn/internal/nearest"
	"github.com/cairnml/cairn/internal/pb"
	"github.com/cairnml/cairn/internal/riegeli"
)

// The files of a SavedModel's directory.
const (
	// GraphFile holds the MetaGraphs.
	GraphFile = "saved_model.pb"
	// ChunkedGraphFile contains them in chunks, if they are too large for a
	// [GraphFile].
	ChunkedGraphFile = "saved_model.cpb"
	// TextGraphFile contains them as text. It is read if there is no other.
	TextGraphFile = "saved_model.pbtxt"
	// FingerprintFile identifies the contents.
	FingerprintFile = "fingerprint.pb"
	// VariablesPrefix is the name of the checkpoint with the weights.
	VariablesPrefix = "variables/variables"
	// AssetsDir holds the files that ops read.
	AssetsDir = "assets"
	// DebugInfoFile contains the Python stack that made each node.
	DebugInfoFile = "debug/saved_model_debug_info.pb"
)

// ReadOptions control how a SavedModel is read; nil means the defaults.
type ReadOptions struct {
	// MaxMemory raises the memory that reading a file may take, in bytes.
	// Default: 64 MiB and 16 times the size on the disk.
	MaxMemory int64
}

func (o *ReadOptions) maxMemory() int64 {
	if o == nil {
		return 0
	}
	return o.MaxMemory
}

// SavedModel is the contents of a directory without the weights.
type SavedModel struct {
	// MetaGraphs are the graphs, in the order of the file: one for most models.
	MetaGraphs []*MetaGraph
	// File is the name of the file that was read.
	File string
	// Fingerprint identifies the contents; nil if there is none.
	Fingerprint *Fingerprint

	fsys fs.FS
	opts *ReadOptions
	most int64      // the limit of the memory for the decoded file, in bytes
	held *graphFile // the file, if its parts are read later; nil if it is in memory

	unknown   []byte // fields that this package doesn't know, as they were encoded
	graphOnly bool   // the file contains a GraphDef, which has no checkpoint
}

// Fingerprint identifies the contents of a SavedModel.
type Fingerprint struct {
	// Checksum is that of the graph's file.
	Checksum uint64
	// GraphHash, SignatureHash, SavedObjectHash and CheckpointHash are those of
	// the parts, by TensorFlow's own rules.
	GraphHash, SignatureHash, SavedObjectHash, CheckpointHash uint64
	// UUID identifies a save. TensorFlow draws it; Cairn makes it of the hashes.
	UUID string
	// Producer is the version of the rules.
	Producer int
}

// Read reads a SavedModel from its directory: the graph's file and the
// fingerprint. No weights are read and nothing is run.
func Read(ctx context.Context, fsys fs.FS, opts *ReadOptions) (*SavedModel, error) {
	m := &SavedModel{fsys: fsys, opts: opts}
	graphs, err := m.readGraphs(ctx)
	if err != nil {
		return nil, err
	}
	var metas []pb.Source
	rest, err := graphs.Split(func(p *pb.Parts) error {
		if metas = append(metas, p.Part); int64(len(metas))*maxMessage > m.most {
			return &LimitError{m.File, int64(len(metas)) * maxMessage, m.most}
		}
		return nil
	}, fieldMetaGraphs)
	var b []byte
	if err == nil {
		b, err = rest.Read()
	}
	var p pb.SavedModel
	if err == nil {
		if isGraphDef(b) {
			err = errors.New("it is a GraphDef, a graph alone, and not a SavedModel")
		} else {
			err = p.Unmarshal(b)
		}
	}
	var much *LimitError
	if errors.As(err, &much) {
		return nil, err
	}
	if err != nil {
		return nil, &FormatError{m.File, err}
	}
	if v := p.SavedModelSchemaVersion; v > 1 {
		return nil, &FormatError{m.File, fmt.Errorf("its schema has version %d, the newest known is 1: %w", v, errors.ErrUnsupported)}
	}
	if len(metas) == 0 {
		return nil, &FormatError{m.File, errors.New("it holds no MetaGraph")}
	}
	m.unknown = p.Unknown
	for i, s := range metas {
		g, err := newMetaGraph(m, s)
		if errors.As(err, &much) {
			return nil, err
		}
		if err != nil {
			return nil, &FormatError{m.File, fmt.Errorf("MetaGraph %d: %w", i, err)}
		}
		m.MetaGraphs = append(m.MetaGraphs, g)
	}
	if err := m.held.unchanged(); err != nil {
		return nil, err
	}
	return m, m.readFingerprint()
}

// isGraphDef reports whether a message is a GraphDef without its library. b was
// read as a SavedModel without its MetaGraphs. The nodes or versions of a
// GraphDef are messages, but a SavedModel has a number or nothing in these
// fields.
func isGraphDef(b []byte) bool {
	for len(b) > 0 {
		number, kind, n := protowire.ConsumeTag(b)
		if n < 0 {
			return false
		}
		size := protowire.ConsumeFieldValue(number, kind, b[n:])
		if size < 0 {
			return false
		}
		if kind == protowire.BytesType && (number == 1 || number == 4) {
			return true
		}
		b = b[n+size:]
	}
	return false
}

// fieldMetaGraphs is the number of a SavedModel's field.
const fieldMetaGraphs = 2

// Unmarshal decodes the contents of a [GraphFile] without a directory. The
// parts in other files, weights and assets, are missing.
func Unmarshal(b []byte, opts *ReadOptions) (*SavedModel, error) {
	return Read(context.Background(), oneFile{GraphFile, b}, opts)
}

// UnmarshalText decodes like [Unmarshal], for the contents of a [TextGraphFile].
func UnmarshalText(b []byte, opts *ReadOptions) (*SavedModel, error) {
	return Read(context.Background(), oneFile{TextGraphFile, b}, opts)
}

// FS returns the model's directory.
func (m *SavedModel) FS() fs.FS { return m.fsys }

// OpenVariables opens the checkpoint of the model's variables, which the caller closes.
// The error of a model without one is [fs.ErrNotExist].
func (m *SavedModel) OpenVariables(ctx context.Context) (*checkpoint.View, error) {
	if m.graphOnly {
		return nil, fmt.Errorf("savedmodel: a GraphDef has no checkpoint: %w", fs.ErrNotExist)
	}
	view, err := checkpoint.OpenFS(ctx, m.fsys, VariablesPrefix, &bundle.ReaderOptions{MaxMemory: m.opts.maxMemory()})
	if err != nil {
		return nil, fmt.Errorf("savedmodel: %w", err)
	}
	return view, nil
}

// readGraphs finds the file with the graphs, and returns the SavedModel that it is. Of several files the
// binary one counts, then the chunks, then the text.
func (m *SavedModel) readGraphs(ctx context.Context) (pb.Source, error) {
	for _, f := range []struct {
		name string
		open func() (pb.Source, error)
	}{
		{GraphFile, m.openBinary},
		{ChunkedGraphFile, m.readChunked},
		{TextGraphFile, m.readText},
	} {
		if err := context.Cause(ctx); err != nil {
			return pb.Source{}, err
		}
		m.File = f.name
		s, err := f.open()
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		return s, err
	}
	return pb.Source{}, noGraphs(m.fsys)
}

// noGraphs returns an error with advice for a directory that isn't a
// SavedModel's.
func noGraphs(fsys fs.FS) error {
	entries, err := fs.ReadDir(fsys, ".")
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("savedmodel: there is no such directory: %w", fs.ErrNotExist)
	}
	var below []string // a server's directory holds one model a version
	for _, e := range entries {
		for _, name := range []string{GraphFile, ChunkedGraphFile, TextGraphFile} {
			if _, err := fs.Stat(fsys, e.Name()+"/"+name); err == nil && e.IsDir() {
				below = append(below, e.Name())
				break
			}
		}
	}
	return &NoModelError{below}
}

// NoModelError reports a directory that is no SavedModel's. It is an [fs.ErrNotExist].
type NoModelError struct {
	// Below are the directories in it that are, such as the versions of a
	// server.
	Below []string
}

// Error returns the missing files, and the SavedModels in directories.
func (e *NoModelError) Error() string { return "savedmodel: " + e.Reason() }

// Reason returns the text of the error, without the package.
func (e *NoModelError) Reason() string {
	if len(e.Below) > 0 {
		return fmt.Sprintf("the directory holds SavedModels, in %s, and isn't one; open one of these", nearest.Few(e.Below))
	}
	return fmt.Sprintf("the directory holds none of %s, %s and %s", GraphFile, ChunkedGraphFile, TextGraphFile)
}

// Is reports whether target is [fs.ErrNotExist].
func (e *NoModelError) Is(target error) bool { return target == fs.ErrNotExist }

func (m *SavedModel) openBinary() (pb.Source, error) {
	f, err := openFile(m.fsys, m.File, m.opts)
	if err != nil {
		return pb.Source{}, err
	}
	m.most = f.most
	var s pb.Source
	if m.held, s, err = f.keepOpen(); err != nil {
		return s, err
	}
	return s, nil
}

func (m *SavedModel) readChunked() (pb.Source, error) {
	b, most, err := readFile(m.fsys, m.File, m.opts)
	if err != nil {
		return pb.Source{}, err
	}
	m.most = most
	whole, err := chunked.Join(b, most)
	if errors.Is(err, chunked.ErrLimit) || errors.Is(err, riegeli.ErrLimit) {
		return pb.Source{}, &LimitError{m.File, most + 1, most}
	}
	if err != nil {
		return pb.Source{}, &FormatError{m.File, err}
	}
	return pb.InMemory(whole), nil
}

// textFactor is the number of bytes of memory that a byte of text may become: an empty message in it
// takes at least four bytes.
const textFactor = 64

func (m *SavedModel) readText() (pb.Source, error) {
	b, most, err := readFile(m.fsys, m.File, m.opts)
	if err != nil {
		return pb.Source{}, err
	}
	m.most = most
	if need := int64(len(b)) * textFactor; need > most {
		// The messages take less in most cases; this limit counts them.
		if need = int64(bytes.Count(b, []byte("{"))+bytes.Count(b, []byte("<"))) * maxMessage; need > most {
			return pb.Source{}, &LimitError{m.File, need, most}
		}
	}
	var p pb.SavedModel
	if err := pb.UnmarshalText(b, &p); err != nil {
		return pb.Source{}, &FormatError{m.File, err}
	}
	return pb.InMemory(p.Marshal()), nil
}

// maxMessage is roughly the size in bytes of the largest struct of a message in package pb, without its
// contents. Estimates of memory count it for each message.
const maxMessage = 512

// limit returns the number of bytes that messages of size bytes of the file may take in memory; 0, which
// means any, if so few bytes can't take too much.
func (m *SavedModel) limit(size int64) int64 {
	// No message grows more than so many times: counting is left out for small files.
	if size*maxMessage/2 <= m.most {
		return 0
	}
	return m.most
}

// checkMemory refuses a message that would take too much once it is decoded.
func (m *SavedModel) checkMemory(msg pb.Message, b []byte) error {
	return checkMemory(m.File, msg, b, m.limit(int64(len(b))))
}

// checkMemory refuses a message that would take more than most once it is decoded; 0 is any.
func checkMemory(file string, msg pb.Message, b []byte, most int64) error {
	if most == 0 {
		return nil
	}
	if need := pb.Memory(msg, b); need > most {
		return &LimitError{file, need, most}
	}
	return nil
}

func (m *SavedModel) readFingerprint() error {
	b, _, err := readFile(m.fsys, FingerprintFile, m.opts)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	var p pb.FingerprintDef
	if err := p.Unmarshal(b); err != nil {
		return &FormatError{FingerprintFile, err}
	}
	m.Fingerprint = &Fingerprint{
		Checksum: p.SavedModelChecksum, GraphHash: p.GraphDefProgramHash, SignatureHash: p.SignatureDefHash,
		SavedObjectHash: p.SavedObjectGraphHash, CheckpointHash: p.CheckpointHash, UUID: p.Uuid,
	}
	if p.Version != nil {
		m.Fingerprint.Producer = int(p.Version.Producer)
	}
	return nil
}

// DebugInfo returns the contents of [DebugInfoFile], an encoded GraphDebugInfo;
// nil if there is none.
func (m *SavedModel) DebugInfo() ([]byte, error) {
	b, _, err := readFile(m.fsys, DebugInfoFile, m.opts)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return b, err
}

// Find returns the MetaGraph that has exactly these tags, in any order. Without
// tags it returns the only one. Of several it returns the one without tags, as
// modules of TensorFlow Hub have for inference, or else the one whose tags are
// "serve".
func (m *SavedModel) Find(tags ...string) (*MetaGraph, error) {
	if len(tags) == 0 {
		if len(m.MetaGraphs) == 1 {
			return m.MetaGraphs[0], nil
		}
		for _, tags := range [][]string{{}, {"serve"}} {
			if g, err := m.exactly(tags); err == nil {
				return g, nil
			}
		}
		return nil, &TagsError{Have: m.tags()}
	}
	return m.exactly(tags)
}

// exactly returns the only MetaGraph that has these tags and no other.
func (m *SavedModel) exactly(tags []string) (*MetaGraph, error) {
	var found *MetaGraph
	for _, g := range m.MetaGraphs {
		if !sameTags(g.Tags, tags) {
			continue
		}
		if found != nil {
			return nil, &TagsError{Want: tags, Have: m.tags()}
		}
		found = g
	}
	if found == nil {
		return nil, &TagsError{Want: tags, Have: m.tags()}
	}
	return found, nil
}

func (m *SavedModel) tags() (all [][]string) {
	for _, g := range m.MetaGraphs {
		all = append(all, g.Tags)
	}
	return all
}
