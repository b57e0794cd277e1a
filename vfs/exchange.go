package vfs

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// FolderExchanger is implemented by a [Dir] that can exchange the names of two
// existing directories.
type FolderExchanger interface {
	// ExchangeFolders exchanges the names in one step if the system can: a reader that
	// opens one of them finds one directory or the other, complete. Otherwise it
	// renames in three steps, and a crash between them leaves the directory b under the
	// name of a with ".old" after it, and a number if there is such a name.
	ExchangeFolders(a, b string) error
}

// ExchangeFolders implements [FolderExchanger].
func (d *osDir) ExchangeFolders(a, b string) error {
	x, err := local("exchange", a)
	if err != nil {
		return err
	}
	y, err := local("exchange", b)
	if err != nil {
		return err
	}
	d.touched(filepath.Dir(x))
	d.touched(filepath.Dir(y))
	return d.within("exchange", y, func(root *os.Root) error { return exchange(root, x, y) })
}

// exchangeInSteps exchanges two names by way of a third one. If a step fails, those before it are
// taken back. If that fails too, its error has the names that the directories are left under.
func exchangeInSteps(root *os.Root, a, b string) error {
	rename := func(from, to string) error {
		return retryInUse(func() error { return root.Rename(from, to) })
	}
	old := a + ".old"
	for i := 2; ; i++ { // a crash may have left one
		if _, err := root.Lstat(old); errors.Is(err, fs.ErrNotExist) {
			break
		} else if err != nil {
			return err
		}
		old = a + ".old" + strconv.Itoa(i)
	}
	if err := rename(b, old); err != nil {
		return err
	}
	if err := rename(a, b); err != nil {
		return cmp.Or(rename(old, b), err)
	}
	if err := rename(old, a); err != nil {
		if back := rename(b, a); back != nil {
			return back
		}
		return cmp.Or(rename(old, b), err)
	}
	return nil
}

// ExchangeFolders implements [FolderExchanger].
func (m *Mem) ExchangeFolders(a, b string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	moved := make(map[string]*memData, len(m.files))
	for name, f := range m.files {
		switch {
		case strings.HasPrefix(name, a+"/"):
			name = b + name[len(a):]
		case strings.HasPrefix(name, b+"/"):
			name = a + name[len(b):]
		}
		moved[name] = f
	}
	m.files = moved
	return nil
}
