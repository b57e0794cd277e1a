package rewrite

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/cairnml/cairn/bundle"
	"github.com/cairnml/cairn/internal/store"
)

// sameFile refuses to write over what is being read, by whatever name the
// destination goes: a symbolic or hard link, a linked folder, another spelling.
func sameFile(s *store.Store, dst string) error {
	a, errA := filepath.Abs(s.Prefix)
	b, errB := filepath.Abs(dst)
	if errA == nil && errB == nil && a == b {
		return fmt.Errorf("%s is what would be read and written; write to another name", dst)
	}
	sources := filesAt(s.Prefix)
	for path, info := range filesAt(dst) {
		for source, other := range sources {
			if os.SameFile(info, other) {
				return fmt.Errorf("%s is %s by another name, which would be read and written; write to another name", path, source)
			}
		}
	}
	return nil
}

// filesAt are the files that belong to the checkpoint prefix, or the file path
// itself, with links followed.
func filesAt(prefix string) map[string]os.FileInfo {
	files := make(map[string]os.FileInfo)
	add := func(path string) {
		if info, err := os.Stat(path); err == nil && !info.IsDir() {
			files[path] = info
		}
	}
	add(prefix)
	folder, base := filepath.Dir(prefix), filepath.Base(prefix)
	entries, err := os.ReadDir(folder)
	if err != nil {
		return files // nothing there that could be written over
	}
	for _, e := range entries {
		owner, _, _, isData := bundle.ParseDataName(e.Name())
		rest, longer := strings.CutPrefix(e.Name(), base+"-")
		if isData && owner == base || e.Name() == base+".index" || longer && strings.Contains(rest, "-of-") { // the last of version 1
			add(filepath.Join(folder, e.Name()))
		}
	}
	return files
}
