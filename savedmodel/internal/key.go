// Package internal holds the key to what package savedmodel shows to packages below it
// and to no others.
package internal

// NotForPublicUse is the type of the key.
type NotForPublicUse struct{}

// AllowInternalUse is the key: the first argument of the methods of savedmodel.Internal.
var AllowInternalUse *NotForPublicUse = new(NotForPublicUse)
