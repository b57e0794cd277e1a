// Package restoring has the types that trackable and checkpoint share to deliver a checkpoint's
// values to objects while these appear, and the key to trackable's functions for that.
package restoring

// Key is the argument of trackable.Internal. Other modules can't make one, since this package is
// internal.
type Key struct{}
