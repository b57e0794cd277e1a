package describe

import (
	"github.com/cairnml/cairn/internal/notpublic"
	"github.com/cairnml/cairn/savedmodel"
)

// modelInternals are the functions of package savedmodel for this module alone.
var modelInternals = savedmodel.Internal(notpublic.Key{})
