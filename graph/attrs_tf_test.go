package graph

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/cairnml/cairn/internal/pb"
	"github.com/cairnml/cairn/internal/testkit/packed"
	"github.com/cairnml/cairn/tensor"
)

// TestNodesWithOtherAttributesAreJudgedAsTensorFlowJudges reads and binds nodes of many ops that have an attribute of
// another kind or value, or none. They are accepted if TensorFlow's importer accepts them, and refused if it refuses them.
func TestNodesWithOtherAttributesAreJudgedAsTensorFlowJudges(t *testing.T) {
	refused, taken := 0, 0
	for rows := json.NewDecoder(bytes.NewReader(packed.Read(t, "testdata/tf2.21/attrs.jsonl.gz"))); ; {
		var op, what, encoded string
		var types []tensor.DType
		var theirs bool
		err := rows.Decode(&[]any{&op, &what, &encoded, &types, &theirs})
		if errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		b, err := base64.StdEncoding.DecodeString(encoded)
		if err != nil {
			t.Fatal(err)
		}
		if theirs {
			refused++
		} else {
			taken++
		}
		if err := readNode(b, types); (err != nil) != theirs {
			t.Errorf("%s, %s: %v; TensorFlow refuses it: %v", op, what, err, theirs)
		}
	}
	if refused < 5000 || taken < 1000 {
		t.Errorf("only %d refused and %d taken", refused, taken)
	}
}

// readNode reads an encoded node whose inputs are of these types, and completes its attributes.
func readNode(encoded []byte, types []tensor.DType) error {
	n := new(pb.NodeDef)
	if err := n.Unmarshal(encoded); err != nil {
		return err
	}
	def := new(pb.GraphDef)
	in := make([]Fact, len(types))
	for i, d := range types {
		in[i].DType = d
		def.Node = append(def.Node, &pb.NodeDef{Name: fmt.Sprintf("p%d", i), Op: "Placeholder",
			Attr: []*pb.AttrValueEntry{{Key: "dtype", Value: &pb.AttrValue{Which: pb.AttrValueType, Type: pb.DataType(d)}}}})
	}
	def.Node = append(def.Node, n)
	g, err := fromProto(def, nil)
	if err != nil {
		return err
	}
	read := g.Lookup(n.Name)
	_, _, err = LookupOp(read.Op).Bind(read.Attrs, in)
	return err
}
