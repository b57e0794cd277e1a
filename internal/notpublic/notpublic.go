// Package notpublic has the key to the functions of public packages that only this module uses. Many packages use it.
//
// A public package returns these from a function Internal(notpublic.Key). Other modules can't make a
// key, since this package is internal, so the functions make no promise.
package notpublic

// Key is the argument of trackable.Internal, graph.Internal and savedmodel.Internal.
type Key struct{}
