package protodesc

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/cairnml/cairn/internal/testkit/processor"
)

// sub returns a field that contains others.
func sub(num protowire.Number, fields ...[]byte) []byte {
	var b []byte
	for _, f := range fields {
		b = append(b, f...)
	}
	return protowire.AppendBytes(protowire.AppendTag(nil, num, protowire.BytesType), b)
}

func text(num protowire.Number, s string) []byte { return sub(num, []byte(s)) }

// field returns a field of a message's description, of the type called typeName.
func field(n int, typeName string) []byte {
	number := protowire.AppendVarint(protowire.AppendTag(nil, 3, protowire.VarintType), uint64(n))
	return sub(2, text(1, fmt.Sprint("f", n)), number, text(6, typeName))
}

// TestRelativeNamesAreFoundInTheScopesAround, closest first.
func TestRelativeNamesAreFoundInTheScopesAround(t *testing.T) {
	inner := sub(3, text(1, "Inner"), field(1, "X"), field(2, "Y"), field(3, ".p.X"), field(4, "p.q.Outer"))
	_, err := Parse(sub(1, text(2, "p.q"), sub(4, text(1, "Outer"), inner, sub(3, text(1, "X"))), sub(4, text(1, "Y")), sub(4, text(1, "X"))))
	if err == nil {
		t.Fatal("p.X is not declared")
	}
	inner = sub(3, text(1, "Inner"), field(1, "X"), field(2, "Y"), field(3, ".p.q.X"), field(4, "q.Outer"))
	set, err := Parse(sub(1, text(2, "p.q"), sub(4, text(1, "Outer"), inner, sub(3, text(1, "X"))), sub(4, text(1, "Y")), sub(4, text(1, "X"))))
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"p.q.Outer.X", "p.q.Y", "p.q.X", "p.q.Outer"} {
		if got := set.Message("p.q.Outer.Inner").Fields[i].Message.Name; got != want {
			t.Errorf("field %d is %s, want %s", i+1, got, want)
		}
	}
}

// TestLongNamesOfDescriptorsCostLittle: a scope of very many parts is searched once for each field, and a long name is
// repeated by each message that is declared below.
func TestLongNamesOfDescriptorsCostLittle(t *testing.T) {
	end := processor.Begin(t, "parsing long names", 3*time.Second)
	dots := strings.Repeat("a.", 200_000)
	var fields [][]byte
	for i := range 20 {
		fields = append(fields, field(i+1, "x"))
	}
	fields = append(fields, text(1, dots+"m"))
	if _, err := Parse(sub(1, sub(4, fields...), sub(4, text(1, "x")))); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("a relative name in a long one: %v", err)
	}
	nested := [][]byte{text(1, strings.Repeat("m", 100_000))}
	for i := range 1000 {
		nested = append(nested, sub(3, text(1, fmt.Sprint(i))))
	}
	if _, err := Parse(sub(1, sub(4, nested...))); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("long names in each other: %v", err)
	}
	end()
}
