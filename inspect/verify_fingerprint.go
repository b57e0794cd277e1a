package inspect

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/cairnml/cairn/bundle"
	"github.com/cairnml/cairn/internal/chunked"
	"github.com/cairnml/cairn/internal/fingerprint"
	"github.com/cairnml/cairn/internal/limit"
	"github.com/cairnml/cairn/internal/pb"
	"github.com/cairnml/cairn/savedmodel"
)

// knownFingerprint is the version of the rules by which package internal/fingerprint computes
// fingerprints, knownChunkedFingerprint of those for models in chunks: the field producer of
// version in TensorFlow's FingerprintDef. A fingerprint of another version isn't verified.
const (
	knownFingerprint        = 4
	knownChunkedFingerprint = 2
)

// verifyFingerprint compares the hashes of a SavedModel's fingerprint with those of its
// files. It returns the differences as faults and, if it couldn't compare, the reason as
// skipped. The function fault makes a fault of a file in dir.
func verifyFingerprint(ctx context.Context, dir fs.FS, m *savedmodel.SavedModel, maxMemory int64, fault func(file, what string) Fault) (faults []Fault, skipped string, err error) {
	f := m.Fingerprint
	known := knownFingerprint
	if m.File == savedmodel.ChunkedGraphFile {
		known = knownChunkedFingerprint
	}
	switch {
	case f == nil:
		return nil, "", nil
	case f.Producer != known:
		return nil, fmt.Sprintf("%s: made by version %d of the rules, known is %d", savedmodel.FingerprintFile, f.Producer, known), nil
	}
	index, _, err := wholeFile(dir, bundle.IndexName(savedmodel.VariablesPrefix), maxMemory)
	if errors.Is(err, fs.ErrNotExist) {
		index, err = nil, nil
	}
	var much *savedmodel.LimitError
	if err != nil && !errors.As(err, &much) {
		return nil, "", err
	}
	var own *pb.FingerprintDef
	if err == nil {
		var b []byte
		var most int64
		if b, most, err = wholeFile(dir, m.File, maxMemory); err == nil {
			own, err = computeFingerprint(m.File, b, most, index)
		}
	}
	var pathError *fs.PathError
	switch {
	case errors.As(err, &much), errors.Is(err, errors.ErrUnsupported):
		return nil, savedmodel.FingerprintFile + ": " + err.Error(), nil
	case errors.As(err, &pathError):
		return nil, "", err
	case err != nil:
		return []Fault{fault(m.File, fmt.Sprintf("has a fingerprint, and none can be computed: %v", err))}, "", nil
	}
	if err := ctx.Err(); err != nil {
		return nil, "", err
	}
	if f.Checksum != own.SavedModelChecksum {
		what := "the contents differ from those that the fingerprint was made of"
		if parts := differingParts(f, own); parts != "" {
			what += ", in " + parts
		}
		faults = append(faults, fault(m.File, fmt.Sprintf("%s: checksum %016x, want %016x", what, own.SavedModelChecksum, f.Checksum)))
	} else if parts := differingParts(f, own); parts != "" {
		faults = append(faults, fault(savedmodel.FingerprintFile, "the hashes of "+parts+" aren't those of "+m.File))
	}
	if f.CheckpointHash != own.CheckpointHash {
		what := fmt.Sprintf("the variables aren't those that were saved with %s: hash of the index %016x, want %016x", m.File, own.CheckpointHash, f.CheckpointHash)
		faults = append(faults, fault(bundle.IndexName(savedmodel.VariablesPrefix), what))
	}
	return faults, "", nil
}

// differingParts names the parts of a model whose hashes differ.
func differingParts(f *savedmodel.Fingerprint, own *pb.FingerprintDef) string {
	words := ""
	for _, p := range []struct {
		name      string
		got, want uint64
	}{
		{"the graph", own.GraphDefProgramHash, f.GraphHash}, {"the signatures", own.SignatureDefHash, f.SignatureHash},
		{"the functions' entries", own.SavedObjectGraphHash, f.SavedObjectHash},
	} {
		if p.got == p.want {
			continue
		}
		if words != "" {
			words += " and "
		}
		words += p.name
	}
	return words
}

// computeFingerprint returns the fingerprint that a model's file has.
func computeFingerprint(name string, b []byte, most int64, index []byte) (*pb.FingerprintDef, error) {
	if name == savedmodel.ChunkedGraphFile {
		var c fingerprint.Chunks
		if err := chunked.Each(b, most, c.Add); err != nil {
			return nil, err
		}
		return c.Fingerprint(index)
	}
	p := &pb.SavedModel{}
	if name == savedmodel.TextGraphFile {
		if err := pb.UnmarshalText(b, p); err != nil {
			return nil, err
		}
		f, _, err := fingerprint.Compute(p, index)
		return f, err
	}
	if need := pb.Memory(p, b); need > most {
		return nil, &savedmodel.LimitError{File: name, Need: need, Most: most}
	}
	if err := p.Unmarshal(b); err != nil {
		return nil, err
	}
	f, _, err := fingerprint.Compute(p, index)
	return f, err
}

// wholeFile reads a file, and returns the bytes of memory that decoding it may take at most.
func wholeFile(dir fs.FS, name string, maxMemory int64) (b []byte, most int64, err error) {
	f, err := dir.Open(name)
	if err != nil {
		return nil, 0, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, 0, err
	}
	most = max(limit.Memory(limit.Stored(f, info.Size())), maxMemory)
	if info.Size() > most {
		return nil, 0, &savedmodel.LimitError{File: name, Need: info.Size(), Most: most}
	}
	b, err = io.ReadAll(f)
	return b, most, err
}
