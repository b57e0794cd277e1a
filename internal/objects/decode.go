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

// LimitError reports that an object graph would exceed the memory limit.
type LimitError struct {
	Bytes int   // the encoded graph's length
	Need  int64 // memory it would use
	Most  int64 // memory limit
}

// Error returns the memory that the graph would use, and the limit.
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

// partSize is the minimum length in bytes of parts of an encoded graph that are decoded in parallel. The
// result doesn't depend on it.
const partSize = 64 << 10

// split cuts an encoded graph between fields into at most so many parts of about
// the same length. Each is an encoded graph: decoding the concatenation of
// encodings merges them.
func split(raw []byte, most int) (parts [][]byte) {
	most = min(most, len(raw)/partSize)
	for n := most; n > 1; n-- {
		end := 0
		for end < len(raw)/n {
			_, _, size := protowire.ConsumeField(raw[end:])
			if size < 0 {
				return nil // its decoder reports it
			}
			end += size
		}
		parts = append(parts, raw[:end])
		raw = raw[end:]
	}
	return append(parts, raw)
}

// decodeParts decodes the parts of a graph in parallel. It returns nil if there
// is only one, or if one can't be decoded.
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

// Memory of a message together with its entry in a list.
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

// memory is the memory of each field of a node.
var memory = [maxNodeField + 1]int64{1: childMemory, 2: valueMemory, 3: slotMemory, 4: saverMemory, 5: hasMemory}

// NodeMemory is the memory of the message of a node without fields.
const NodeMemory = nodeMemory

// FieldMemory returns the memory of a field of a node.
func FieldMemory(number int) int64 {
	if number > maxNodeField {
		return 0
	}
	return memory[number]
}

// Memory returns the memory of the decoded messages of an encoded object graph.
// An empty node, which is two bytes, takes sixty times that. It allocates
// nothing; parts that can't be decoded aren't counted.
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

// eachMessage calls f for each field of b that has a length, up to one that
// can't be decoded.
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
