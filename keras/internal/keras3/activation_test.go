package keras3

import (
	"strings"
	"testing"
)

func TestHardSigmoidsKeepTheirFunctions(t *testing.T) {
	layer := func(activation string) []byte {
		return []byte(`{"module": "keras.layers", "class_name": "LSTM", "config": {"name": "l", "trainable": true, "dtype": "float32", "units": 2,
			"recurrent_activation": ` + activation + `}, "registered_name": null}`)
	}
	up, err := ToKeras3(layer(`"hard_sigmoid"`))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(up.JSON), `"scale":0.2`) {
		t.Errorf("to Keras 3: got %s, want a line with the slope 0.2", up.JSON)
	}
	down, err := ToKeras2(up.JSON)
	if err != nil {
		t.Fatal(err)
	}
	if want := `"recurrent_activation":"hard_sigmoid"`; !strings.Contains(string(down.JSON), want) {
		t.Errorf("and back: got %s, want %s", down.JSON, want)
	}
	if down, err = ToKeras2(layer(`"hard_sigmoid"`)); err != nil {
		t.Fatal(err)
	}
	if want := `"recurrent_activation":"hard_sigmoid_6"`; !strings.Contains(string(down.JSON), want) {
		t.Errorf("to Keras 2: got %s, want %s", down.JSON, want)
	}
	if up, err = ToKeras3(down.JSON); err != nil || !strings.Contains(string(up.JSON), `"recurrent_activation":"hard_sigmoid"`) {
		t.Errorf("and back: got %s (%v), want hard_sigmoid", up.JSON, err)
	}
	if _, err := ToKeras2(layer(`"glu"`)); err == nil || !strings.Contains(err.Error(), "unknown to Keras 2") {
		t.Errorf("glu: got %v, want an error", err)
	}
}
