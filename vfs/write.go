package vfs

import "io"

// WriteFile makes a file, or replaces one, with what write writes, and makes its
// content durable; dir's Sync does so for its name. Where it fails, what was written
// so far may be left under the name.
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
