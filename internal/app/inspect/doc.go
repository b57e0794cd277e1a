// Package inspect answers what is in a file of tensors, whether it holds and how
// it differs from another one. It works on any [store.Store].
package inspect
