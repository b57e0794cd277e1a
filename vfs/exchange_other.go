//go:build !linux

package vfs

// exchange gives two folders each other's names.
func exchange(a, b string) error { return exchangeInSteps(a, b) }
