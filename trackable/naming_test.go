package trackable

import (
	"testing"

	"github.com/cairnml/cairn/tensor"
	"pgregory.net/rapid"
)

// TestSnakeCase freezes the names of fields, because files contain them
// forever.
func TestSnakeCase(t *testing.T) {
	for field, want := range map[string]string{
		"L1": "l1", "HTTPServer": "http_server", "Kernel": "kernel", "X": "x", "XY": "xy",
		"SaveCounter": "save_counter", "LearningRate": "learning_rate", "Beta1": "beta1", "Beta_1": "beta_1",
		"Conv2D": "conv2d", "Conv2DTranspose": "conv2d_transpose", "L2Norm": "l2_norm", "MyL2Norm": "my_l2_norm",
		"ID": "id", "UserID": "user_id", "UserIDs": "user_i_ds", "IDs": "i_ds", "JSONAPI": "jsonapi", "ParseJSON": "parse_json",
		"A1B2": "a1b2", "AB1C": "ab1c", "Layer0": "layer0", "Layer10Norm": "layer10_norm", "Already_Snake": "already_snake",
		"LSTMCell": "lstm_cell", "GRU": "gru", "W": "w", "Wq": "wq", "WQ": "wq", "Éclair": "éclair", "ÄÖü": "ä_öü", "__X": "__x",
		"x": "x", "aB": "a_b", "ABc": "a_bc", "Trailing_": "trailing_", "": "",
	} {
		if got := SnakeCase(field); got != want {
			t.Errorf("SnakeCase(%q) = %q, want %q", field, got, want)
		}
	}
}

// TestScopeName holds automatic scopes to Keras's own names.
func TestScopeName(t *testing.T) {
	for typ, want := range map[string]string{
		"Dense": "dense", "Conv2D": "conv2d", "Conv2DTranspose": "conv2d_transpose", "LSTM": "lstm", "GRUCell": "gru_cell",
		"MyL2Norm": "my_l2_norm", "ResNet50Block": "res_net50_block", "Net_": "net_", "_Net": "private__net", "HTTPServer2D": "http_server2d",
		"Net_Block": "net__block", "Net": "net", "HTTPServer": "http_server", "BatchNormalization": "batch_normalization",
		"MaxPooling2D": "max_pooling2d", "A": "a", "Stack[float32]": "stack",
	} {
		if got := scopeName(typ); got != want {
			t.Errorf("scopeName(%q) = %q, want %q", typ, got, want)
		}
	}
}

func TestEscape(t *testing.T) {
	for raw, want := range map[string]string{
		"a": "a", "d/.S": "d.S..S", "d/.ATTRIBUTES/f": "d.S..ATTRIBUTES.Sf", ".ATTRIBUTES": "..ATTRIBUTES", "/": ".S", ".": "..", "": "", "a.b": "a..b",
	} {
		if got := Escape(raw); got != want {
			t.Errorf("Escape(%q) = %q, want %q", raw, got, want)
		}
	}
	for _, bad := range []string{".", ".x", "a/b", "a.", "...", "a.s"} {
		if raw, ok := Unescape(bad); ok {
			t.Errorf("Unescape(%q) = %q, want a refusal", bad, raw)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		raw := rapid.StringOf(rapid.SampledFrom([]rune("./Sa.é"))).Draw(t, "raw")
		if got, ok := Unescape(Escape(raw)); !ok || got != raw {
			t.Fatalf("%q became %q, %v", raw, got, ok)
		}
	})
}

func TestKeys(t *testing.T) {
	if got := AttributeKey("leaf/v", VariableValue); got != "leaf/v/.ATTRIBUTES/VARIABLE_VALUE" {
		t.Error(got)
	}
	if got := AttributeKey("", "a/b"); got != "/.ATTRIBUTES/a..Sb" {
		t.Error(got)
	}
	if got := slotPath("net/kernel", "opt", "m/x"); got != "net/kernel/.OPTIMIZER_SLOT/opt/m.Sx" {
		t.Error(got)
	}
}

// TestUpdateAllWithoutAValue updates a variable together with one that has no value: neither
// counts as written.
func TestUpdateAllWithoutAValue(t *testing.T) {
	a, b := NewVariable(tensor.Scalar[float32](1)), NewVariable(nil)
	a.written = false
	err := UpdateAll([]*Variable{a, b}, func([]*tensor.Tensor) error { return nil })
	if err == nil || a.written {
		t.Errorf("the error is %v, and the other variable counts as written: %v", err, a.written)
	}
}
