package checkpoint

import (
	"errors"
	"math"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/cairnml/cairn/internal/statefile"
)

// recover reads the state that an earlier manager left in the state file, as
// TensorFlow's CheckpointManager does when it is created. The managed checkpoints are
// those in record.list: the manager may delete only these.
func (m *Manager) recover() error {
	now := secondsOf(m.opts.Clock())
	s, err := readState(m.dir, statefile.Name, joinPath(m.directory, statefile.Name))
	if errors.Is(err, ErrNotFound) {
		// One second back, as in TensorFlow, so that the first checkpoint is newer than
		// this even if managers are created in quick succession.
		r := record{last: now - 1}
		m.setCurrent(r)
		m.disk = []record{r}
		return nil
	} else if err != nil {
		return err
	}
	side, found, err := readSide(m.dir, joinPath(m.directory, sideName))
	if err != nil {
		return err
	}
	m.side = found
	var r record
	r.latest = m.entryOf(s.ModelCheckpointPath, side)
	// If the clock was set back to before the last preserved time, that time becomes
	// now: otherwise later checkpoints would look preserved. The listed ones are no
	// later than now, so they count as preserved and are never deleted, as in
	// TensorFlow.
	r.last = min(s.LastPreservedTimestamp, now)
	at := make(map[string]int)
	for i, p := range s.AllModelCheckpointPaths {
		stamp := r.last
		if len(s.AllModelCheckpointTimestamps) > 0 {
			if i >= len(s.AllModelCheckpointTimestamps) {
				break // as Python's zip ends in TensorFlow
			}
			stamp = s.AllModelCheckpointTimestamps[i]
		}
		stamp = min(stamp, now) // a time in the future becomes now
		if math.IsNaN(stamp) || stamp <= r.last {
			r.other = append(r.other, m.entryOf(p, side).name)
			continue // preserved, or written without a manager: not ours to delete
		}
		e := m.entryOf(p, side)
		e.stamp = stamp
		if e.path == r.latest.path {
			r.latest = e
		}
		if j, ok := at[e.path]; ok {
			r.list[j] = e
		} else {
			at[e.path] = len(r.list)
			r.list = append(r.list, e)
		}
	}
	m.setCurrent(r)
	m.disk = []record{r}
	return nil
}

// entryOf returns the checkpoint that a path in the state file means. Its name is "" if
// it is outside the manager's directory, and its step is -1 if unknown. side adds the
// step and metrics, which the state file has no fields for.
func (m *Manager) entryOf(p string, side sideFile) entry {
	e := entry{step: -1}
	switch {
	case filepath.IsAbs(p):
		e.path = p
		if abs, err := filepath.Abs(m.directory); err == nil {
			if rel, err := filepath.Rel(abs, p); err == nil && filepath.IsLocal(rel) && rel != "." {
				e.name = filepath.ToSlash(rel)
			}
		}
		if base := lastElement(p); e.name == "" && !Exists(p) && existsIn(m.dir, base) {
			e.name, e.path = base, joinPath(m.directory, base) // the directory was moved
		}
	case !foreignAbs(p) && !filepath.IsLocal(p):
		e.path = joinPath(m.directory, filepath.Clean(p)) // "../...": outside the directory
	default:
		options := fsCandidates(p)
		if len(options) == 0 {
			e.path = joinPath(m.directory, p)
			break
		}
		e.name = options[0]
		for _, o := range options {
			if len(options) > 1 && existsIn(m.dir, o) {
				e.name = o
				break
			}
		}
		e.path = joinPath(m.directory, filepath.FromSlash(e.name))
	}
	if m.linkedAway(e.name) {
		e.name = "" // outside, by way of a link
	}
	if n, ok := m.numberOf(e.name); ok {
		e.step = n
	}
	if s, ok := side.Checkpoints[e.key()]; ok {
		if s.Step != nil {
			e.step = *s.Step
		}
		for k, v := range s.Metrics {
			if e.metrics == nil {
				e.metrics = map[string]float64{}
			}
			e.metrics[k] = float64(v)
		}
	}
	return e
}

// linkedAway reports whether the directory of a name in the directory is,
// through symbolic links, a directory outside.
func (m *Manager) linkedAway(name string) bool {
	folder := path.Dir(name)
	if m.opts.Dir != nil || folder == "." {
		return false
	}
	root, err1 := filepath.EvalSymlinks(m.directory)
	real, err2 := filepath.EvalSymlinks(filepath.Join(m.directory, filepath.FromSlash(folder)))
	if err1 != nil || err2 != nil {
		return false // no file is there
	}
	rel, err := filepath.Rel(root, real)
	return err != nil || !filepath.IsLocal(rel)
}

// numberOf takes the number from the name of one of our checkpoints.
func (m *Manager) numberOf(name string) (int64, bool) {
	rest, ok := strings.CutPrefix(name, m.opts.CheckpointName+"-")
	if !ok {
		return 0, false
	}
	n, err := strconv.ParseInt(rest, 10, 64)
	return n, err == nil
}

// writeState writes the state file.
func (m *Manager) writeState(list []entry, latest entry, last float64) error {
	in := func(e entry) string {
		if e.name != "" {
			return filepath.FromSlash(e.name)
		}
		return pathInState(m.directory, e.path, true)
	}
	s := &CheckpointState{ModelCheckpointPath: in(latest), LastPreservedTimestamp: last}
	for _, e := range list {
		s.AllModelCheckpointPaths = append(s.AllModelCheckpointPaths, in(e))
		s.AllModelCheckpointTimestamps = append(s.AllModelCheckpointTimestamps, e.stamp)
	}
	text, err := s.MarshalText()
	if err != nil {
		return err
	}
	return writeFileAtomically(m.dir, statefile.Name, text)
}

// removeState removes the state file durably.
func (m *Manager) removeState() error {
	err := removeIfThere(m.dir, statefile.Name)
	if err == nil {
		err = m.dir.Sync()
	}
	if err != nil {
		return &placedError{err}
	}
	return nil
}

// others returns the checkpoints in the directory that have our name but aren't
// in list, the highest number first.
func (m *Manager) others(list []entry) []entry {
	var out []entry
	managed := make(map[string]bool, len(list))
	for _, e := range list {
		managed[e.name] = true
	}
	for _, name := range m.names() {
		prefix, ok := strings.CutSuffix(name, ".index")
		if !ok {
			continue
		}
		n, ok := m.numberOf(prefix)
		if !ok || managed[prefix] || m.isMarked(prefix) {
			continue
		}
		out = append(out, entry{name: prefix, path: joinPath(m.directory, filepath.FromSlash(prefix)), step: n})
	}
	slices.SortStableFunc(out, func(a, b entry) int { return int(max(-1, min(1, b.step-a.step))) })
	return out
}

// names returns the files in the directory of our checkpoints; none if it can't
// be read.
func (m *Manager) names() []string {
	folder := path.Dir(m.opts.CheckpointName)
	entries, _ := readDir(m.dir, folder)
	var out []string
	for _, e := range entries {
		if !e.IsDir() {
			out = append(out, path.Join(folder, e.Name()))
		}
	}
	return out
}
