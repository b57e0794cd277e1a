package describe

import (
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/internal/notpublic"
)

// graphInternals are the functions of package graph that have messages of files.
var graphInternals = graph.Internal(notpublic.Key{})
