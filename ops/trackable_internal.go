package ops

import (
	"github.com/cairnml/cairn/internal/restoring"
	"github.com/cairnml/cairn/trackable"
)

// internals are the functions of package trackable for this module alone.
var internals = trackable.Internal(restoring.Key{})
