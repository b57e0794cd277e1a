package bundle

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"

	"github.com/cairnml/cairn/internal/pb"
	"github.com/cairnml/cairn/vfs"
)

// MergeOptions are the options of a merge; nil means the defaults.
type MergeOptions struct {
	// KeepSources leaves the sources in place and copies their data files. Default
	// false: data files are renamed, or copied if dst replaces another bundle, and
	// the sources removed.
	KeepSources bool
	// AllowMissing skips sources that have no index. Default false.
	AllowMissing bool
	// NoSync is as in WriterOptions. Default false.
	NoSync bool
}

// Merge joins several bundles into one, as TensorFlow's MergeV2Checkpoints does:
// the data files become the shards of dst in the order in which the sources'
// entries first name them, and are renamed, not copied. A data file that no entry
// names stays where it is, unless its source has no entries at all. Slices of one
// tensor may come from several sources; a tensor that two sources have whole is an
// error. Byte order and version must be the same in all. If dst is the only
// source, nothing happens.
//
// Nothing is changed before all sources are known to fit, and an error leaves the
// sources and a bundle that dst was before as they were. The index of dst comes
// last, after it was read back and compared with the data files' sizes; the
// sources' indexes are removed after it. If dst is an existing bundle, data files
// are always copied, and the sources' removed at the end, so that [Recover] can
// finish an interrupted merge.
func Merge(ctx context.Context, dir vfs.Dir, dst string, srcs []string, opts *MergeOptions) error {
	if opts == nil {
		opts = &MergeOptions{}
	}
	if err := checkPrefix(dst); err != nil {
		return err
	}
	m := &merging{ctx: ctx, dir: dir, dst: dst, opts: opts, shards: make(map[string]int)}
	seen := make(map[string]bool)
	for _, src := range srcs {
		if seen[src] {
			return fmt.Errorf("bundle: merge to %s: %q is given twice", dst, src)
		}
		seen[src] = true
		err := m.read(src)
		if opts.AllowMissing && errors.Is(err, ErrNotFound) {
			continue
		}
		if err != nil {
			return fmt.Errorf("bundle: merge to %s: %w", dst, err)
		}
	}
	if len(m.sources) == 0 {
		return fmt.Errorf("bundle: merge to %s: there is nothing to merge: %w", dst, ErrNotFound)
	}
	if err := m.commit(); err != nil {
		return fmt.Errorf("bundle: merge to %s: %w", dst, err)
	}
	return nil
}

// merging is the state of one call of Merge.
type merging struct {
	ctx     context.Context
	dir     vfs.Dir
	dst     string
	opts    *MergeOptions
	header  *pb.BundleHeaderProto
	entries entryTable
	shards  map[string]int // a source's data file: its number in dst
	files   []string       // the sources' data files by their number in dst
	sources []string       // the prefixes that were there
	copies  bool           // the sources' data files are copied, not moved
	made    []string       // temporary files
}

// read adds a source's entries and data files to those of the merge.
func (m *merging) read(src string) error {
	r, err := Open(m.ctx, m.dir, src, nil)
	if err != nil {
		return err
	}
	if r.version == 1 {
		return fmt.Errorf("%q is a checkpoint of version 1", src)
	}
	var header pb.BundleHeaderProto
	if err := header.Unmarshal(r.header.Raw); err != nil {
		return err
	}
	switch {
	case m.header == nil:
		m.header = &header
	case m.header.Endianness != header.Endianness:
		return fmt.Errorf("%q has another byte order than %q", src, m.sources[0])
	case !sameVersion(m.header.Version, header.Version):
		return fmt.Errorf("%q has another version of the format than %q", src, m.sources[0])
	}
	if err := r.checkData(m.ctx); err != nil {
		return err
	}
	// A sliced tensor's own entry names a data file, though it has no bytes there.
	// TensorFlow counts that file too.
	numbers := make(map[int32]int)
	shard := func(n int32) int {
		number, ok := numbers[n]
		if !ok {
			number = m.number(DataName(src, int(n), r.header.NumShards))
			numbers[n] = number
		}
		return number
	}
	var buf []byte
	for i := range r.index.n {
		if i%4096 == 0 && m.ctx.Err() != nil {
			return m.ctx.Err()
		}
		rec := r.record(i)
		old, there := m.entries.tensor(rec.Name)
		switch {
		case there && (old == nil || len(rec.Slices) == 0):
			return fmt.Errorf("tensor %q is in %q and in a source before it", r.ownerOf(rec), src)
		case len(rec.Slices) > 0:
			row, err := slicedRowOf(rec.Raw(), shard)
			switch {
			case err != nil:
				return err
			case !there:
				m.entries.addSliced(m.entries.keep(bytesOf(rec.Name)), row)
			case old.kind != row.kind:
				return fmt.Errorf("tensor %q is of another type or shape in %q than in a source before it", rec.Name, src)
			default:
				old.slices = append(old.slices, row.slices...)
			}
		default:
			var e pb.BundleEntryProto
			if err := e.Unmarshal(rec.Raw()); err != nil {
				return err
			}
			e.ShardId = int32(shard(e.ShardId))
			buf = e.AppendTo(buf[:0])
			m.entries.add(m.entries.keep(bytesOf(rec.Name)), buf)
		}
	}
	if r.index.n == 0 {
		// A bundle without tensors still has its data files.
		for i := range r.header.NumShards {
			m.number(DataName(src, i, r.header.NumShards))
		}
	}
	m.sources = append(m.sources, src)
	return nil
}

// number returns the number in dst of a source's data file.
func (m *merging) number(file string) int {
	n, ok := m.shards[file]
	if !ok {
		n = len(m.files)
		m.shards[file] = n
		m.files = append(m.files, file)
	}
	return n
}

func sameVersion(a, b *pb.VersionDef) bool {
	if a == nil || b == nil {
		return a == b
	}
	return string(a.Marshal()) == string(b.Marshal())
}

// commit renames the files to their final names.
func (m *merging) commit() error {
	if slices.Contains(m.sources, m.dst) && len(m.sources) == 1 {
		return nil // there already
	}
	if slices.Contains(m.sources, m.dst) {
		return errors.New("the destination is one of several sources")
	}
	m.header.NumShards = int32(len(m.files))
	names := newSwap(m.dir)
	if err := m.name(names); err != nil {
		err = names.back(err)
		for _, name := range m.made {
			err = errors.Join(err, m.removeIfThere(name))
		}
		return err
	}
	names.done()
	if m.opts.KeepSources {
		return nil
	}
	for _, src := range m.sources {
		if err := m.dir.Remove(IndexName(src)); err != nil {
			return err
		}
	}
	if !m.copies {
		return nil
	}
	for _, file := range m.files {
		if err := m.dir.Remove(file); err != nil {
			return err
		}
	}
	return nil
}

// name renames the data files, or copies of them, and the new index to their final
// names. Over another bundle these are always copies: from the first rename on the
// new bundle is complete on disk, under whatever names, for [Recover] to find.
func (m *merging) name(names *swap) error {
	if _, err := fs.Stat(m.dir, IndexName(m.dst)); m.opts.KeepSources || err == nil {
		m.copies = true
	}
	token := newToken()
	data := slices.Clone(m.files)
	for i, file := range m.files {
		if err := m.ctx.Err(); err != nil {
			return err
		}
		if !m.copies {
			continue
		}
		data[i] = tempData(m.dst, i, token)
		m.made = append(m.made, data[i])
		if err := m.copyFile(file, data[i]); err != nil {
			return err
		}
	}
	index := IndexName(m.dst)
	temp := index + token
	m.made = append(m.made, temp)
	made := makeIndex(m.ctx, &m.entries, m.header, temp)
	if made.err != nil {
		return made.err
	}
	if err := m.writeIndex(temp, made.bytes); err != nil {
		return err
	}
	if err := made.readBack(m.ctx, m.dir, data); err != nil {
		return fmt.Errorf("reading it back: %w", err)
	}
	if err := m.sync(); err != nil {
		return err
	}
	for i, file := range data {
		if err := names.rename(file, DataName(m.dst, i, len(data))); err != nil {
			return err
		}
	}
	if err := m.sync(); err != nil {
		return err
	}
	if err := names.rename(temp, index); err != nil {
		return err
	}
	return m.sync()
}

func (m *merging) removeIfThere(name string) error {
	if err := m.dir.Remove(name); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func (m *merging) sync() error {
	if m.opts.NoSync {
		return nil
	}
	return m.dir.Sync()
}

func (m *merging) writeIndex(name string, b []byte) (err error) {
	f, err := m.dir.Create(name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if _, err := f.Write(b); err != nil {
		return err
	}
	if m.opts.NoSync {
		return nil
	}
	return f.Sync()
}

// copyFile copies a data file, and makes the copy durable unless NoSync is set.
func (m *merging) copyFile(from, to string) (err error) {
	in, err := m.dir.Open(from)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	out, err := m.dir.Create(to)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	buf := make([]byte, gather)
	for {
		if err := m.ctx.Err(); err != nil {
			return err
		}
		n, err := in.Read(buf)
		if n > 0 {
			if _, err := out.Write(buf[:n]); err != nil {
				return err
			}
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
	}
	if m.opts.NoSync {
		return nil
	}
	return out.Sync()
}
