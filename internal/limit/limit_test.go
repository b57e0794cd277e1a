package limit

import (
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func TestStoredLeavesHolesOut(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "f"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	const size = 1 << 30
	if err := f.Truncate(size); err != nil {
		t.Fatal(err)
	}
	if n := Stored(f, size); runtime.GOOS == "linux" && n > 1<<20 {
		t.Errorf("a hole of %d bytes is said to take %d", size, n)
	}
	if _, err := f.WriteAt(make([]byte, 4<<20), 0); err != nil {
		t.Fatal(err)
	}
	if err := f.Sync(); err != nil {
		t.Fatal(err)
	}
	if n := Stored(f, size); n < 4<<20 {
		t.Errorf("4 MiB that were written are said to take %d bytes", n)
	}
	if n := Stored(strings.NewReader("x"), 7); n != 7 {
		t.Errorf("what tells nothing takes %d", n)
	}
}

func TestMemoryDoesNotOverflow(t *testing.T) {
	if n := Memory(math.MaxInt64); n != math.MaxInt64 {
		t.Error(n)
	}
	if n := Memory(1); n != 64<<20+16 {
		t.Error(n)
	}
}
