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

// recover takes over what an earlier manager left in the state file, as
// TensorFlow's CheckpointManager does when it is made.
func (m *Manager) recover() error {
	now := secondsOf(m.opts.Clock())
	s, err := readState(m.dir, statefile.Name, joinPath(m.directory, statefile.Name))
	if errors.Is(err, ErrNotFound) {
		// A second back, as in TensorFlow: so that the first checkpoint is newer
		// than this also where managers come and go quickly.
		m.last = now - 1
		return nil
	} else if err != nil {
		return err
	}
	side, found, err := readSide(m.dir, joinPath(m.directory, sideName))
	if err != nil {
		return err
	}
	m.side = found
	m.latest = m.entryOf(s.ModelCheckpointPath, side)
	// Where the clock went back, checkpoints get the time now, and so do not look
	// as if they had been preserved already; nor are they managed any more.
	m.last = min(s.LastPreservedTimestamp, now)
	at := make(map[string]int)
	for i, p := range s.AllModelCheckpointPaths {
		stamp := m.last
		if len(s.AllModelCheckpointTimestamps) > 0 {
			if i >= len(s.AllModelCheckpointTimestamps) {
				break
			}
			stamp = s.AllModelCheckpointTimestamps[i]
		}
		stamp = min(stamp, now)
		if math.IsNaN(stamp) || stamp <= m.last {
			continue // preserved, or written without a manager: not ours to delete
		}
		e := m.entryOf(p, side)
		e.stamp = stamp
		if e.path == m.latest.path {
			m.latest = e
		}
		if j, ok := at[e.path]; ok {
			m.list[j] = e
		} else {
			at[e.path] = len(m.list)
			m.list = append(m.list, e)
		}
	}
	return nil
}

// entryOf is the checkpoint that a path in the state file means.
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
		e.path = joinPath(m.directory, filepath.Clean(p)) // beside the directory
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

// others are the checkpoints in the directory that have our name but aren't in
// list, the highest number first.
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
		if !ok || managed[prefix] {
			continue
		}
		out = append(out, entry{name: prefix, path: joinPath(m.directory, filepath.FromSlash(prefix)), step: n})
	}
	slices.SortStableFunc(out, func(a, b entry) int { return int(max(-1, min(1, b.step-a.step))) })
	return out
}

// names are the files in the folder that our checkpoints lie in; none where it
// can't be read.
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
