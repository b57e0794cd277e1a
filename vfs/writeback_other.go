//go:build !linux || arm

package vfs

import "os"

// osFile is a file of the operating system being written. It takes no hints ([Hinter]): the calls in
// writeback_linux.go are Linux's, and package syscall lacks SyncFileRange for arm.
type osFile struct{ *os.File }
