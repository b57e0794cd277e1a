package orderedjson_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/cairnml/cairn/keras/internal/orderedjson"
)

func TestKeysKeepTheirOrder(t *testing.T) {
	v, orders, err := orderedjson.Parse([]byte(`{"b": [{"z": 1, "a": 2}], "a": {}, "b": [{"z": 1, "a": 2}]}`))
	if err != nil {
		t.Fatal(err)
	}
	object := v.(map[string]any)
	if got, want := orders.Keys(object), []string{"b", "a"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	inner := object["b"].([]any)[0].(map[string]any)
	if got, want := orders.Keys(inner), []string{"z", "a"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	inner["new"] = true
	if got := orders.Keys(inner); got != nil {
		t.Errorf("got %v for a changed object, want none", got)
	}
}

func TestBrokenTextsAreErrors(t *testing.T) {
	for _, text := range []string{"", "{", "[1", `{"a"}`, "1 2", strings.Repeat("[", 20_000)} {
		if _, _, err := orderedjson.Parse([]byte(text)); err == nil {
			t.Errorf("%.20q: got no error", text)
		}
	}
}
