package pb

import (
	"bytes"
	"runtime"
	"slices"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/cairnml/cairn/internal/testkit/detector"
)

// TestMemoryCountsWhatDecodingTakes compares with the runtime's counts.
func TestMemoryCountsWhatDecodingTakes(t *testing.T) {
	if detector.Racing {
		t.Skip("what a list grows by is allocated twice for the race detector")
	}
	nodes := &GraphDef{}
	for range 2000 {
		nodes.Node = append(nodes.Node, &NodeDef{Name: "n", Attr: []*AttrValueEntry{{Key: "T", Value: &AttrValue{Which: AttrValueType, Type: 1}}}})
	}
	numbers := &TensorProto{Int64Val: make([]int64, 50_000), DoubleVal: make([]float64, 100)}
	unknown := protowire.AppendVarint(protowire.AppendTag(nil, 5000, protowire.VarintType), 300)
	unknown = protowire.AppendBytes(protowire.AppendTag(unknown, 5001, protowire.BytesType), []byte("abc"))
	for name, c := range map[string]struct {
		m Message
		b []byte
	}{
		"empty nodes":           {new(GraphDef), bytes.Repeat([]byte{1<<3 | 2, 0}, 20_000)},
		"nodes":                 {new(GraphDef), nodes.Marshal()},
		"numbers":               {new(TensorProto), numbers.Marshal()},
		"nodes, unknown fields": {new(GraphDef), slices.Concat(nodes.Marshal(), unknown, nodes.Marshal())},
	} {
		m, b := c.m, c.b
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if err := m.Unmarshal(b); err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		took := int64(after.TotalAlloc - before.TotalAlloc)
		if got := Memory(m, b); got < took*2/3 || got > took*3/2 {
			t.Errorf("%s: %d bytes are said to be taken, %d were", name, got, took)
		}
		for i := range min(len(b), 200) { // a truncated message never causes a panic
			Memory(m, b[:i])
		}
	}
}
