package inspect

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/cairnml/cairn/bundle"
	"github.com/cairnml/cairn/internal/fingerprint"
	"github.com/cairnml/cairn/internal/limit"
	"github.com/cairnml/cairn/internal/pb"
	"github.com/cairnml/cairn/savedmodel"
)

// knownFingerprint is the version of the rules by which fingerprints are computed.
const knownFingerprint = 4

// verifyFingerprint compares the hashes of a SavedModel's fingerprint with those of its
// files. It returns the differences as faults and, if it couldn't compare, the reason.
func verifyFingerprint(ctx context.Context, dir fs.FS, m *savedmodel.SavedModel, maxMemory int64, fault func(file, what string) Fault) (faults []Fault, skipped string, err error) {
	f := m.Fingerprint
	switch {
	case f == nil:
		return nil, "", nil
	case f.Producer != knownFingerprint:
		return nil, fmt.Sprintf("%s: made by version %d of the rules, known is %d", savedmodel.FingerprintFile, f.Producer, knownFingerprint), nil
	case m.File == savedmodel.ChunkedGraphFile:
		return nil, savedmodel.FingerprintFile + ": of a model in chunks", nil
	}
	p, err := wholeModel(dir, m.File, maxMemory)
	var much *savedmodel.LimitError
	if errors.As(err, &much) {
		return nil, savedmodel.FingerprintFile + ": " + much.Error(), nil
	}
	if err != nil {
		return nil, "", err
	}
	if err := ctx.Err(); err != nil {
		return nil, "", err
	}
	index, err := fs.ReadFile(dir, bundle.IndexName(savedmodel.VariablesPrefix))
	if errors.Is(err, fs.ErrNotExist) {
		index, err = nil, nil
	}
	if err != nil {
		return nil, "", err
	}
	own, err := fingerprint.Compute(p, index)
	if err != nil {
		return []Fault{fault(m.File, fmt.Sprintf("has a fingerprint, and none can be computed: %v", err))}, "", nil
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

// wholeModel decodes the message in a model's file, within the memory that reading the
// file may take.
func wholeModel(dir fs.FS, name string, maxMemory int64) (*pb.SavedModel, error) {
	f, err := dir.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	most := max(limit.Memory(limit.Stored(f, info.Size())), maxMemory)
	if info.Size() > most {
		return nil, &savedmodel.LimitError{File: name, Need: info.Size(), Most: most}
	}
	b, err := io.ReadAll(f)
	if err != nil {
		return nil, err
	}
	p := &pb.SavedModel{}
	if name == savedmodel.TextGraphFile {
		return p, pb.UnmarshalText(b, p)
	}
	if need := pb.Memory(p, b); need > most {
		return nil, &savedmodel.LimitError{File: name, Need: need, Most: most}
	}
	return p, p.Unmarshal(b)
}
