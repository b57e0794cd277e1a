// Package faultfs is a [vfs.Dir] in memory for tests of failing files: any
// operation can be made to fail, the disk can be full, and a crash can be
// simulated that loses data not made durable. Tests of bundle, checkpoint,
// savedmodel and vfs use it.
//
// It is stricter than real file systems: written bytes survive a crash only
// after the file's Sync, and names (of new, renamed and removed files) only
// after the Dir's Sync, unless the [Loss] keeps more.
package faultfs

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"path"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing/fstest"
	"time"

	"github.com/cairnml/cairn/vfs"
)

// Kind is the kind of an operation.
type Kind string

// The operations that are counted and can be made to fail.
const (
	Create  Kind = "create"
	Write   Kind = "write"
	Sync    Kind = "sync" // of a file
	Close   Kind = "close"
	Rename  Kind = "rename"
	Remove  Kind = "remove"
	SyncDir Kind = "syncdir"
	Open    Kind = "open"
	Read    Kind = "read" // bytes, a directory's entries, or a file's size
)

// Op is one operation.
type Op struct {
	N    int // counts from 0, since the last Hook
	Kind Kind
	Name string // of the file
	To   string // Rename's new name
}

// String returns the operation for people.
func (o Op) String() string {
	if o.To != "" {
		return fmt.Sprintf("#%d %s %s -> %s", o.N, o.Kind, o.Name, o.To)
	}
	return fmt.Sprintf("#%d %s %s", o.N, o.Kind, o.Name)
}

// ErrFault is matched by errors.Is in injected failures.
var ErrFault = errors.New("faultfs: injected fault")

// ErrCrashed is returned by every operation after the crash.
var ErrCrashed = errors.New("faultfs: the machine has crashed")

// afterwards is an error of an operation that was done all the same.
type afterwards struct{ error }

func (e afterwards) Unwrap() error { return e.error }

// Afterwards makes a hook's error one that comes when the operation has been
// done, as from a network file system that lost the answer.
func Afterwards(err error) error { return afterwards{err} }

// inode is a file's contents, which may have several names over time.
type inode struct {
	live, synced []byte // as a process reads them, and as of the last Sync
	time         time.Time
}

// nameOp is a change of names that isn't durable yet.
type nameOp struct {
	remove, add string // "": none
	node        *inode // add's
}

// FS is the file system. The zero FS is not ready: see [New].
type FS struct {
	mu      sync.Mutex
	live    map[string]*inode // by name, as a process sees them
	durable map[string]*inode // by name, as of the last Dir's Sync
	pending []nameOp          // the changes from durable to live, in order
	ops     []Op              // since the last Hook
	hook    func(Op) error
	cap     int64 // bytes that fit, -1 for any

	handles map[any]string // the names of the files that are open
	busy    []Op           // on names of open files
}

// New makes an empty file system.
func New() *FS {
	return &FS{live: map[string]*inode{}, durable: map[string]*inode{}, cap: -1, handles: map[any]string{}}
}

// Hook makes every operation ask f before it is done; an error makes it fail. A
// Write that fails has written half its bytes. Nil takes the hook away. The
// count of operations begins anew. f is called while the file system is locked,
// so it must not use it.
func (d *FS) Hook(f func(Op) error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.hook, d.ops = f, nil
}

// FailAt makes the operation number n fail with err, and those after it work
// again.
func (d *FS) FailAt(n int, err error) {
	d.Hook(func(op Op) error {
		if op.N == n {
			return err
		}
		return nil
	})
}

// FailFrom makes the operation number n and all after it fail with err.
func (d *FS) FailFrom(n int, err error) {
	d.Hook(func(op Op) error {
		if op.N >= n {
			return err
		}
		return nil
	})
}

// Capacity makes the disk full when its files hold n bytes; -1 for never.
func (d *FS) Capacity(n int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.cap = n
}

// Ops returns the operations since the last Hook.
func (d *FS) Ops() []Op {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.ops)
}

// Loss is the extent of a crash's losses.
type Loss int

// The kinds of loss.
const (
	LoseAll   Loss = iota // unsynced bytes and unsynced names
	LoseBytes             // unsynced bytes; names are there already
	LoseNames             // unsynced names; bytes are there already
	LoseNone              // nothing, as when the process is killed
	LoseSome              // at random: names up to some moment, bytes up to some place
)

// Losses are all kinds of loss.
var Losses = []Loss{LoseAll, LoseBytes, LoseNames, LoseNone, LoseSome}

// AfterCrash returns the file system after the machine restarts. d isn't
// changed; the seed is for LoseSome.
func (d *FS) AfterCrash(loss Loss, seed uint64) *FS {
	d.mu.Lock()
	defer d.mu.Unlock()
	rnd := rand.New(rand.NewPCG(seed, 7))
	names := maps.Clone(d.durable)
	applied := 0
	switch loss {
	case LoseBytes, LoseNone:
		applied = len(d.pending)
	case LoseSome:
		applied = rnd.IntN(len(d.pending) + 1)
	}
	for _, op := range d.pending[:applied] {
		op.apply(names)
	}
	out := New()
	moved := map[*inode]*inode{}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		old := names[name]
		n := moved[old]
		if n == nil {
			b := old.synced
			switch loss {
			case LoseNames, LoseNone:
				b = old.live
			case LoseSome:
				if k := rnd.IntN(3); k == 0 {
					b = old.live
				} else if k == 1 && len(old.live) > len(old.synced) {
					b = old.live[:len(old.synced)+rnd.IntN(len(old.live)-len(old.synced))]
				}
			}
			n = &inode{live: slices.Clone(b), synced: slices.Clone(b), time: old.time}
			moved[old] = n
		}
		out.live[name], out.durable[name] = n, n
	}
	return out
}

func (op nameOp) apply(names map[string]*inode) {
	if op.remove != "" {
		delete(names, op.remove)
	}
	if op.add != "" {
		names[op.add] = op.node
	}
}

// step counts an operation and asks the hook; d.mu is held. See failed for the meaning of
// the error.
func (d *FS) step(kind Kind, name, to string) error {
	op := Op{N: len(d.ops), Kind: kind, Name: name, To: to}
	d.ops = append(d.ops, op)
	if d.hook == nil {
		return nil
	}
	if err := d.hook(op); err != nil {
		var after afterwards
		if errors.As(err, &after) {
			return afterwards{fmt.Errorf("%s: %w", op, after.error)}
		}
		return fmt.Errorf("%s: %w", op, err)
	}
	return nil
}

// failed reports whether the operation must not be executed.
func failed(err error) bool {
	var after afterwards
	return err != nil && !errors.As(err, &after)
}

// checkName returns an error for names that no file can have.
func checkName(op, name string) error {
	if !fs.ValidPath(name) || name == "." {
		return &fs.PathError{Op: op, Path: name, Err: fs.ErrInvalid}
	}
	return nil
}

// Create implements [vfs.Dir].
func (d *FS) Create(name string) (vfs.File, error) {
	if err := checkName("create", name); err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	err := d.step(Create, name, "")
	if failed(err) {
		return nil, err
	}
	n := d.live[name]
	if n == nil {
		n = &inode{}
		d.live[name] = n
		d.pending = append(d.pending, nameOp{add: name, node: n})
	}
	n.live, n.time = nil, time.Now()
	if err != nil {
		return nil, err
	}
	f := &file{d: d, n: n, name: name}
	d.handles[f] = name
	return f, nil
}

// Rename implements [vfs.Dir].
func (d *FS) Rename(oldname, newname string) error {
	if err := errors.Join(checkName("rename", oldname), checkName("rename", newname)); err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	err := d.step(Rename, oldname, newname)
	if failed(err) {
		return err
	}
	n := d.live[oldname]
	if n == nil {
		return &fs.PathError{Op: "rename", Path: oldname, Err: fs.ErrNotExist}
	}
	d.disturb(Op{Kind: Rename, Name: oldname, To: newname})
	op := nameOp{remove: oldname, add: newname, node: n}
	op.apply(d.live)
	d.pending = append(d.pending, op)
	return err
}

// Remove implements [vfs.Dir].
func (d *FS) Remove(name string) error {
	if err := checkName("remove", name); err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	err := d.step(Remove, name, "")
	if failed(err) {
		return err
	}
	if d.live[name] == nil {
		return &fs.PathError{Op: "remove", Path: name, Err: fs.ErrNotExist}
	}
	d.disturb(Op{Kind: Remove, Name: name})
	op := nameOp{remove: name}
	op.apply(d.live)
	d.pending = append(d.pending, op)
	return err
}

// disturb notes an operation on the name of a file that is open; d.mu is held.
func (d *FS) disturb(op Op) {
	for f, name := range d.handles {
		if name == op.Name || name == op.To {
			op.N = len(d.ops) - 1
			d.busy = append(d.busy, op)
			if op.Kind == Rename && name == op.Name {
				d.handles[f] = op.To
			}
		}
	}
}

// Busy returns the renames and removals of files that were open, which some
// systems refuse.
func (d *FS) Busy() []Op {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.busy)
}

// Handles returns the names of the files that are open, sorted.
func (d *FS) Handles() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Sorted(maps.Values(d.handles))
}

// Sync implements [vfs.Dir].
func (d *FS) Sync() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	err := d.step(SyncDir, ".", "")
	if failed(err) {
		return err
	}
	d.durable, d.pending = maps.Clone(d.live), nil
	return err
}

// Open implements [fs.FS].
func (d *FS) Open(name string) (fs.File, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.step(Open, name, ""); err != nil {
		return nil, err
	}
	m := fstest.MapFS{}
	if n := d.live[name]; n != nil {
		m[name] = &fstest.MapFile{Data: slices.Clone(n.live), Mode: 0o644, ModTime: n.time}
	} else {
		for k, n := range d.live {
			if name == "." || strings.HasPrefix(k, name+"/") {
				m[k] = &fstest.MapFile{Data: n.live, Mode: 0o644, ModTime: n.time}
			}
		}
	}
	f, err := m.Open(name)
	if err != nil {
		return nil, err
	}
	r := &reader{d: d, name: name, f: f}
	if d.live[name] != nil {
		d.handles[r] = name
	}
	return r, nil
}

// Names lists all files, sorted; it is no operation.
func (d *FS) Names() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Sorted(maps.Keys(d.live))
}

// Bytes returns a copy of a file's bytes, nil if there is none. It doesn't
// count as an operation.
func (d *FS) Bytes(name string) []byte {
	d.mu.Lock()
	defer d.mu.Unlock()
	if n := d.live[name]; n != nil {
		return append([]byte{}, n.live...)
	}
	return nil
}

// Put makes a durable file with these bytes; it is no operation.
func (d *FS) Put(name string, b []byte) {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := &inode{live: slices.Clone(b), synced: slices.Clone(b), time: time.Now()}
	d.live[name], d.durable[name] = n, n
}

// Damage flips a bit in every byte from offset from to offset to of a file, also
// in its durable part. It doesn't count as an operation. A negative to means the
// end.
func (d *FS) Damage(name string, from, to int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := d.live[name]
	if n == nil {
		panic("faultfs: no file " + name)
	}
	n.live = slices.Clone(n.live)
	if to < 0 {
		to = len(n.live)
	}
	for i := from; i < to; i++ {
		n.live[i] ^= 0x10
	}
	n.synced = slices.Clone(n.live)
}

// file is a vfs.File that is open for writing.
type file struct {
	d      *FS
	n      *inode
	name   string // at Create
	at     int64  // of the next Write
	closed bool
}

func (f *file) Write(p []byte) (int, error) {
	n, err := f.WriteAt(p, f.at)
	f.at += int64(n)
	return n, err
}

func (f *file) WriteAt(p []byte, off int64) (int, error) {
	f.d.mu.Lock()
	defer f.d.mu.Unlock()
	if f.closed {
		return 0, fs.ErrClosed
	}
	err := f.d.step(Write, f.name, "")
	if failed(err) {
		p = p[:len(p)/2]
	}
	if f.d.cap >= 0 {
		used := int64(0)
		for _, n := range f.d.live {
			used += int64(len(n.live))
		}
		grow := max(0, off+int64(len(p))-int64(len(f.n.live)))
		if used+grow > f.d.cap {
			p = p[:max(0, int64(len(p))-(used+grow-f.d.cap))]
			err = &fs.PathError{Op: "write", Path: f.name, Err: syscall.ENOSPC}
		}
	}
	if end := int(off) + len(p); end > len(f.n.live) {
		f.n.live = append(f.n.live, make([]byte, end-len(f.n.live))...)
	}
	copy(f.n.live[off:], p)
	f.n.time = time.Now()
	return len(p), err
}

func (f *file) Sync() error {
	f.d.mu.Lock()
	defer f.d.mu.Unlock()
	err := f.d.step(Sync, f.name, "")
	if !failed(err) {
		f.n.synced = slices.Clone(f.n.live)
	}
	return err
}

func (f *file) Close() error {
	f.d.mu.Lock()
	defer f.d.mu.Unlock()
	if f.closed {
		return fs.ErrClosed
	}
	f.closed = true // also if it fails, as on Linux
	delete(f.d.handles, f)
	return f.d.step(Close, f.name, "")
}

// reader is a file or directory that is open for reading. It has the contents as of
// Open.
type reader struct {
	d    *FS
	name string
	f    fs.File
}

func (r *reader) step() error {
	r.d.mu.Lock()
	defer r.d.mu.Unlock()
	return r.d.step(Read, r.name, "")
}

func (r *reader) Stat() (fs.FileInfo, error) {
	if err := r.step(); err != nil {
		return nil, err
	}
	return r.f.Stat()
}

func (r *reader) Read(p []byte) (int, error) {
	if err := r.step(); err != nil {
		return 0, err
	}
	return r.f.Read(p)
}

func (r *reader) ReadAt(p []byte, off int64) (int, error) {
	if err := r.step(); err != nil {
		return 0, err
	}
	if f, ok := r.f.(interface {
		ReadAt([]byte, int64) (int, error)
	}); ok {
		return f.ReadAt(p, off)
	}
	return 0, &fs.PathError{Op: "read", Path: r.name, Err: fs.ErrInvalid}
}

func (r *reader) ReadDir(n int) ([]fs.DirEntry, error) {
	if err := r.step(); err != nil {
		return nil, err
	}
	if f, ok := r.f.(fs.ReadDirFile); ok {
		return f.ReadDir(n)
	}
	return nil, &fs.PathError{Op: "readdir", Path: path.Base(r.name), Err: fs.ErrInvalid}
}

func (r *reader) Close() error {
	r.d.mu.Lock()
	delete(r.d.handles, r)
	r.d.mu.Unlock()
	return r.f.Close()
}
