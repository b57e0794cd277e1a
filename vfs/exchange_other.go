//go:build !linux

package vfs

import "os"

// exchange exchanges the names of two directories. A system with a call for it could use that, as exchange_linux.go
// does.
func exchange(root *os.Root, a, b string) error { return exchangeInSteps(root, a, b) }
