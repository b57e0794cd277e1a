package tensorfile

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/cairnml/cairn/vfs"
)

// hinted is a directory in memory that notes the hints it gets.
type hinted struct {
	*vfs.Mem
	evicted []string
	room    [2]int64 // the last preallocation: offset and length
	back    int64    // how far the disk was to begin
	gap     bool     // a range that doesn't follow the one before
}

func (d *hinted) Evict(name string) { d.evicted = append(d.evicted, name) }

func (d *hinted) Create(name string) (vfs.File, error) {
	f, err := d.Mem.Create(name)
	return &hintedFile{f, d}, err
}

type hintedFile struct {
	vfs.File
	d *hinted
}

func (f *hintedFile) Preallocate(off, n int64) { f.d.room = [2]int64{off, n} }

func (f *hintedFile) StartWriteback(off, n int64) {
	f.d.gap = f.d.gap || off != f.d.back
	f.d.back = off + n
}

// TestFilesAreWrittenWhileTheyAreMade: the disk gets to work on a large file before
// it is whole, and the memory of the one that it replaces is given up first.
func TestFilesAreWrittenWhileTheyAreMade(t *testing.T) {
	d := &hinted{Mem: vfs.MemDir()}
	f, err := CreateFileIn(d, "out.npz", true)
	if err != nil {
		t.Fatal(err)
	}
	if len(d.evicted) != 1 || d.evicted[0] != "out.npz" {
		t.Errorf("evicted %q", d.evicted)
	}
	const piece, n = 5 << 20, 7
	for i := range n {
		if _, err := f.Write(make([]byte, piece)); err != nil {
			t.Fatal(err)
		}
		if want := [2]int64{int64(i * piece), piece}; d.room != want {
			t.Errorf("room for %v, want %v", d.room, want)
		}
	}
	if d.gap || d.back < piece*n-2*aheadStep {
		t.Errorf("the disk was to begin with %d of %d bytes, gap %v", d.back, piece*n, d.gap)
	}
	f.Abort()

	// On the operating system the file has the bytes written.
	path := filepath.Join(t.TempDir(), "x.txt")
	if f, err = CreateFile(path, false); err != nil {
		t.Fatal(err)
	}
	want := make([]byte, 3*aheadStep+17)
	for i := range want {
		want[i] = byte(i * 7)
	}
	if _, err := f.Write(want); err != nil {
		t.Fatal(err)
	}
	if err := f.Commit(); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != string(want) {
		t.Errorf("%d bytes, want %d: %v", len(got), len(want), err)
	}
}
