// Package restoring has the types that trackable and checkpoint share to deliver a checkpoint's
// values to objects while these appear.
package restoring
