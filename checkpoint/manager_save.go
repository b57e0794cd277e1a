package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/cairnml/cairn/bundle"
	"github.com/cairnml/cairn/internal/statefile"
)

// Save counts save_counter up, saves a checkpoint under its number, and deletes
// what MaxToKeep leaves over. It is the new checkpoint's prefix; "" without an
// error where Interval has not passed, and nothing was saved.
//
// An error with an empty path means that nothing was saved: the latest
// checkpoint is the one before; errors.Is finds [ErrNoSpace] where the disk is
// full. An error with a path means that the checkpoint is saved and the latest,
// and that what comes after failed: deleting old ones, or an OnWrite callback.
//
// With Async, Save returns as soon as the state is captured; it waits for the
// save before it. What fails later comes out at the next Save (which then saves
// nothing: call it again), at Wait or at Close.
func (m *Manager) Save(ctx context.Context) (path string, err error) { return m.SaveWith(ctx, nil) }

// SaveAs is Save with a number of the caller's in the name. A checkpoint of that
// number is replaced; save_counter counts up either way.
func (m *Manager) SaveAs(ctx context.Context, number int64) (path string, err error) {
	return m.SaveWith(ctx, &SaveOptions{Number: &number})
}

// SaveWith is Save with options.
func (m *Manager) SaveWith(ctx context.Context, opts *SaveOptions) (path string, err error) {
	var o SaveOptions
	if opts != nil {
		o = *opts
	}
	if m.isClosed() {
		return "", ErrClosed
	}
	if err := m.acquire(ctx); err != nil {
		return "", err
	}
	background := false
	defer func() {
		if !background {
			m.release()
		}
	}()
	if m.isClosed() {
		return "", ErrClosed
	}
	if err := m.takeFailure(); err != nil {
		return "", err
	}

	step, skip := m.dueStep(o.Force)
	if skip {
		return "", nil
	}
	number := m.ck.SaveCounter().Add(1)
	if o.Number != nil {
		number = *o.Number
	}
	e := entry{name: m.opts.CheckpointName + "-" + strconv.FormatInt(number, 10), step: number, metrics: maps.Clone(o.Metrics)}
	if step != nil {
		e.step = *step
	}
	e.path = joinPath(m.directory, filepath.FromSlash(e.name))

	if m.opts.Async {
		background = true
		if err := m.saveAsync(ctx, e, step); err != nil {
			background = false
			m.ck.SaveCounter().Add(-1) // the number wasn't used
			return "", err
		}
		return e.path, nil
	}
	saved, err := m.commit(ctx, e, func(prefix string) error {
		_, err := m.ck.writeNow(ctx, m.dir, prefix, m.writeOptions())
		return err
	})
	if !saved {
		m.ck.SaveCounter().Add(-1) // the number wasn't used
		return "", err
	}
	m.setLastStep(step)
	return e.path, errors.Join(err, m.tell(ctx, e.path))
}

func (m *Manager) writeOptions() *writeOptions {
	return &writeOptions{Shards: m.opts.Shards, Progress: m.opts.Progress}
}

// dueStep is the step now, where it is known, and whether Interval says that
// there is nothing to save.
func (m *Manager) dueStep(force bool) (step *int64, skip bool) {
	if m.opts.Step == nil {
		return nil, false
	}
	now := m.opts.Step()
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.opts.Interval > 0 && m.lastStep != nil {
		if now == *m.lastStep || !force && now < *m.lastStep+m.opts.Interval {
			return nil, true
		}
	}
	return &now, false
}

func (m *Manager) setLastStep(step *int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if step != nil {
		m.lastStep = step
	}
}

func (m *Manager) tell(ctx context.Context, path string) error {
	for _, f := range slices.Concat(m.ck.o.OnWrite, m.opts.OnWrite) {
		if err := f(ctx, path); err != nil {
			return fmt.Errorf("checkpoint: %s is saved, but an OnWrite callback failed: %w", path, err)
		}
	}
	return nil
}

// replacement ends the name of a checkpoint that stands in for one that is being
// overwritten.
const replacement = "-replacement"

// commit writes the checkpoint e and makes it the latest. saved tells whether it
// is; an error besides is of what comes after.
//
// Whatever moment it is cut off at, the state file names a checkpoint that is
// whole: it is written after the checkpoint is durable, and before old ones are
// deleted, then once more without those, as TensorFlow does. Deleted ones that
// a crash leaves in the list are deleted again by the next save.
func (m *Manager) commit(ctx context.Context, e entry, write func(prefix string) error) (saved bool, err error) {
	fail := func(err error) (bool, error) {
		m.clean = false
		return false, &SaveError{Path: e.path, Latest: m.Latest(), Err: err}
	}
	if !m.clean {
		m.clean = m.removeLeftovers()
	}
	m.mu.Lock()
	last := m.last
	m.mu.Unlock()
	list := m.managed()

	there, err := m.hasIndex(e.name)
	if err != nil {
		return fail(err)
	}
	stand := e
	stand.name += replacement
	stand.path += replacement
	if there {
		list, err = m.replace(list, last, e, stand, write)
	} else {
		err = write(e.name)
	}
	if err == nil {
		err = m.dir.Sync()
	}
	if err != nil {
		return fail(err)
	}
	e.stamp = secondsOf(m.opts.Clock())
	list = append(without(list, e), e)
	if err := m.makeLatest(list, e, last); err != nil {
		return fail(err)
	}
	return true, m.sweep(list, last, stand)
}

// makeLatest publishes list with its last entry e, a new checkpoint that is
// durable, as the latest one. Where that fails, e is removed again: a disk that
// is full must not fill up with checkpoints that nobody lists. But where the
// state file may name it already, it stays, and the next save lists it.
func (m *Manager) makeLatest(list []entry, e entry, last float64) error {
	err := m.publish(list, e, last)
	if err == nil {
		m.setList(list, e, last)
		return nil
	}
	if maybePlaced(err) || m.removeDurably(e) != nil {
		m.setList(list, entry{}, last)
	}
	return err
}

// replace writes e where a checkpoint of that name is there already. An index
// and its data can't be replaced in one step; so the new state is written beside
// the old one first, as stand, and that is the latest checkpoint until its files
// are copied. The list comes back without e.
func (m *Manager) replace(list []entry, last float64, e, stand entry, write func(string) error) ([]entry, error) {
	m.mu.Lock()
	latest := m.latest
	m.mu.Unlock()
	if listed(list, stand) && latest.path == stand.path {
		// A replacement was cut off here; the stand-in is still needed as the latest.
		if err := m.removeDurably(e); err != nil {
			return list, err
		}
		list = without(list, e)
		m.setList(list, entry{}, last)
		return list, write(e.name)
	}
	if listed(list, stand) { // too old by now to be the latest
		list = without(list, stand)
		if err := m.publish(list, latest, last); err != nil {
			return list, err
		}
		m.setList(list, entry{}, last)
		if err := m.removeDurably(stand); err != nil {
			return list, err
		}
	}
	if err := write(stand.name); err != nil {
		return list, err
	}
	stand.stamp = secondsOf(m.opts.Clock())
	both := append(slices.Clone(list), stand)
	list = without(both, e)
	if err := m.makeLatest(list, stand, last); err != nil {
		if listed(m.managed(), stand) {
			m.setList(both, entry{}, last) // e is still there too
		}
		return list, err
	}
	if err := m.removeDurably(e); err != nil {
		return list, err
	}
	files, err := m.filesOf(stand)
	for _, f := range files {
		if err == nil {
			err = copyFile(m.dir, f, e.name+strings.TrimPrefix(f, stand.name))
		}
	}
	return list, err
}

// filesOf are the files of a checkpoint, the index last.
func (m *Manager) filesOf(e entry) ([]string, error) {
	entries, err := readDir(m.dir, path.Dir(e.name))
	if err != nil {
		return nil, err
	}
	var data []string
	for _, f := range entries {
		name := path.Join(path.Dir(e.name), f.Name())
		if rest, ok := strings.CutPrefix(name, e.name); ok && isDataSuffix(rest) {
			data = append(data, name)
		}
	}
	return append(data, e.name+".index"), nil
}

func (m *Manager) removeDurably(e entry) error {
	if err := removeCheckpoint(m.dir, e.name); err != nil {
		return err
	}
	return m.dir.Sync()
}

// publish writes the side file, where there is something in it, and the state
// file.
func (m *Manager) publish(list []entry, latest entry, last float64) error {
	if m.side || slices.ContainsFunc(list, func(e entry) bool { return len(e.metrics) > 0 }) ||
		m.opts.Step != nil && len(m.opts.Policies) > 0 {
		if err := writeSide(m.dir, list); err != nil {
			return err
		}
		m.side = true
	}
	return m.writeState(list, latest, last)
}

// sweep deletes what isn't kept, and gone if it is in the list, whose last entry
// is the latest checkpoint.
func (m *Manager) sweep(list []entry, last float64, gone entry) error {
	v, err := m.keep.sweep(without(list, gone), last)
	errs := []error{err}
	drop := v.drop
	if listed(list, gone) {
		drop = append(drop, gone)
	}
	keep := v.keep
	for _, e := range drop {
		if e.name == "" {
			continue // lies outside the directory: not ours to delete
		}
		if err := removeCheckpoint(m.dir, e.name); err != nil {
			errs = append(errs, fmt.Errorf("checkpoint: deleting the old checkpoint %s: %w", e.path, err))
			keep = append(keep, e) // the next save tries again
		}
	}
	if len(keep) == len(list) {
		return errors.Join(errs...)
	}
	latest := list[len(list)-1]
	kept := make(map[string]bool, len(keep))
	for _, e := range keep {
		kept[e.path] = true
	}
	list = slices.DeleteFunc(slices.Clone(list), func(e entry) bool { return !kept[e.path] })
	m.setList(list, latest, v.last)
	if err := m.dir.Sync(); err != nil {
		errs = append(errs, err)
	} else if err := m.publish(list, latest, v.last); err != nil {
		errs = append(errs, fmt.Errorf("checkpoint: %s is saved, but old checkpoints that were deleted are still listed: %w", latest.path, err))
	}
	return errors.Join(errs...)
}

// managed is a copy of the list of managed checkpoints.
func (m *Manager) managed() []entry {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.list)
}

// setList makes list the managed checkpoints; latest with an empty path leaves
// the latest one.
func (m *Manager) setList(list []entry, latest entry, last float64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.list, m.last = slices.Clone(list), last
	if latest.path != "" {
		m.latest = latest
	}
}

func without(list []entry, e entry) []entry {
	return slices.DeleteFunc(slices.Clone(list), func(o entry) bool { return o.path == e.path })
}

func listed(list []entry, e entry) bool {
	return slices.ContainsFunc(list, func(o entry) bool { return o.path == e.path })
}

func (m *Manager) hasIndex(name string) (bool, error) {
	_, err := fs.Stat(m.dir, name+".index")
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// removeLeftovers removes what saves that were cut off left in the directory:
// temporaries of our checkpoints, of the state file and the side file, shards
// that registered savers wrote and that were not merged, and stand-ins that
// nobody lists. The lock makes sure that nobody is writing them. What can't be
// removed now harms nobody; the result is false, and the next save tries again.
func (m *Manager) removeLeftovers() bool {
	ok := true
	remove := func(name string) {
		if removeIfThere(m.dir, name) != nil {
			ok = false
		}
	}
	read := func(folder string) []fs.DirEntry {
		entries, err := readDir(m.dir, folder)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			ok = false
		}
		return entries
	}
	for _, f := range read(".") {
		if isTempOf(f.Name(), statefile.Name) || isTempOf(f.Name(), sideName) {
			remove(f.Name())
		}
	}
	latest := m.Latest()
	names := make(map[string]bool)
	list := m.managed()
	for _, e := range list {
		names[e.name] = true
	}
	for _, e := range list {
		// Of a replacement that was cut off, the stand-in is managed now, and what it
		// stood in for is half there or not listed.
		replaced, is := strings.CutSuffix(e.name, replacement)
		if is && m.ours(replaced) && !names[replaced] && strings.TrimSuffix(e.path, replacement) != latest {
			ok = removeCheckpoint(m.dir, replaced) == nil && ok
		}
	}
	folder := path.Dir(m.opts.CheckpointName)
	for _, f := range read(folder) {
		name := path.Join(folder, f.Name())
		if f.IsDir() {
			if prefix, is := strings.CutSuffix(name, "_temp"); is && m.ours(prefix) {
				for _, part := range read(name) { // parts of a checkpoint that wait to be merged
					if !part.IsDir() && strings.HasPrefix(part.Name(), "part-") {
						remove(path.Join(name, part.Name()))
					}
				}
				_ = m.dir.Remove(name) // where it is empty now
			}
			continue
		}
		if stand, is := m.standInOf(name); m.isTemporary(name) || m.isSaversShard(name) || is && !names[stand] {
			remove(name)
		}
	}
	return ok
}

// ours reports whether name is that of one of our checkpoints or stand-ins.
func (m *Manager) ours(name string) bool {
	_, ok := m.numberOf(strings.TrimSuffix(name, replacement))
	return ok
}

// isTemporary reports whether a file is a temporary of one of our checkpoints.
func (m *Manager) isTemporary(file string) bool {
	if !strings.HasPrefix(file, m.opts.CheckpointName+"-") {
		return false
	}
	_, ok := tempOf(file)
	return ok || bundle.IsTemporary(file)
}

// isSaversShard reports whether a file belongs to a bundle that a registered
// saver wrote for one of our checkpoints: merging would have removed it.
func (m *Manager) isSaversShard(file string) bool {
	rest, ok := strings.CutPrefix(file, m.opts.CheckpointName+"-")
	if !ok {
		return false
	}
	number, rest, ok := strings.Cut(strings.Replace(rest, replacement+"-", "-", 1), "-")
	if !ok || !digits(number) {
		return false
	}
	i := strings.LastIndex(rest, ".index")
	if i < 0 || i+len(".index") != len(rest) {
		if i = strings.LastIndex(rest, ".data-"); i < 0 || !isDataSuffix(rest[i:]) {
			return false
		}
	}
	return slices.ContainsFunc(m.ck.o.Savers.Names(), func(name string) bool { return strings.HasPrefix(rest[:i], name) })
}

// standInOf gives the prefix of the stand-in that file belongs to.
func (m *Manager) standInOf(file string) (prefix string, ok bool) {
	i := strings.LastIndex(file, replacement)
	if i < 0 {
		return "", false
	}
	end := i + len(replacement)
	if rest := file[end:]; rest != ".index" && !isDataSuffix(rest) {
		return "", false
	}
	_, ok = m.numberOf(file[:i])
	return file[:end], ok
}

func readDir(dir fs.FS, folder string) ([]fs.DirEntry, error) {
	return fs.ReadDir(dir, path.Clean(folder))
}
