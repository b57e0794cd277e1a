//go:build !linux || arm

package bundle

import "os"

// osFile is a file of the operating system being written.
type osFile struct{ *os.File }
