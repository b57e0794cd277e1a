package run

import (
	"github.com/cairnml/cairn/internal/notpublic"
	"github.com/cairnml/cairn/trackable"
)

// internals are the functions of package trackable for this module alone.
var internals = trackable.Internal(notpublic.Key{})
