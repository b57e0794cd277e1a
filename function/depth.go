package function

import (
	"sync/atomic"

	"github.com/cairnml/cairn/internal/callers"
)

// running counts the calls that run in all goroutines: if they are few, none can
// have called itself without end.
var running atomic.Int64

// manyCalls is the limit of nested calls.
const manyCalls = 500

// tooManyCalls reports whether this goroutine is in more calls than that. The text is
// part of Call's name in stacks.
func tooManyCalls() bool { return callers.Count("/function.(*Func[...]).Call") > manyCalls }
