package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/cairnml/cairn/bundle"
	"github.com/cairnml/cairn/vfs"
)

// The commit protocol of a Manager. Every save follows it: under a free name or
// over a checkpoint of that name, with registered savers, shard policies and the
// caller's own numbers. Whatever operations fail, and wherever the machine stops,
// these invariants hold:
//
//  1. Every state that the state file may contain names a latest checkpoint that is
//     complete: its data, its index and their names were read back and are durable
//     before the state is written.
//  2. If a state that the file may contain names a checkpoint as the latest, that
//     checkpoint isn't deleted. A write of the state file that failed halfway may have
//     happened or not: both states count, until one of them is known to be durable.
//  3. A checkpoint that no such state names is deleted only if it is known to
//     be an unfinished save of ours. A marker in its directory records that, and the
//     identity of its index, from before its first byte until it is the latest (see
//     markedDir). Replacements, and the checkpoints they replace, are known by their names.
//  4. A save that returns a path is the latest of a durable state. One that
//     returns none has changed nothing that a restore sees, and the next save
//     removes its files.
//
// An index and its data can't be replaced in one step. So a save over an existing
// checkpoint writes a replacement first, "<name>-replacement", makes that one the
// latest, deletes the old one, and copies the replacement to its name.

// replacementSuffix is the suffix of the names of replacements.
const replacementSuffix = "-replacement"

// A record is the contents of a state file.
type record struct {
	list   []entry  // the managed checkpoints, the oldest first
	latest entry    // path "" for none
	last   float64  // when the last checkpoint kept for ever was written, in seconds since 1970
	other  []string // names that it lists besides, of checkpoints that aren't managed
}

// names reports whether the state contains a checkpoint's name.
func (r record) names(name string) bool {
	return r.latest.name == name || slices.Contains(r.other, name) ||
		slices.ContainsFunc(r.list, func(e entry) bool { return e.name == name })
}

// next returns the record in which e is the newest checkpoint. It replaces a
// checkpoint of that name and its replacement.
func (r record) next(e entry) record {
	r.list = append(without(without(r.list, e), replacementFor(e)), e)
	r.latest, r.other = e, nil
	return r
}

func replacementFor(e entry) entry {
	e.name += replacementSuffix
	e.path += replacementSuffix
	return e
}

// current returns the record that callers see.
func (m *Manager) current() record {
	m.mu.Lock()
	defer m.mu.Unlock()
	return record{list: slices.Clone(m.list), latest: m.latest, last: m.last}
}

func (m *Manager) setCurrent(r record) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.list, m.latest, m.last = slices.Clone(r.list), r.latest, r.last
}

// named reports whether a state that the file may hold, or the one that callers
// see, contains a checkpoint's name.
func (m *Manager) named(name string) bool {
	return m.current().names(name) || slices.ContainsFunc(m.disk, func(r record) bool { return r.names(name) })
}

// publish writes the side file, if it has contents, and then the state file. If r has no
// latest checkpoint, it removes the state file instead. Callers see the record
// when it is durable.
func (m *Manager) publish(r record) error {
	if r.latest.path == "" {
		return m.published(r, m.removeState())
	}
	if m.side || slices.ContainsFunc(r.list, func(e entry) bool { return len(e.metrics) > 0 }) ||
		m.opts.Step != nil && len(m.opts.Policies) > 0 {
		if err := writeSide(m.dir, r.list); err != nil {
			return err
		}
		m.side = true
	}
	return m.published(r, m.writeState(r.list, r.latest, r.last))
}

// published records the possible contents of the state file after err.
func (m *Manager) published(r record, err error) error {
	switch {
	case err == nil:
		m.disk = []record{r}
		m.setCurrent(r)
	case maybePlaced(err):
		m.disk = append(m.disk, r)
	}
	return err
}

// settle makes the contents of the state file known, and removes the files of
// interrupted saves.
func (m *Manager) settle() error {
	if err := m.stillLocked(); err != nil {
		return err
	}
	if len(m.disk) > 1 {
		if err := m.publish(m.current()); err != nil {
			return err
		}
	}
	if !m.clean {
		m.clean = m.removeLeftovers()
	}
	return nil
}

// ready prepares the directory for a save as e. It refuses to replace a checkpoint that no
// state names, unless replace is set.
func (m *Manager) ready(e entry, replace bool) error {
	if err := m.settle(); err != nil {
		return m.saveError(e, err)
	}
	if m.isMarked(e.name) && !m.named(e.name) { // it couldn't be removed just now
		if err := m.discard(e.name); err != nil {
			return m.saveError(e, err)
		}
	}
	there, err := m.hasIndex(e.name)
	switch {
	case err != nil:
		return m.saveError(e, err)
	case there && !replace && !m.named(e.name) && !m.named(replacementFor(e).name):
		return &RefusedError{Path: e.path}
	}
	return nil
}

// saveError returns the *SaveError of a failed save as e. The next save looks for leftovers.
func (m *Manager) saveError(e entry, err error) error {
	m.clean = false
	m.mu.Lock()
	latest := m.latest
	m.mu.Unlock()
	return &SaveError{Path: e.path, Latest: latest.path, Broken: m.canOpen(latest), Err: err}
}

// canOpen returns the error of opening the index of e. It is nil if that works
// or there is no e.
func (m *Manager) canOpen(e entry) error {
	if e.path == "" {
		return nil
	}
	r, err := m.openEntry(context.Background(), e) // the save's context may have ended
	if err != nil {
		return err
	}
	return r.Close()
}

// openEntry opens a checkpoint, in the directory or elsewhere.
func (m *Manager) openEntry(ctx context.Context, e entry) (*bundle.Reader, error) {
	if e.name != "" {
		return bundle.Open(ctx, m.dir, e.name, nil)
	}
	return bundle.OpenFile(ctx, e.path, nil)
}

// commit writes the checkpoint e, for which the directory is ready, and makes it
// the latest; saved reports whether it is. If saved is true, the error is that of
// a later step.
func (m *Manager) commit(ctx context.Context, e entry, write writeFunc) (saved bool, err error) {
	there, err := m.hasIndex(e.name)
	m.evictOutgoing(e, there)
	switch {
	case err != nil:
	case there:
		err = m.replace(ctx, e, write)
	default:
		err = m.put(e, write)
	}
	before, repl := m.current(), replacementFor(e)
	if err == nil {
		err = m.makeLatest(e, before)
	}
	if err != nil {
		return false, m.saveError(e, err)
	}
	if listed(before.list, repl) {
		if err = m.discard(repl.name); err != nil {
			err = fmt.Errorf("checkpoint: deleting the placeholder %s: %w", repl.path, err)
		}
	}
	return true, errors.Join(err, m.sweep())
}

// evictOutgoing lets the system drop cached data of checkpoints that a save as e
// is about to delete, as far as their numbers show. It deletes none.
func (m *Manager) evictOutgoing(e entry, there bool) {
	var names []string
	if there {
		names = append(names, e.name)
	}
	if list := without(m.managed(), e); m.keep.max > 0 {
		for _, o := range list[:max(0, len(list)+1-m.keep.max)] {
			if o.name != "" {
				names = append(names, o.name)
			}
		}
	}
	evict(m.dir, names...)
}

// A writeFunc writes a checkpoint to a directory.
type writeFunc func(dir vfs.Dir, prefix string) error

// put writes e, whose name is free, and makes it durable.
func (m *Manager) put(e entry, write writeFunc) error {
	dir, err := m.mark(e.name)
	if err == nil {
		err = write(dir, e.name)
	}
	if err == nil {
		err = m.dir.Sync()
	}
	if err != nil {
		_ = m.discard(e.name) // the next save removes the rest
	}
	return err
}

// makeLatest publishes e, which is durable, after the record before. If that
// fails it removes e again, so that a full disk doesn't fill up with unlisted
// checkpoints. But if the state file may name e, e stays until the file is known
// not to.
func (m *Manager) makeLatest(e entry, before record) error {
	err := m.stillLocked()
	if err == nil {
		e.stamp = secondsOf(m.opts.Clock())
		err = m.publish(before.next(e))
	}
	switch {
	case err == nil:
		_ = m.unmark(e.name) // it goes with the next save otherwise
	case len(m.disk) == 1:
		_ = m.discard(e.name)
	}
	return err
}

// replace writes e over a checkpoint of that name.
func (m *Manager) replace(ctx context.Context, e entry, write writeFunc) error {
	now, repl := m.current(), replacementFor(e)
	if now.latest.path == repl.path {
		// A save over a checkpoint was interrupted here: the files of that name are unusable.
		if err := m.removeDurably(e); err != nil {
			return err
		}
		return m.put(e, write)
	}
	if listed(now.list, repl) { // too old by now to be the latest
		now.list = without(now.list, repl)
		if err := m.publish(now); err != nil {
			return err
		}
		if err := m.removeDurably(repl); err != nil {
			return err
		}
	}
	if err := m.put(repl, write); err != nil {
		return err
	}
	now.list = without(now.list, e)
	if err := m.makeLatest(repl, now); err != nil {
		return err
	}
	if err := m.removeDurably(e); err != nil {
		return err
	}
	files, err := m.filesOf(repl)
	for _, f := range files {
		if err == nil {
			err = copyFile(m.dir, f, e.name+strings.TrimPrefix(f, repl.name))
		}
	}
	if err == nil {
		err = m.dir.Sync()
	}
	if err == nil {
		err = m.readBack(ctx, e)
	}
	return err
}

// readBack opens a checkpoint that was copied, and verifies it.
func (m *Manager) readBack(ctx context.Context, e entry) error {
	r, err := bundle.Open(ctx, m.dir, e.name, nil)
	if err != nil {
		return err
	}
	return errors.Join(r.Verify(ctx, nil), r.Close())
}

// filesOf returns the files of a checkpoint, the index last.
func (m *Manager) filesOf(e entry) ([]string, error) {
	data, err := listFiles(m.dir, e.name, isDataOf)
	if err != nil {
		return nil, err
	}
	return append(data, e.name+".index"), nil
}

// remove deletes a checkpoint's files, unless a state that the file may hold has
// it as the latest. Names are made durable by the caller.
func (m *Manager) remove(name string) error {
	for _, r := range m.disk {
		if r.latest.name == name {
			return fmt.Errorf("checkpoint: %s stays, since the state file may name it as the latest", name)
		}
	}
	return removeCheckpoint(m.dir, name)
}

func (m *Manager) removeDurably(e entry) error {
	if err := m.remove(e.name); err != nil {
		return err
	}
	return m.dir.Sync()
}

// discard removes an unfinished checkpoint, and then the file that marks it.
func (m *Manager) discard(name string) error {
	err := m.remove(name)
	if err == nil {
		err = m.unmark(name)
	}
	if err != nil {
		m.clean = false
	}
	return err
}

// sweep deletes the checkpoints that aren't kept, after a save.
func (m *Manager) sweep() error {
	now := m.current()
	v, err := m.keep.sweep(now.list, now.last)
	errs := []error{err}
	kept := make(map[string]bool, len(v.keep))
	for _, e := range v.keep {
		kept[e.path] = true
	}
	dropped := make(map[string]bool, len(v.drop))
	for _, e := range v.drop {
		dropped[e.path] = true
		if e.name == "" {
			continue // outside the directory: not ours to delete
		}
		if err := m.remove(e.name); err != nil {
			errs = append(errs, fmt.Errorf("checkpoint: deleting the old checkpoint %s: %w", e.path, err))
			kept[e.path] = true // the next save tries again
		}
	}
	for _, e := range now.list {
		// A checkpoint that is no longer listed must not look like an unfinished save.
		if !kept[e.path] && !dropped[e.path] && (m.isMarked(e.name) || strings.HasSuffix(e.name, replacementSuffix)) {
			kept[e.path] = true
		}
	}
	if len(kept) == len(now.list) {
		return errors.Join(errs...)
	}
	now.list = slices.DeleteFunc(now.list, func(e entry) bool { return !kept[e.path] })
	now.last = v.last
	m.setCurrent(now) // also if the state file can't be written: the files are gone
	if err := m.dir.Sync(); err != nil {
		errs = append(errs, err)
	} else if err := m.publish(now); err != nil {
		errs = append(errs, fmt.Errorf("checkpoint: %s is saved, but old checkpoints that were deleted are still listed: %w", now.latest.path, err))
	}
	return errors.Join(errs...)
}

// managed returns a copy of the list of managed checkpoints.
func (m *Manager) managed() []entry {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.list)
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
