package checkpoint

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/gofrs/flock"
)

// lockName is the file that a manager locks in its directory. From its second
// byte on it contains the lock's holder: on Windows others can't read bytes
// that are locked, and only the first byte is locked.
const lockName = ".cairn-lock"

// held records the holder of each directory within this process, because locks
// on files don't exclude managers of one process (and js has no locks). It is
// global because a lock belongs to the process, too.
var held = struct {
	sync.Mutex
	by map[any]string
}{by: map[any]string{}}

// holdKey makes this process the holder of the directory that key identifies. shown is its name in errors.
func holdKey(key any, shown string) (unhold func(), err error) {
	held.Lock()
	defer held.Unlock()
	if by, ok := held.by[key]; ok {
		return nil, &LockedError{Dir: shown, Holder: by}
	}
	held.by[key] = holderText()
	return func() {
		held.Lock()
		defer held.Unlock()
		delete(held.by, key)
	}, nil
}

// holderText returns the description of this process in the lock file.
func holderText() string {
	host, err := os.Hostname()
	if err != nil {
		host = "an unknown host"
	}
	program := "a program"
	if len(os.Args) > 0 {
		program = filepath.Base(os.Args[0])
	}
	return fmt.Sprintf("%s, process %d on %s, since %s", program, os.Getpid(), host, time.Now().UTC().Format(time.RFC3339))
}

// A lock is a manager's hold on its directory. A nil lock holds nothing.
type lock struct {
	dir    string       // as the user passed it
	file   string       // "" if it isn't a directory of the operating system
	f      *flock.Flock // nil if files can't be locked
	unhold func()
}

// lockValue locks a Dir that is no directory of the operating system, against
// other managers of this process. A Dir that can't be compared isn't locked.
func lockValue(dir any, shown string) (*lock, error) {
	if !reflect.TypeOf(dir).Comparable() {
		return nil, nil
	}
	unhold, err := holdKey(dir, shown)
	if err != nil {
		return nil, err
	}
	return &lock{dir: shown, unhold: unhold}, nil
}

// lockDirectory locks a directory of the operating system, creating it if it is
// missing. When a process ends, in whatever way, the system releases its lock.
func lockDirectory(dir string) (*lock, error) {
	if err := makeDirectory(dir); err != nil {
		return nil, fmt.Errorf("checkpoint: making the directory: %w", err)
	}
	key, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("checkpoint: %w", err)
	}
	if real, err := filepath.EvalSymlinks(key); err == nil {
		key = real
	}
	unhold, err := holdKey(key, dir)
	if err != nil {
		return nil, err
	}
	l := &lock{dir: dir, file: filepath.Join(key, lockName), unhold: unhold}
	if l.f, err = lockFile(l.file, dir); err != nil {
		unhold()
		return nil, err
	}
	return l, nil
}

// renew takes the lock again if the lock file was deleted, alone or with its
// directory. again reports whether it took the lock. If another manager has the
// lock by then, the error is a [LockedError].
func (l *lock) renew() (again bool, err error) {
	if l == nil || l.f == nil || isLocked(l.f, l.file) {
		return false, nil
	}
	if err := makeDirectory(filepath.Dir(l.file)); err != nil {
		return false, fmt.Errorf("checkpoint: making the directory again: %w", err)
	}
	f, err := lockFile(l.file, l.dir)
	if err != nil {
		return false, err
	}
	_ = l.f.Unlock() // of a file that no process can open any more
	l.f = f
	return true, nil
}

// release unlocks the directory.
func (l *lock) release() error {
	if l == nil {
		return nil
	}
	defer l.unhold()
	if l.f == nil {
		return nil
	}
	if runtime.GOOS != "windows" && isLocked(l.f, l.file) { // on Windows an open file can't be removed
		_ = os.Remove(l.file)
	}
	return l.f.Unlock()
}

// makeDirectory makes a directory and its parents, and makes their names durable:
// a checkpoint in a directory that a crash takes away is lost.
func makeDirectory(dir string) error {
	if info, err := os.Stat(dir); err == nil && info.IsDir() {
		return nil
	}
	parent := filepath.Dir(dir)
	if parent != dir {
		if err := makeDirectory(parent); err != nil {
			return err
		}
	}
	if err := os.Mkdir(dir, 0o777); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	f, err := os.Open(parent)
	if err != nil {
		return nil // a directory that can't be read can't be synced either
	}
	_ = f.Sync() // not every system can, and those that can't don't need it
	return f.Close()
}

// lockFile locks a file, which it creates. It returns nil if files can't be
// locked; then only the process's own table protects the directory.
func lockFile(file, shown string) (*flock.Flock, error) {
	for range 100 {
		// The path may not be our file. Nothing is written through a link, and opening
		// a pipe would wait for its other end.
		if info, err := os.Lstat(file); err == nil && !info.Mode().IsRegular() {
			return nil, fmt.Errorf("checkpoint: locking %s: %s is no regular file (%v); remove it", shown, file, info.Mode())
		}
		f := flock.New(file, flock.SetFlag(os.O_CREATE|os.O_RDWR|plainFile), flock.SetPermissions(0o666))
		ok, err := f.TryLock()
		switch {
		case err != nil && noLocks(err):
			return nil, nil
		case err != nil:
			return nil, fmt.Errorf("checkpoint: locking %s: %w", shown, err)
		case !ok:
			return nil, &LockedError{Dir: shown, Holder: readHolder(file)}
		}
		// The file may have been removed by its last holder between opening and
		// locking: then the lock is on nothing.
		if !isLocked(f, file) {
			if err := f.Unlock(); err != nil {
				return nil, fmt.Errorf("checkpoint: locking %s: %w", shown, err)
			}
			continue
		}
		writeHolder(file)
		return f, nil
	}
	return nil, fmt.Errorf("checkpoint: locking %s: other programs lock it again and again; try later", shown)
}

// isLocked reports whether the file locked by f is still the file of that name.
func isLocked(f *flock.Flock, file string) bool {
	mine, err1 := f.Stat()
	there, err2 := os.Lstat(file)
	return err1 == nil && err2 == nil && os.SameFile(mine, there)
}

const holderSize = 500 // bytes of the text about the lock's holder, which spaces fill up

// writeHolder writes the description of this process into the lock file, for the errors of
// other processes. Faults are ignored, since the lock holds without the text.
func writeHolder(file string) {
	f, err := os.OpenFile(file, os.O_WRONLY|plainFile, 0)
	if err != nil {
		return
	}
	defer f.Close()
	// A file that is there under other names too, or holds more than a holder's
	// words, is not only ours, so it isn't written.
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() || info.Size() > holderSize+1 || hardLinked(info) {
		return
	}
	text := holderText()
	text = text[:min(len(text), holderSize-1)]
	_, _ = f.WriteAt([]byte(text+strings.Repeat(" ", holderSize-1-len(text))+"\n"), 1)
}

func readHolder(file string) string {
	const unknown = "its holder is not known"
	f, err := os.OpenFile(file, os.O_RDONLY|plainFile, 0)
	if err != nil {
		return unknown
	}
	defer f.Close()
	b := make([]byte, holderSize)
	n, _ := f.ReadAt(b, 1)
	if s := strings.TrimSpace(strings.ToValidUTF8(string(b[:n]), "?")); s != "" {
		return s
	}
	return unknown
}

// noLocks reports whether err means that locks don't work on this system or on
// this file system.
func noLocks(err error) bool { return errors.Is(err, errors.ErrUnsupported) || noLocksErrno(err) }
