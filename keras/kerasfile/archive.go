package kerasfile

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"

	"github.com/cairnml/cairn/hdf5"
	"github.com/cairnml/cairn/internal/zipfile"
)

// Members of an archive.
const (
	metadataName = "metadata.json"
	configName   = "config.json"
	weightsName  = "model.weights.h5"
)

// openArchive reads the members of an archive. Open calls it, and drops f after an error. size is
// the archive's, memory the limit for one member, both in bytes.
func (f *File) openArchive(r io.ReaderAt, size, memory int64) error {
	z, err := zipfile.Open(r, size)
	if err != nil {
		return &FormatError{What: "the archive can't be read", Err: err}
	}
	if err := checkMembers(z, size); err != nil {
		return err
	}
	f.members = z.File
	var weights *zip.File
	for _, m := range z.File {
		switch {
		case m.Name == metadataName:
			f.Metadata, err = readMember(m, memory)
		case m.Name == configName:
			f.Config, err = readMember(m, memory)
		case m.Name == weightsName:
			weights = m
		case m.Name == "model.weights.npz":
			err = &UnsupportedError{m.Name, "weights in a pickle"}
		case m.Name == "model.weights.json":
			err = &UnsupportedError{m.Name, "weights in several files"}
		case strings.HasSuffix(m.Name, "/"): // a directory
		default:
			f.Members = append(f.Members, member(m, memory))
		}
		if err != nil {
			return err
		}
	}
	if f.Config == nil || weights == nil {
		return &FormatError{What: "the archive has no " + configName + " or no " + weightsName + ": it is no Keras archive"}
	}
	if !json.Valid(f.Config) {
		return &FormatError{Name: configName, What: "not valid JSON"}
	}
	if f.Metadata != nil {
		var meta struct {
			KerasVersion string `json:"keras_version"`
		}
		if err := json.Unmarshal(f.Metadata, &meta); err != nil {
			return &FormatError{Name: metadataName, What: "not valid JSON", Err: err}
		}
		f.KerasVersion = meta.KerasVersion
	}
	at, n, err := memberAt(r, weights, memory)
	if err != nil {
		return err
	}
	if f.h5, err = hdf5.Open(at, n, &hdf5.Options{MaxMemory: memory}); err != nil {
		return fmt.Errorf("%s: %w", weightsName, err)
	}
	if err := f.readObjects(); err != nil {
		return fmt.Errorf("%s: %w", weightsName, err)
	}
	return nil
}

// maxName is the largest number of bytes of a member's name. It's a limit of ours.
const maxName = 4096

// checkMembers refuses members that overlap in the archive, and names that lead out of a
// directory that they are unpacked to.
func checkMembers(z *zip.Reader, size int64) error {
	folders := map[string]bool{} // by name, whether the member is a directory
	stored := uint64(0)
	for _, m := range z.File {
		name, folder := strings.CutSuffix(m.Name, "/")
		_, twice := folders[name]
		switch {
		case !fs.ValidPath(name) || name == "." || len(name) > maxName || strings.ContainsAny(name, "\\:\x00"):
			return &FormatError{Name: m.Name, What: "the name of a member is not a path below the archive"}
		case twice:
			return &FormatError{Name: m.Name, What: "two members have the name"}
		case m.Mode()&fs.ModeType&^fs.ModeDir != 0:
			return &FormatError{Name: m.Name, What: "the member is no regular file"}
		case m.Flags&1 != 0:
			return &UnsupportedError{m.Name, "encrypted members"}
		}
		folders[name] = folder
		if stored += m.CompressedSize64; stored > uint64(size) || m.CompressedSize64 > uint64(size) {
			return &FormatError{Name: m.Name, What: "the members together are larger than the archive"}
		}
	}
	for name := range folders {
		for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
			if folder, ok := folders[dir]; ok && !folder {
				return &FormatError{Name: dir, What: "the member is a file and a directory"}
			}
		}
	}
	return nil
}

// member describes a file of the archive.
func member(m *zip.File, memory int64) Member {
	return Member{Name: m.Name, Size: int64(m.UncompressedSize64), Open: func() (io.ReadCloser, error) {
		if m.UncompressedSize64 > uint64(memory) {
			return nil, tooLarge(m, memory)
		}
		r, err := m.Open()
		if err != nil {
			return nil, &FormatError{Name: m.Name, What: "the member can't be read", Err: err}
		}
		return r, nil
	}}
}

func tooLarge(m *zip.File, memory int64) error {
	return &UnsupportedError{m.Name, fmt.Sprintf("a member of %d bytes in an archive of this size (the limit is %d; Options.MaxMemory raises it)", m.UncompressedSize64, memory)}
}

// readMember returns a member's bytes. They are no more than the zip's header states, which
// archive/zip checks, and their checksum is right.
func readMember(m *zip.File, memory int64) ([]byte, error) {
	r, err := member(m, memory).Open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	b, err := io.ReadAll(r)
	if err != nil {
		return nil, &FormatError{Name: m.Name, What: "the member can't be read", Err: err}
	}
	return b, nil
}

// memberAt returns random access to a member, and its size: in the archive if it is stored, else in
// memory, below the limit.
func memberAt(r io.ReaderAt, m *zip.File, memory int64) (io.ReaderAt, int64, error) {
	if m.Method != zip.Store || m.CompressedSize64 != m.UncompressedSize64 {
		b, err := readMember(m, memory)
		return bytes.NewReader(b), int64(len(b)), err
	}
	at, err := m.DataOffset()
	if err != nil {
		return nil, 0, &FormatError{Name: m.Name, What: "the member can't be read", Err: err}
	}
	n := int64(m.CompressedSize64)
	return io.NewSectionReader(r, at, n), n, nil
}
