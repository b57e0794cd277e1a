package vfs

import (
	"os"
	"path/filepath"
	"strings"
)

// FolderExchanger is implemented by a [Dir] that can exchange the names of two
// existing directories.
type FolderExchanger interface {
	// ExchangeFolders exchanges the names in one step if the system can: a reader that
	// opens one of them finds one directory or the other, complete. Otherwise it
	// renames in three steps, and a crash or an error between them leaves the directory
	// b under the name of a with ".old" after it.
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
	return exchange(filepath.Join(d.root, x), filepath.Join(d.root, y))
}

// exchangeInSteps exchanges two names by way of a third one.
func exchangeInSteps(a, b string) error {
	old := a + ".old"
	if err := os.Rename(b, old); err != nil {
		return err
	}
	if err := os.Rename(a, b); err != nil {
		return err
	}
	return os.Rename(old, a)
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
