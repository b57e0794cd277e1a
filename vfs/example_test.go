package vfs_test

import (
	"fmt"
	"io"
	"io/fs"

	"github.com/cairnml/cairn/vfs"
)

// All functions of this module that write files take a Dir: a test passes one in
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
