//go:build !linux

package bundle

import "os"

// osFile is a file of the operating system being written.
type osFile struct{ *os.File }
