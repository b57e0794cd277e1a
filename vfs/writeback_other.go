//go:build !linux || arm

package vfs

import "os"

// osFile is a file of the operating system being written. It takes no hints, see [Hinter]: other systems have
// no such calls, and package syscall lacks SyncFileRange for linux/arm.
type osFile struct{ *os.File }
