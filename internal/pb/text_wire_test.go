package pb

import (
	"encoding/hex"
	"math"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
)

// textType is a type that tests make.
type textType map[string]TextField

func (t textType) TextField(name string) (TextField, bool) {
	f, ok := t[name]
	return f, ok
}

func varintField(n protowire.Number) func([]byte, uint64) []byte {
	return func(b []byte, v uint64) []byte {
		return protowire.AppendVarint(protowire.AppendTag(b, n, protowire.VarintType), v)
	}
}

func textMessage() textType {
	t := textType{
		"n":    {Number: 1, Kind: "int32", Append: varintField(1)},
		"many": {Number: 2, Kind: "int64", Repeated: true, Packed: true, Append: protowire.AppendVarint},
		"each": {Number: 3, Kind: "uint32", Repeated: true, Append: varintField(3)},
		"s":    {Number: 4, Kind: "string"},
		"raw":  {Number: 5, Kind: "bytes"},
		"flag": {Number: 6, Kind: "bool", Append: varintField(6)},
		"f": {Number: 7, Kind: "float", Append: func(b []byte, v uint64) []byte {
			return protowire.AppendFixed32(protowire.AppendTag(b, 7, protowire.Fixed32Type), math.Float32bits(float32(math.Float64frombits(v))))
		}},
		"e": {Number: 8, Kind: "enum", Append: varintField(8), Enum: func(name string) (int32, bool) {
			n, ok := map[string]int32{"ONE": 1, "NEG": -1}[name]
			return n, ok
		}},
	}
	t["m"] = TextField{Number: 9, Kind: "message", Message: t}
	t["g"] = TextField{Number: 10, Kind: "group", Message: t}
	t["ms"] = TextField{Number: 11, Kind: "message", Message: t, Repeated: true}
	return t
}

func TestTextOfTypesKnownAtRunTime(t *testing.T) {
	for text, want := range map[string]string{
		"":                                "",
		"n: 5":                            "0805",
		"n: -1":                           "08ffffffffffffffffff01",
		"n:5;flag:true,":                  "08053001",
		"flag: false n: 1":                "08013000", // in the order of the numbers
		"many: 1 many: 300":               "120301ac02",
		"many: [1, 300]":                  "120301ac02",
		"many: []":                        "",
		"many: [7] many: 8":               "12020708",
		"each: [1, 2] each: 3":            "180118021803",
		`s: "a" 'b'`:                      "22026162",
		`raw: "\xff\000"`:                 "2a02ff00",
		"f: 1.5":                          "3d0000c03f",
		"f: -inf":                         "3d000080ff",
		"e: ONE":                          "4001",
		"e: NEG":                          "40ffffffffffffffffff01",
		"e: 7":                            "4007",
		"e: -2":                           "40feffffffffffffffff01",
		"m { n: 1 }":                      "4a020801",
		"m: < n: 1 >":                     "4a020801",
		"m {}":                            "4a00",
		"g { n: 2 }":                      "53080254",
		"ms { n: 1 } ms { }":              "5a0208015a00",
		"ms: [{ n: 1 }, <>]":              "5a0208015a00",
		"m { m { n: 1 } n: 3 } # the end": "4a0608034a020801",
		"m { m { } } m2: 1":               "there is no field m2",
		"n 5":                             "a colon is missing after n",
		"n":                               "a colon is missing after n",
		"n: 5 n: 6":                       "n is set twice",
		"m {} m {}":                       "m is set twice",
		"x: 1":                            "there is no field x",
		`"n": 1`:                          "there is no field",
		"each: [1 2]":                     "a comma or ] is missing",
		"each: [1, 2":                     "missing",
		"each: -1":                        "each",
		"n: [1]":                          "n",
		"n: 2147483648":                   "n",
		"s: 5":                            "s",
		"s: \"\xff\"":                     "s is no valid UTF-8",
		"e: TWO":                          `"TWO" is no value of e`,
		"e: 2147483648":                   `"2147483648" is no value of e`,
		"m: 1":                            "{ is missing after m",
		"m { n: 1":                        "",
		"m { n: 1 >":                      "there is no field >",
		"m < n: 1 }":                      "there is no field }",
		strings.Repeat("m {", maxDepth) + strings.Repeat("}", maxDepth): "nested more than",
	} {
		got, err := AppendText([]byte{0xaa}, []byte(text), textMessage())
		if _, bad := hex.DecodeString(want); bad != nil || text == "m { n: 1" {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%.60s: %x, error %v, want %q", text, got, err, want)
			}
		} else if err != nil || hex.EncodeToString(got) != "aa"+want {
			t.Errorf("%.60s: %x, error %v, want aa%s", text, got, err, want)
		}
	}
	// The maximum depth, next to others as deep.
	deep := strings.Repeat("m {", maxDepth-1) + strings.Repeat("}", maxDepth-1)
	if _, err := AppendText(nil, []byte("ms {} ms {} "+deep), textMessage()); err != nil {
		t.Error(err)
	}
}

func TestUnquote(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "a": "a", `\n\x41\101`: "\nAA", `\\`: `\`, `a\\\\`: `a\\`, `'`: "'",
	} {
		if got, err := Unquote(text); err != nil || string(got) != want {
			t.Errorf("%s: %q, %v", text, got, err)
		}
	}
	for _, text := range []string{`\`, `a\`, `\\\`, `a\\\`, `\q`} {
		if got, err := Unquote(text); err == nil {
			t.Errorf("%s: %q", text, got)
		}
	}
}
