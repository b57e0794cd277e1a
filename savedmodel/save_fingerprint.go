package savedmodel

import (
	"io/fs"
	"path"

	"github.com/cairnml/cairn/internal/fingerprint"
	"github.com/cairnml/cairn/vfs"
)

// writeFingerprint brings the model's message into its canonical form, in which the checksum
// is that of the file, and writes the file that identifies the model. The variables are
// written already.
func (s *saver) writeFingerprint(dir vfs.Dir, into string) error {
	index, err := fs.ReadFile(dir, path.Join(into, VariablesPrefix+".index"))
	if err != nil {
		return &SaveError{Err: err}
	}
	f, err := fingerprint.Compute(s.model, index)
	if err != nil {
		return &SaveError{Err: err}
	}
	if err := writeFile(dir, path.Join(into, FingerprintFile), f.Marshal()); err != nil {
		return &SaveError{Err: err}
	}
	return nil
}
