//go:build unix

package vfs

import "syscall"

// nonblock makes opening a named pipe return at once; for a file it changes
// nothing.
const nonblock = syscall.O_NONBLOCK
