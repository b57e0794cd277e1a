//go:build !linux || arm

package vfs

import "os"

// osFile is a file of the operating system being written.
type osFile struct{ *os.File }
