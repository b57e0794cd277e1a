//go:build !linux

package vfs

// exchange exchanges the names of two folders.
func exchange(a, b string) error { return exchangeInSteps(a, b) }
