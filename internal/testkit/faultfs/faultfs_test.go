package faultfs

import (
	"errors"
	"io/fs"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"

	"github.com/cairnml/cairn/vfs"
)

var _ vfs.Dir = (*FS)(nil)

func put(t *testing.T, d *FS, name, text string, sync bool) {
	t.Helper()
	f, err := d.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if sync {
		if err := f.Sync(); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

func dump(d *FS) string {
	var out []string
	for _, n := range d.Names() {
		out = append(out, n+"="+string(d.Bytes(n)))
	}
	return strings.Join(out, " ")
}

func TestReadsAsAFileSystem(t *testing.T) {
	d := New()
	put(t, d, "a", "aa", true)
	put(t, d, "sub/b", "b", true)
	if err := fstest.TestFS(d, "a", "sub/b"); err != nil {
		t.Fatal(err)
	}
}

func TestCrashLosesWhatWasNotSynced(t *testing.T) {
	d := New()
	put(t, d, "old", "old", true)
	if err := d.Sync(); err != nil {
		t.Fatal(err)
	}
	put(t, d, "old", "newer", false) // overwritten, not synced
	put(t, d, "temp", "data", true)
	if err := d.Rename("temp", "final"); err != nil {
		t.Fatal(err)
	}
	put(t, d, "loose", "x", false)
	for loss, want := range map[Loss]string{
		LoseAll:   "old=old",
		LoseBytes: "final=data loose= old=old",
		LoseNames: "old=newer",
		LoseNone:  "final=data loose=x old=newer",
	} {
		if got := dump(d.AfterCrash(loss, 0)); got != want {
			t.Errorf("loss %d: %s, want %s", loss, got, want)
		}
	}
	var seen []string
	for seed := range uint64(200) {
		if s := dump(d.AfterCrash(LoseSome, seed)); !slices.Contains(seen, s) {
			seen = append(seen, s)
		}
	}
	if len(seen) < 10 {
		t.Errorf("at random, only these came out: %q", seen)
	}
	for _, s := range seen {
		if strings.Contains(s, "temp=") && strings.Contains(s, "final=") {
			t.Errorf("half a rename: %s", s)
		}
	}
	if err := d.Remove("final"); err != nil {
		t.Fatal(err)
	}
	if got := dump(d.AfterCrash(LoseAll, 0)); got != "old=old" {
		t.Errorf("after a removal: %s", got)
	}
}

func TestFaults(t *testing.T) {
	d := New()
	d.FailAt(1, ErrFault)
	f, err := d.Create("a")
	if err != nil {
		t.Fatal(err)
	}
	if n, err := f.Write([]byte("abcd")); !errors.Is(err, ErrFault) || n != 2 {
		t.Errorf("write: %d, %v", n, err)
	}
	if got := d.Ops(); len(got) != 2 || got[1].String() != "#1 write a" {
		t.Errorf("operations: %v", got)
	}
	d.FailAt(0, Afterwards(ErrFault))
	if err := d.Rename("a", "b"); !errors.Is(err, ErrFault) {
		t.Errorf("rename: %v", err)
	}
	if got := dump(d); got != "b=ab" {
		t.Errorf("the rename was not done: %s", got)
	}
	d.FailFrom(1, ErrCrashed)
	if _, err := d.Open("b"); err != nil {
		t.Error(err)
	}
	for range 3 {
		if err := d.Sync(); !errors.Is(err, ErrCrashed) {
			t.Errorf("sync: %v", err)
		}
	}
	d.Hook(nil)
	if _, err := d.Open("c"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("open: %v", err)
	}
	for _, err := range []error{d.Rename("x", "y"), d.Remove("x")} {
		if !errors.Is(err, fs.ErrNotExist) {
			t.Error(err)
		}
	}
	if _, err := d.Create("../x"); !errors.Is(err, fs.ErrInvalid) {
		t.Error(err)
	}
}

func TestFullDisk(t *testing.T) {
	d := New()
	put(t, d, "a", "123456", true)
	d.Capacity(8)
	f, err := d.Create("b")
	if err != nil {
		t.Fatal(err)
	}
	if n, err := f.Write([]byte("abcd")); n != 2 || !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("write: %d, %v", n, err)
	}
	if err := d.Remove("a"); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write([]byte("cd")); err != nil {
		t.Error(err)
	}
	d.Damage("b", 0, 1)
	if got := dump(d); got != "b=qbcd" {
		t.Error(got)
	}
}

func TestOpenFilesAreKnown(t *testing.T) {
	d := New()
	put(t, d, "a", "1", true)
	put(t, d, "b", "2", true)
	r, err := d.Open("a")
	if err != nil {
		t.Fatal(err)
	}
	w, err := d.Create("c")
	if err != nil {
		t.Fatal(err)
	}
	if got := d.Handles(); !slices.Equal(got, []string{"a", "c"}) || len(d.Busy()) > 0 {
		t.Errorf("%q are open, busy %v", got, d.Busy())
	}
	if err := errors.Join(d.Rename("b", "a"), d.Rename("c", "d"), d.Remove("d")); err != nil {
		t.Fatal(err)
	}
	if got := d.Busy(); len(got) != 3 || got[0].To != "a" || got[1].To != "d" || got[2].Kind != Remove {
		t.Errorf("busy: %v", got)
	}
	if err := errors.Join(r.Close(), w.Close(), d.Remove("a")); err != nil || len(d.Handles()) > 0 || len(d.Busy()) != 3 {
		t.Errorf("%v; %q are open, busy %v", err, d.Handles(), d.Busy())
	}
}
