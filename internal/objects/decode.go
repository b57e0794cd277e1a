package objects

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"unsafe"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/cairnml/cairn/internal/pb"
)

// LimitError says that an object graph would take more memory than it may.
type LimitError struct {
	Bytes int   // the encoded graph's length
	Need  int64 // what it would take
	Most  int64 // what it may
}

// Error says how much memory the graph would take, and how much it may.
func (e *LimitError) Error() string {
	return fmt.Sprintf("the object graph's %d bytes would take about %d in memory, the most is %d", e.Bytes, e.Need, e.Most)
}

// Is reports whether target is errors.ErrUnsupported.
func (e *LimitError) Is(target error) bool { return target == errors.ErrUnsupported }

// Decode decodes an object graph whose messages take no more than most bytes of
// memory; of a graph that would take more nothing is decoded, and the error is a
// *[LimitError]. The message keeps references into raw.
func Decode(raw []byte, most int64) (*pb.TrackableObjectGraph, error) {
	if need := Memory(raw); need > most {
		return nil, &LimitError{len(raw), need, most}
	}
	if g := decodeParts(split(raw, runtime.GOMAXPROCS(0))); g != nil {
		return g, nil
	}
	g := new(pb.TrackableObjectGraph)
	if err := g.Unmarshal(raw); err != nil {
		return nil, err
	}
	return g, nil
}

// partSize is how long an encoded graph's parts are at least that are decoded
// beside each other.
const partSize = 64 << 10

// split cuts an encoded graph between fields into at most so many parts of about
// the same length. Each is an encoded graph: what is encoded one behind the other
// is merged when it is decoded.
func split(raw []byte, most int) (parts [][]byte) {
	most = min(most, len(raw)/partSize)
	for n := most; n > 1; n-- {
		end := 0
		for end < len(raw)/n {
			_, _, size := protowire.ConsumeField(raw[end:])
			if size < 0 {
				return nil // who decodes it says so
			}
			end += size
		}
		parts = append(parts, raw[:end])
		raw = raw[end:]
	}
	return append(parts, raw)
}

// decodeParts decodes the parts of a graph beside each other; nil where there is
// one only, or where one can't be decoded.
func decodeParts(parts [][]byte) *pb.TrackableObjectGraph {
	if len(parts) < 2 {
		return nil
	}
	graphs := make([]pb.TrackableObjectGraph, len(parts))
	var failed atomic.Bool
	var wg sync.WaitGroup
	for i, part := range parts {
		wg.Go(func() {
			if graphs[i].Unmarshal(part) != nil {
				failed.Store(true)
			}
		})
	}
	wg.Wait()
	if failed.Load() {
		return nil
	}
	n := 0
	for i := range graphs {
		n += len(graphs[i].Nodes)
	}
	g := &pb.TrackableObjectGraph{Nodes: make([]*pb.TrackableObject, 0, n)}
	for i := range graphs {
		g.Nodes = append(g.Nodes, graphs[i].Nodes...)
		g.Unknown = append(g.Unknown, graphs[i].Unknown...)
	}
	return g
}

// What a message takes in memory together with its place in a list.
const (
	pointer      = int64(unsafe.Sizeof(uintptr(0)))
	nodeMemory   = pointer + int64(unsafe.Sizeof(pb.TrackableObject{}))
	childMemory  = pointer + int64(unsafe.Sizeof(pb.ObjectReference{}))
	valueMemory  = pointer + int64(unsafe.Sizeof(pb.SerializedTensor{}))
	slotMemory   = pointer + int64(unsafe.Sizeof(pb.SlotVariableReference{}))
	saverMemory  = int64(unsafe.Sizeof(pb.RegisteredSaver{}))
	hasMemory    = int64(unsafe.Sizeof(pb.BoolValue{}))
	nodesField   = 1
	maxNodeField = 5
)

// memory is what each field of a node takes.
var memory = [maxNodeField + 1]int64{1: childMemory, 2: valueMemory, 3: slotMemory, 4: saverMemory, 5: hasMemory}

// NodeMemory is what the message of a node without fields takes in memory.
const NodeMemory = nodeMemory

// FieldMemory returns what a field of a node takes in memory.
func FieldMemory(number int) int64 {
	if number > maxNodeField {
		return 0
	}
	return memory[number]
}

// Memory returns what the messages of an encoded object graph take once they
// are decoded: an empty node, which is two bytes, takes sixty times that. It
// allocates nothing; what can't be decoded isn't counted.
func Memory(raw []byte) int64 {
	var total int64
	eachMessage(raw, func(num protowire.Number, node []byte) {
		if num != nodesField {
			return
		}
		total += nodeMemory
		eachMessage(node, func(num protowire.Number, _ []byte) {
			if num <= maxNodeField {
				total += memory[num]
			}
		})
	})
	return total
}

// eachMessage calls f for each field of b that has a length, up to what can't be
// decoded.
func eachMessage(b []byte, f func(num protowire.Number, v []byte)) {
	for len(b) > 0 {
		num, typ, n := protowire.ConsumeTag(b)
		if n < 0 {
			return
		}
		if b = b[n:]; typ == protowire.BytesType {
			v, n := protowire.ConsumeBytes(b)
			if n < 0 {
				return
			}
			f(num, v)
			b = b[n:]
			continue
		}
		if n = protowire.ConsumeFieldValue(num, typ, b); n < 0 {
			return
		}
		b = b[n:]
	}
}
