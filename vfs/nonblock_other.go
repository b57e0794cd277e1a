//go:build !unix

package vfs

// nonblock is no flag here: these systems have no named pipes among files. The other half is nonblock_unix.go.
const nonblock = 0
