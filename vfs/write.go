package vfs

import "io"

// WriteFile creates or replaces a file with the output of write, and makes its
// content durable; dir's Sync does so for its name. If it fails, the file may have a
// part of the output.
func WriteFile(dir Dir, name string, write func(io.Writer) error) (err error) {
	f, err := dir.Create(name)
	if err != nil {
		return err
	}
	defer func() {
		if cerr := f.Close(); err == nil {
			err = cerr
		}
	}()
	if err := write(f); err != nil {
		return err
	}
	return f.Sync()
}
