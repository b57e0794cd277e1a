package chunked

import (
	"fmt"
	"testing"
	"time"

	"github.com/cairnml/cairn/internal/pb"
	"github.com/cairnml/cairn/internal/testkit/processor"
)

// entry returns an encoded NodeDef with one attribute.
func entry(key string) []byte {
	return (&pb.NodeDef{Attr: []*pb.AttrValueEntry{{Key: key, Value: &pb.AttrValue{Which: pb.AttrValueS, S: []byte("old")}}}}).Marshal()
}

// TestEntriesThatAreMergedAreFound: between two paths to a map's entries more of them may be merged.
func TestEntriesThatAreMergedAreFound(t *testing.T) {
	const n = 10_000
	m := &message{}
	end := processor.Begin(t, "merging 10,000 entries", 3*time.Second)
	for i := range n {
		key := fmt.Sprint("k", i)
		m.merge(entry(key))
		for _, key := range []string{key, fmt.Sprint("new", i)} {
			v, err := m.find([]*pb.FieldIndex{{Which: pb.FieldIndexField, Field: 5}, {Which: pb.FieldIndexMapKey, MapKey: &pb.MapKey{Which: pb.MapKeyS, S: key}}})
			if err != nil {
				t.Fatal(err)
			}
			v.merge((&pb.AttrValue{Which: pb.AttrValueS, S: []byte(key)}).Marshal())
		}
	}
	end()
	var got pb.NodeDef
	if err := got.Unmarshal(m.append(nil)); err != nil {
		t.Fatal(err)
	}
	if len(got.Attr) != 2*n {
		t.Fatalf("%d entries", len(got.Attr))
	}
	for _, a := range got.Attr {
		if a.Key != string(a.Value.S) {
			t.Fatalf("%s is %s", a.Key, a.Value.S)
		}
	}
}

// TestEntriesThatBecomeOneMessage: a path may treat a map as one message after another path has used it as a map.
func TestEntriesThatBecomeOneMessage(t *testing.T) {
	m := &message{parts: [][]byte{entry("a"), entry("b")}}
	path := func(key string) []*pb.FieldIndex {
		p := []*pb.FieldIndex{{Which: pb.FieldIndexField, Field: 5}}
		if key != "" {
			p = append(p, &pb.FieldIndex{Which: pb.FieldIndexMapKey, MapKey: &pb.MapKey{Which: pb.MapKeyS, S: key}})
		}
		return p
	}
	for _, key := range []string{"b", "", "b", "a", "c"} {
		if _, err := m.find(path(key)); err != nil {
			t.Errorf("%q: %v", key, err)
		}
	}
}
