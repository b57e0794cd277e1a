// Package internal contains the key to the functions of package savedmodel that
// only packages below it may call.
package internal

// NotForPublicUse is the type of the key.
type NotForPublicUse struct{}

// AllowInternalUse is the key: the first argument of the methods of savedmodel.Internal.
var AllowInternalUse *NotForPublicUse = new(NotForPublicUse)
