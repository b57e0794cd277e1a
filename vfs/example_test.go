package vfs_test

import (
	"fmt"
	"io"
	"io/fs"

	"github.com/cairnml/cairn/vfs"
)

// Everything in this module that writes files takes a Dir: a test gives it one in
// memory, a program one of the operating system.
func ExampleWriteFile() {
	dir := vfs.MemDir() // or vfs.OSDir("run")
	err := vfs.WriteFile(dir, "notes/today", func(w io.Writer) error {
		_, err := io.WriteString(w, "loss 0.25")
		return err
	})
	if err == nil {
		err = dir.Sync() // makes the name durable, as WriteFile did the content
	}
	text, _ := fs.ReadFile(dir, "notes/today")
	fmt.Printf("%s %v\n", text, err)
	// Output: loss 0.25 <nil>
}
