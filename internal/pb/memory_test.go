package pb

import (
	"bytes"
	"runtime"
	"testing"
)

// TestMemoryCountsWhatDecodingTakes compares with what the runtime says.
func TestMemoryCountsWhatDecodingTakes(t *testing.T) {
	nodes := &GraphDef{}
	for range 2000 {
		nodes.Node = append(nodes.Node, &NodeDef{Name: "n", Attr: []*AttrValueEntry{{Key: "T", Value: &AttrValue{Which: AttrValueType, Type: 1}}}})
	}
	for name, b := range map[string][]byte{
		"empty nodes": bytes.Repeat([]byte{1<<3 | 2, 0}, 20_000),
		"nodes":       nodes.Marshal(),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		m := new(GraphDef)
		if err := m.Unmarshal(b); err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		took := int64(after.TotalAlloc - before.TotalAlloc)
		if got := Memory(m, b); got < took*2/3 || got > took*3/2 {
			t.Errorf("%s: %d bytes are said to be taken, %d were", name, got, took)
		}
		for i := range min(len(b), 200) { // what is cut short ends no walk in a panic
			Memory(m, b[:i])
		}
	}
}
