package describe

import (
	"encoding/json"
	"testing"

	"github.com/cairnml/cairn/graph"
)

// TestJSONOfShapesAndScalars checks that sizes are numbers, that unknown sizes
// are null and that numbers are numbers.
func TestJSONOfShapesAndScalars(t *testing.T) {
	for want, v := range map[string]any{
		"null": Shape{}, "[]": Shape{graph.ShapeOf()}, "[null,4]": Shape{graph.ShapeOf(-1, 4)},
		"1e-05": Scalar("1e-05"), "9223372036854775807": Scalar("9223372036854775807"), "-3": Scalar("-3"), "0.5": Scalar("0.5"),
		"true": Scalar("True"), "false": Scalar("False"), `"nan"`: Scalar("nan"), `"-inf"`: Scalar("-inf"), `"(1+2j)"`: Scalar("(1+2j)"),
	} {
		if got, err := json.Marshal(v); err != nil || string(got) != want {
			t.Errorf("%#v is %s, want %s (%v)", v, got, want, err)
		}
	}
	if got := (Shape{}).String() + (Shape{graph.ShapeOf(-1, 4)}).String(); got != "?[?,4]" {
		t.Errorf("shapes are printed %s", got)
	}
}
