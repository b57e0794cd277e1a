package bundle

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/cairnml/cairn/internal/crc32c"
	"github.com/cairnml/cairn/internal/pb"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/vfs"
)

// The numbers are TensorFlow's: kTensorBundleVersion, kTensorBundleMinConsumer and
// kTensorBundleMinProducer.
const (
	formatVersion     = 1 // the version of the format that bundles are written in
	formatMinConsumer = 0 // the oldest reader that understands it
	formatMinProducer = 0 // the oldest version that can be read
)

// WriterOptions are the options for writing a bundle; nil means the defaults.
type WriterOptions struct {
	// Alignment makes every tensor begin at a multiple of so many bytes in its
	// data file; zeros fill the gaps and the end. Default 1.
	Alignment int
	// BigEndian writes the elements in big-endian order and records that in the
	// header. Default false, whatever the machine.
	BigEndian bool
	// NoSync leaves out the calls that make files durable before they get their
	// names: for files that need not survive a crash. Default false.
	NoSync bool
	// Like copies byte order and header from another bundle, including fields
	// unknown to this package, so that the bundle can be written again exactly.
	// BigEndian is ignored then. A Like of version 1 changes nothing. Default nil.
	Like *Reader
	// Progress is called now and then with the number of bytes of tensors
	// written so far. Default nil.
	Progress func(written int64)
}

// A Writer writes one bundle. The data file has the tensors in the order in
// which they are added; the index sorts them by name. Everything is written to
// temporary names ([IsTemporary] recognizes them) until [Writer.Finish]. It is
// for one goroutine.
//
// The first error sticks: every later call returns it, and [Writer.Abort]
// removes the files written. Always defer a call of Abort: after a successful
// Finish it does nothing.
type Writer struct {
	dir     vfs.Dir
	prefix  string
	opts    WriterOptions
	big     bool // the file is big-endian
	header  pb.BundleHeaderProto
	entries entryTable
	token   string // the end of temporary names
	shards  []*shardWriter
	from    *blobReader  // source of copies from the same Reader
	least   int          // the minimum number of data files: Finish keeps them even if the last ones are empty
	buf     []byte       // bytes collected for the current shard
	spare   []byte       // buffer to collect into next, once flight has ended
	flight  chan written // result of the running parallel write; nil if there is none
	scratch []byte
	row     []byte // an entry that is being encoded
	written int64
	index   string   // the index file's temporary name, "" before there is one
	files   []string // the final names, after Finish
	err     error
	done    bool
}

// NewWriter starts a bundle in dir; prefix is a slash-separated path in it.
func NewWriter(dir vfs.Dir, prefix string, opts *WriterOptions) (*Writer, error) {
	w := &Writer{
		dir:    dir,
		prefix: prefix,
		token:  newToken(),
		header: pb.BundleHeaderProto{
			Version: &pb.VersionDef{Producer: formatVersion, MinConsumer: formatMinConsumer},
		},
	}
	if opts != nil {
		w.opts = *opts
	}
	if w.opts.Alignment < 0 {
		return nil, fmt.Errorf("bundle: the alignment is %d bytes, want 0 or more", w.opts.Alignment)
	}
	w.big = w.opts.BigEndian
	if like := w.opts.Like; like != nil && like.version == 2 {
		if err := w.header.Unmarshal(like.header.Raw); err != nil {
			return nil, err
		}
		w.big = like.header.BigEndian
	}
	if err := checkPrefix(prefix); err != nil {
		return nil, err
	}
	if err := w.NextShard(); err != nil {
		return nil, errors.Join(err, w.Abort())
	}
	return w, nil
}

// Add writes a tensor. Its storage may be changed again when Add returns. A
// name that is there already is an error, and so are resources, which no bundle
// can hold, and variants in a big-endian one.
func (w *Writer) Add(ctx context.Context, name string, t *tensor.Tensor) error {
	if w.err != nil {
		return w.err
	}
	if name == "" {
		return w.fail(errors.New("bundle: the name of a tensor is empty"))
	}
	return w.add(ctx, name, name, t)
}

// add writes t under key, which is name's own or that of a slice.
func (w *Writer) add(ctx context.Context, key, name string, t *tensor.Tensor) error {
	if w.entries.has(key) {
		return w.fail(fmt.Errorf("bundle: tensor %q is added twice", name))
	}
	at, err := w.place(ctx, func(s *shardWriter) (uint32, error) {
		switch d := t.DType(); {
		case d.Fixed():
			return w.putFixed(ctx, s, t)
		case d == tensor.String:
			return w.putStrings(ctx, s, t.Strings())
		case d == tensor.Variant && w.big:
			return 0, errUnsupported("tensor %q: variants can't be written in big-endian order", name)
		case d == tensor.Variant:
			return w.putVariants(ctx, s, t.Strings())
		default:
			return 0, fmt.Errorf("bundle: tensor %q: elements of %v can't be stored", name, d)
		}
	})
	if err != nil {
		return w.fail(err)
	}
	w.row = at.append(appendKind(w.row[:0], t.DType(), t.Shape()))
	w.entries.add(key, w.row)
	return nil
}

// place lets put write a tensor's bytes into the current data file and returns
// their location.
func (w *Writer) place(ctx context.Context, put func(*shardWriter) (uint32, error)) (at location, err error) {
	if err := ctx.Err(); err != nil {
		return at, err
	}
	s := w.shards[len(w.shards)-1]
	at = location{shard: len(w.shards) - 1, offset: s.size}
	crc, err := put(s)
	if err != nil {
		return at, err
	}
	at.size, at.crc = s.size-at.offset, crc32c.Mask(crc)
	s.used = true
	if a := int64(w.opts.Alignment); a > 1 && s.size%a != 0 {
		// Padding follows a tensor, the last one too, as in TensorFlow.
		for n := a - s.size%a; n > 0; {
			k := min(n, int64(len(zeros)))
			if err := w.put(ctx, s, zeros[:k]); err != nil {
				return at, err
			}
			n -= k
		}
	}
	return at, nil
}

var zeros [4096]byte

// AddSlice writes t as slice s of the tensor name, whose whole shape is full. A
// slice that is the whole tensor is stored as [Writer.Add] does it.
func (w *Writer) AddSlice(ctx context.Context, name string, full tensor.Shape, s Slice, t *tensor.Tensor) error {
	if w.err != nil {
		return w.err
	}
	shape, err := s.Shape(full)
	if err != nil {
		return w.fail(fmt.Errorf("tensor %q: %w", name, err))
	}
	if !shape.Equal(t.Shape()) {
		return w.fail(&MismatchError{Name: name, Want: t.DType(), WantShape: shape, Got: t.DType(), GotShape: t.Shape(), What: fmt.Sprintf("slice %s of %v", s, full)})
	}
	if shape.Equal(full) {
		return w.Add(ctx, name, t)
	}
	if name == "" {
		return w.fail(errors.New("bundle: the name of a tensor is empty"))
	}
	row, there := w.entries.tensor(name)
	switch {
	case !there:
		// The entry itself has no bytes. It names this data file because a merge of one
		// bundle per file does.
		row = newSlicedRow(t.DType(), full, len(w.shards)-1)
	case row == nil:
		return w.fail(fmt.Errorf("bundle: tensor %q is added whole and in slices", name))
	case row.kind != string(appendKind(nil, t.DType(), full)):
		return w.fail(fmt.Errorf("bundle: slice %s of tensor %q is %v of %v, other slices are not", s, name, t.DType(), full))
	}
	if err := w.add(ctx, string(appendSliceKey(nil, name, s)), name, t); err != nil {
		return err
	}
	if !there {
		w.entries.addSliced(name, row)
	}
	row.slices = appendSlice(row.slices, s)
	return nil
}

// NextShard ends the data file and begins another one for the tensors added
// next. A file without tensors is reused instead; one whose tensors have no
// elements stays, with no bytes.
func (w *Writer) NextShard() error {
	if w.err != nil {
		return w.err
	}
	if n := len(w.shards); n > 0 && !w.shards[n-1].used {
		return nil
	}
	return w.newShard()
}

// newShard begins the next data file. No more than handles files stay open.
func (w *Writer) newShard() error {
	if n := len(w.shards); n > 0 {
		if err := w.flush(w.shards[n-1]); err != nil {
			return w.fail(err)
		}
		if n >= handles {
			if err := w.end(w.shards[n-handles]); err != nil {
				return w.fail(err)
			}
		}
	}
	name := tempData(w.prefix, len(w.shards), w.token)
	f, err := w.dir.Create(name)
	if err != nil {
		return w.fail(fmt.Errorf("bundle: create %s: %w", name, err))
	}
	s := &shardWriter{name: name, f: f}
	s.ahead, _ = f.(vfs.Hinter)
	w.shards = append(w.shards, s)
	return nil
}

// Finish makes the files durable, reads the index back and compares it with the
// data files' sizes, and renames the files, the index last. An error leaves an
// existing checkpoint of the same prefix unchanged.
func (w *Writer) Finish(ctx context.Context) error {
	if w.err != nil {
		return w.err
	}
	if err := w.finish(ctx); err != nil {
		return w.fail(err)
	}
	w.done = true
	w.err = errFinished
	return nil
}

var errFinished = errors.New("bundle: the writer is finished")

// finish ends the data files, writes the index and reads it back, then renames. The order must stay: a crash
// before the renames leaves the old bundle, one between them leaves both under names that [Recover] knows.
func (w *Writer) finish(ctx context.Context) error {
	w.closeSource()
	if n := len(w.shards); n > w.least && n > 1 && !w.shards[n-1].used {
		// A last NextShard that nothing followed.
		if err := w.shards[n-1].close(); err != nil {
			return err
		}
		if err := w.dir.Remove(w.shards[n-1].name); err != nil {
			return err
		}
		w.shards = w.shards[:n-1]
	}
	// Only the last one has bytes that are still to be written.
	if err := w.flush(w.shards[len(w.shards)-1]); err != nil {
		return err
	}
	w.header.NumShards = int32(len(w.shards))
	if w.big {
		w.header.Endianness = 1
	}
	temp := IndexName(w.prefix) + w.token
	temps := make([]string, len(w.shards))
	for i, s := range w.shards {
		temps[i] = s.name
	}
	// The index is made while the disk takes the data.
	made := make(chan indexMade, 1)
	go func() { made <- makeIndex(ctx, &w.entries, &w.header, temp) }()
	err := w.endAll(ctx)
	index := <-made
	w.entries = entryTable{}
	if err != nil {
		return err
	}
	if index.err != nil {
		return index.err
	}
	if err := w.writeIndex(temp, index.bytes); err != nil {
		return err
	}
	if err := index.readBack(ctx, w.dir, temps); err != nil {
		return fmt.Errorf("bundle: reading %s back: %w", w.prefix, err)
	}
	if _, err := fs.Stat(w.dir, IndexName(w.prefix)); err == nil {
		// A bundle is replaced. From here on the new one is whole on the disk, under
		// whatever names, for [Recover] to find.
		if err := w.syncNames(); err != nil {
			return err
		}
	}
	names := newSwap(w.dir)
	if err := w.name(names, temp); err != nil {
		return names.back(err)
	}
	names.done()
	return nil
}

// name renames the files to their final names, the index, whose present name is
// temp, last.
func (w *Writer) name(names *swap, temp string) error {
	files := make([]string, 0, len(w.shards)+1)
	for i, s := range w.shards {
		name := DataName(w.prefix, i, len(w.shards))
		if err := names.rename(s.name, name); err != nil {
			return fmt.Errorf("bundle: rename %s: %w", s.name, err)
		}
		files = append(files, name)
	}
	// The index must not become durable before the names of the data files.
	if err := w.syncNames(); err != nil {
		return err
	}
	if err := names.rename(temp, IndexName(w.prefix)); err != nil {
		return fmt.Errorf("bundle: rename %s: %w", temp, err)
	}
	w.files = append(files, IndexName(w.prefix))
	return w.syncNames()
}

func (w *Writer) syncNames() error {
	if w.opts.NoSync {
		return nil
	}
	if err := w.dir.Sync(); err != nil {
		return fmt.Errorf("bundle: make the names of %s durable: %w", w.prefix, err)
	}
	return nil
}

// end makes a data file durable and closes it. Finish does that for the last
// ones, so that the system can write them meanwhile; the others are ended as new
// ones are begun, so that a checkpoint of many doesn't hold them all open.
func (w *Writer) end(s *shardWriter) error {
	if s.shut {
		return nil
	}
	if err := w.settle(s.f, s.name); err != nil {
		return err
	}
	if err := s.close(); err != nil {
		return fmt.Errorf("bundle: close %s: %w", s.name, err)
	}
	return nil
}

// endAll ends all data files.
func (w *Writer) endAll(ctx context.Context) error {
	for _, s := range w.shards {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := w.end(s); err != nil {
			return err
		}
	}
	return nil
}

// settle makes a file durable.
func (w *Writer) settle(f vfs.File, name string) error {
	if w.opts.NoSync {
		return nil
	}
	if err := f.Sync(); err != nil {
		return fmt.Errorf("bundle: sync %s: %w", name, err)
	}
	return nil
}

func (w *Writer) writeIndex(temp string, b []byte) (err error) {
	f, err := w.dir.Create(temp)
	if err != nil {
		return fmt.Errorf("bundle: create %s: %w", temp, err)
	}
	w.index = temp
	defer func() {
		if cerr := f.Close(); err == nil && cerr != nil {
			err = fmt.Errorf("bundle: close %s: %w", temp, cerr)
		}
	}()
	if _, err := f.Write(b); err != nil {
		return fmt.Errorf("bundle: write %s: %w", temp, err)
	}
	return w.settle(f, temp)
}

// Files lists the names of the bundle's files once Finish has returned nil: the
// data files in order, then the index.
func (w *Writer) Files() []string { return slices.Clone(w.files) }

// Written returns the number of bytes of tensors written so far.
func (w *Writer) Written() int64 { return w.written }

// Abort removes everything written. After a Finish that returned nil it does
// nothing.
func (w *Writer) Abort() error {
	if w.done {
		return nil
	}
	w.done = true
	w.closeSource()
	_ = w.waitForWrite()
	if w.err == nil {
		w.err = errors.New("bundle: the writer was aborted")
	}
	var errs []error
	if w.index != "" { // before the files that it names
		errs = append(errs, w.dir.Remove(w.index))
	}
	for _, s := range w.shards {
		s.close()
		errs = append(errs, w.dir.Remove(s.name))
	}
	w.shards, w.files, w.buf, w.spare = nil, nil, nil, nil
	return errors.Join(errs...)
}

func (w *Writer) fail(err error) error {
	if w.err == nil {
		w.err = err
	}
	return err
}
