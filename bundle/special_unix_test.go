//go:build unix

package bundle

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/vfs"
)

// TestSpecialFilesAreRefusedAtOnce puts files that could block forever, or never
// end, in the places of a bundle's files.
func TestSpecialFilesAreRefusedAtOnce(t *testing.T) {
	ctx := context.Background()
	kinds := map[string]func(path string) error{
		"a named pipe": func(path string) error { return syscall.Mkfifo(path, 0o666) },
		"a device":     func(path string) error { return os.Symlink(os.DevNull, path) },
		"a socket": func(path string) error {
			l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
			if err != nil {
				return err
			}
			t.Cleanup(func() { l.Close() })
			return nil
		},
	}
	for kind, put := range kinds {
		for _, file := range []string{"c.index", "c.data-00000-of-00001"} {
			t.Run(kind+" as "+file, func(t *testing.T) {
				folder, err := os.MkdirTemp("", "special") // a socket's name must be short
				if err != nil {
					t.Fatal(err)
				}
				defer os.RemoveAll(folder)
				dir := vfs.OSDir(folder)
				write(t, dir, "c", nil, func(w *Writer) { w.Add(ctx, "a", tensor.Scalar(1.0)) })
				path := filepath.Join(folder, file)
				if err := os.Remove(path); err != nil {
					t.Fatal(err)
				}
				if err := put(path); err != nil {
					t.Skip(err)
				}
				done := beside(func() error { _, err := consume(dir, "c"); return err })
				select {
				case err := <-done:
					if !errors.Is(err, fs.ErrInvalid) || !strings.Contains(err.Error(), kind) || !strings.Contains(err.Error(), file) {
						t.Errorf("reading: %v", err)
					}
				case <-time.After(5 * time.Second):
					t.Fatal("reading hangs")
				}
				if kind == "a device" {
					return // a link's name is free to be taken
				}
				done = beside(func() error { _, err := dir.Create(file); return err })
				select {
				case err := <-done:
					if !errors.Is(err, fs.ErrInvalid) || !strings.Contains(err.Error(), kind) {
						t.Errorf("creating: %v", err)
					}
				case <-time.After(5 * time.Second):
					t.Fatal("creating hangs")
				}
			})
		}
	}
}

// beside runs f in parallel with the test.
func beside(f func() error) <-chan error {
	c := make(chan error, 1)
	go func() { c <- f() }()
	return c
}

// TestSpecialFilesAreCalledWhatTheyAre checks that the error names the type of
// a special file at a checkpoint's path, because its size is meaningless.
func TestSpecialFilesAreCalledWhatTheyAre(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "w.npz")
	if err := syscall.Mkfifo(pipe, 0o666); err != nil {
		t.Skip(err)
	}
	for path, want := range map[string]string{pipe: "found a named pipe", os.DevNull: "found a device"} {
		if _, err := FindFile(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", path, err, want)
		}
	}
}
