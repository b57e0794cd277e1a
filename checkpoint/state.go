package checkpoint

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cairnml/cairn/bundle"
	"github.com/cairnml/cairn/internal/statefile"
	"github.com/cairnml/cairn/vfs"
)

// CheckpointState is the contents of the file named "checkpoint" in the
// directory of a run's checkpoints: TensorFlow's message of that name.
// [GetCheckpointState] and [ReadCheckpointState] read it,
// [UpdateCheckpointState] and [Manager] write it.
type CheckpointState struct {
	// ModelCheckpointPath is the prefix of the latest checkpoint.
	ModelCheckpointPath string
	// AllModelCheckpointPaths are the prefixes of the managed checkpoints, the
	// oldest first. Those kept for ever by KeepEvery are not among them.
	AllModelCheckpointPaths []string
	// AllModelCheckpointTimestamps are the times at which they were written, in
	// seconds since 1970; it is as long as the paths, or empty.
	AllModelCheckpointTimestamps []float64
	// LastPreservedTimestamp is when the last checkpoint that is kept for ever was
	// written, in seconds since 1970; 0 if nothing is known.
	LastPreservedTimestamp float64
}

// StateOptions locate a state file and set the form of paths in it; nil means
// the defaults.
type StateOptions struct {
	// Filename is the state file's name in its directory. Default:
	// "checkpoint".
	Filename string
	// Relative writes absolute paths relative to the directory, so that it can
	// be moved, as [Manager] and Save do. Default false.
	Relative bool
	// Dir is the directory, if it isn't a directory of the operating system.
	// Default: vfs.OSDir of the path argument.
	Dir vfs.Dir
}

func (o *StateOptions) filename() string {
	if o == nil || o.Filename == "" {
		return statefile.Name
	}
	return o.Filename
}

func (o *StateOptions) dir(path string) vfs.Dir {
	if o == nil || o.Dir == nil {
		return vfs.OSDir(path)
	}
	return o.Dir
}

// A StateError reports that a state file can't be read: it isn't a
// CheckpointState as text proto, or names no checkpoint.
type StateError struct {
	File string // the state file
	Line int    // line of the fault, from 1; 0 if it has no position
	Col  int    // the byte in the line, from 1
	What string // the fault
}

// Error names file, place and fault.
func (e *StateError) Error() string {
	if e.Line == 0 {
		return fmt.Sprintf("checkpoint: state file %s: %s", e.File, e.What)
	}
	return fmt.Sprintf("checkpoint: state file %s:%d:%d: %s", e.File, e.Line, e.Col, e.What)
}

// Is reports whether target is [bundle.ErrCorrupt].
func (e *StateError) Is(target error) bool { return target == bundle.ErrCorrupt }

// MarshalText returns the state as TensorFlow's Python writes it, byte for
// byte. A path that isn't valid UTF-8 is an error.
func (s *CheckpointState) MarshalText() ([]byte, error) {
	text, err := (*statefile.State)(s).Append(nil)
	if err != nil {
		return nil, fmt.Errorf("checkpoint: %w", err)
	}
	return text, nil
}

// UnmarshalText parses the text of a state file, and leaves the paths as they
// are written. It accepts any text proto, and skips unknown fields; errors are
// a [StateError] with the position.
func (s *CheckpointState) UnmarshalText(text []byte) error {
	got, err := parseState(statefile.Name, text)
	if err == nil {
		*s = *got
	}
	return err
}

func parseState(file string, text []byte) (*CheckpointState, error) {
	s, err := statefile.Parse(text)
	if err == nil {
		return (*CheckpointState)(s), nil
	}
	e := &StateError{File: file, What: err.Error()}
	var place *statefile.Error
	if errors.As(err, &place) {
		e.Line, e.Col, e.What = place.Line, place.Col, place.What
	}
	return nil, e
}

// ReadCheckpointState reads the state file called name in fsys, and leaves the
// paths as they are written. If there is no such file the error is
// [ErrNotFound]; a state that names no latest checkpoint is a [StateError].
func ReadCheckpointState(fsys fs.FS, name string) (*CheckpointState, error) {
	return readState(fsys, name, name)
}

// readState reads name in fsys; shown is its name in errors.
func readState(fsys fs.FS, name, shown string) (*CheckpointState, error) {
	f, err := fsys.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, notFoundAt(shown, "no state file is there")
	} else if err != nil {
		return nil, fmt.Errorf("checkpoint: reading the state file: %w", err)
	}
	text, err := io.ReadAll(io.LimitReader(f, statefile.MaxSize+1))
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return nil, fmt.Errorf("checkpoint: reading the state file %s: %w", shown, err)
	}
	s, err := parseState(shown, text)
	if err != nil {
		return nil, err
	}
	if s.ModelCheckpointPath == "" {
		return nil, &StateError{File: shown, What: "it names no latest checkpoint (model_checkpoint_path is missing or empty)"}
	}
	return s, nil
}

// GetCheckpointState reads the state file of directory dir and completes relative
// paths with dir, as TensorFlow's function does; absolute ones, also those of
// another operating system, stay. Without such a file the error is
// [ErrNotFound]; a state that names no latest checkpoint is a [StateError].
// Whether the checkpoints are still there it doesn't ask: see [LatestCheckpoint].
func GetCheckpointState(dir string, opts *StateOptions) (*CheckpointState, error) {
	name := opts.filename()
	s, err := readState(opts.dir(dir), name, joinPath(dir, name))
	if err != nil {
		return nil, err
	}
	s.ModelCheckpointPath = completePath(dir, s.ModelCheckpointPath)
	for i, p := range s.AllModelCheckpointPaths {
		s.AllModelCheckpointPaths[i] = completePath(dir, p)
	}
	return s, nil
}

// UpdateCheckpointState writes the state file of directory dir, replacing the
// one that is there in a single step that survives a crash. Paths in s are as
// the program has them: relative ones are relative to the working directory
// when dir is relative, to dir when dir is absolute; in the file, they are
// relative to dir. ModelCheckpointPath is added to the list unless it is the
// last there. s isn't changed.
//
// A number of timestamps other than that of the paths is an error, and so is
// the path of the state file itself.
func UpdateCheckpointState(dir string, s *CheckpointState, opts *StateOptions) error {
	name := opts.filename()
	file := joinPath(dir, name)
	out, err := stateToWrite(dir, s, opts != nil && opts.Relative)
	if err != nil {
		return err
	}
	if sameFile(file, s.ModelCheckpointPath) || out.ModelCheckpointPath == file {
		return fmt.Errorf("checkpoint: the path %q is that of the state file %q; choose another name for the checkpoint", s.ModelCheckpointPath, file)
	}
	text, err := out.MarshalText()
	if err != nil {
		return err
	}
	if err := writeFileAtomically(opts.dir(dir), name, text); err != nil {
		return fmt.Errorf("checkpoint: writing the state file %s: %w", file, err)
	}
	return nil
}

// stateToWrite returns s with paths in the form of dir's state file.
func stateToWrite(dir string, s *CheckpointState, relative bool) (*CheckpointState, error) {
	if s == nil || s.ModelCheckpointPath == "" {
		return nil, errors.New("checkpoint: a state needs the path of the latest checkpoint (ModelCheckpointPath)")
	}
	out := *s
	out.AllModelCheckpointPaths = slices.Clone(s.AllModelCheckpointPaths)
	if n := len(out.AllModelCheckpointPaths); n == 0 || out.AllModelCheckpointPaths[n-1] != s.ModelCheckpointPath {
		out.AllModelCheckpointPaths = append(out.AllModelCheckpointPaths, s.ModelCheckpointPath)
	}
	if n, m := len(out.AllModelCheckpointTimestamps), len(out.AllModelCheckpointPaths); n != 0 && n != m {
		return nil, fmt.Errorf("checkpoint: a state has a timestamp for every path or none: got %d timestamps for the %d paths %q", n, m, out.AllModelCheckpointPaths)
	}
	out.ModelCheckpointPath = pathInState(dir, out.ModelCheckpointPath, relative)
	for i, p := range out.AllModelCheckpointPaths {
		out.AllModelCheckpointPaths[i] = pathInState(dir, p, relative)
	}
	return &out, nil
}

// pathInState returns the form of path p in the state file of directory dir. If
// there is no way from dir to p (another drive), p is unchanged.
func pathInState(dir, p string, relative bool) string {
	base := dir
	if filepath.IsAbs(p) {
		if !relative {
			return p
		}
		abs, err := filepath.Abs(dir)
		if err != nil {
			return p
		}
		base = abs
	} else if filepath.IsAbs(dir) || foreignAbs(p) {
		return p
	}
	if rel, err := filepath.Rel(base, p); err == nil {
		return rel
	}
	return p
}

// joinPath works like Python's os.path.join of two paths: it leaves dir as the user
// wrote it, so that "./run" produces "./run/ckpt-1".
func joinPath(dir, name string) string {
	if dir == "" || strings.HasSuffix(dir, "/") || strings.HasSuffix(dir, string(filepath.Separator)) {
		return dir + name
	}
	return dir + string(filepath.Separator) + name
}

func completePath(dir, p string) string {
	if filepath.IsAbs(p) || foreignAbs(p) {
		return p
	}
	return joinPath(dir, p)
}

// foreignAbs reports whether p is an absolute path of another operating system
// than this one: C:\models\ckpt-1 and \\host\share on Unix, /models on Windows.
func foreignAbs(p string) bool {
	if filepath.IsAbs(p) {
		return false
	}
	drive := len(p) >= 3 && p[1] == ':' && (p[2] == '\\' || p[2] == '/') && ('a' <= p[0]|0x20 && p[0]|0x20 <= 'z')
	return drive || strings.HasPrefix(p, `\\`) || strings.HasPrefix(p, "/")
}

func sameFile(a, b string) bool {
	aa, err1 := filepath.Abs(a)
	bb, err2 := filepath.Abs(b)
	return err1 == nil && err2 == nil && aa == bb
}
