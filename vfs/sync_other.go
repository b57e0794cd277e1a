//go:build !unix

package vfs

// syncFolder does nothing: directories can't be opened for syncing here, and
// names are made durable by the file system itself.
func syncFolder(string) error { return nil }
