package statefile

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// TestAppendAddsToWhatIsThere checks that the bytes before the text are
// ignored, and that an empty path is left out, as in proto3.
func TestAppendAddsToWhatIsThere(t *testing.T) {
	got, err := (&State{LastPreservedTimestamp: 2, AllModelCheckpointPaths: []string{" "}}).Append([]byte("1.5 "))
	if want := "1.5 all_model_checkpoint_paths: \" \"\nlast_preserved_timestamp: 2.0\n"; err != nil || string(got) != want {
		t.Errorf("%q, %v", got, err)
	}
	if got := string(AppendFloat([]byte("."), 3)); got != ".3.0" {
		t.Error(got)
	}
}

// The text that TensorFlow 2.21 writes for this message.
func TestTextEqualsPythonsEscapesAndNumbers(t *testing.T) {
	s := &State{
		ModelCheckpointPath:     "a\"b'c\\d\n\r\t\x01\x7f\x00é漢😀\u0085\u2028\ufffd\ufeff/ckpt-1",
		AllModelCheckpointPaths: []string{"x", `C:\models\ckpt-1`, `\\srv\share\c`},
		AllModelCheckpointTimestamps: []float64{0, 1, 1e22, 1e16, 1e15, 123456789012345678, 1e-5, 1e-4, math.NaN(), math.Inf(1),
			math.Inf(-1), math.Copysign(0, -1), 1732158522.1234567, 5e-324, math.MaxFloat64},
	}
	want := "model_checkpoint_path: \"a\\\"b\\'c\\\\d\\n\\r\\t\\001\\177\\000é漢😀\u0085\u2028\ufffd\ufeff/ckpt-1\"\n" +
		`all_model_checkpoint_paths: "x"
all_model_checkpoint_paths: "C:\\models\\ckpt-1"
all_model_checkpoint_paths: "\\\\srv\\share\\c"
all_model_checkpoint_timestamps: 0.0
all_model_checkpoint_timestamps: 1.0
all_model_checkpoint_timestamps: 1e+22
all_model_checkpoint_timestamps: 1e+16
all_model_checkpoint_timestamps: 1000000000000000.0
all_model_checkpoint_timestamps: 1.2345678901234568e+17
all_model_checkpoint_timestamps: 1e-05
all_model_checkpoint_timestamps: 0.0001
all_model_checkpoint_timestamps: nan
all_model_checkpoint_timestamps: inf
all_model_checkpoint_timestamps: -inf
all_model_checkpoint_timestamps: -0.0
all_model_checkpoint_timestamps: 1732158522.1234567
all_model_checkpoint_timestamps: 5e-324
all_model_checkpoint_timestamps: 1.7976931348623157e+308
`
	got, err := s.Append(nil)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, string(got)); d != "" {
		t.Error(d)
	}
	back, err := Parse(got)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(s, back, cmpopts.EquateNaNs()); d != "" {
		t.Error(d)
	}
}

func TestParseTakesAllOfTextProto(t *testing.T) {
	for text, want := range map[string]State{
		"":                                {},
		" \n# nothing\n":                  {},
		`model_checkpoint_path:"a" "b"`:   {ModelCheckpointPath: "ab"},
		`model_checkpoint_path: 'a"' # c`: {ModelCheckpointPath: `a"`},
		`model_checkpoint_path: "a" model_checkpoint_path: "b"`:                                 {ModelCheckpointPath: "b"},
		`all_model_checkpoint_paths: ["a","b" 'c']`:                                             {AllModelCheckpointPaths: []string{"a", "bc"}},
		`all_model_checkpoint_paths: []`:                                                        {},
		`model_checkpoint_path: "a"; last_preserved_timestamp: 1f,`:                             {ModelCheckpointPath: "a", LastPreservedTimestamp: 1},
		`all_model_checkpoint_timestamps: [1.5F, .5, -Infinity, 1e3]`:                           {AllModelCheckpointTimestamps: []float64{1.5, .5, math.Inf(-1), 1000}},
		`all_model_checkpoint_timestamps: 1e400`:                                                {AllModelCheckpointTimestamps: []float64{math.Inf(1)}},
		`model_checkpoint_path: "\u00e9\x41\101\?\U0001F600\a"`:                                 {ModelCheckpointPath: "éAA?😀\a"},
		`later: 1 model_checkpoint_path: "a"`:                                                   {ModelCheckpointPath: "a"},
		`later { a: 1 b <c: "x" "y" d: [1, -2.5]> e: -inf } model_checkpoint_path: "a"`:         {ModelCheckpointPath: "a"},
		`[a.b.c]: 1 [type.googleapis.com/x.Y] { z: 1 } 17: "n" model_checkpoint_path: "a"`:      {ModelCheckpointPath: "a"},
		`all_model_checkpoint_paths: "["`:                                                       {AllModelCheckpointPaths: []string{"["}},
		`AZ: 1 z09_: -x later: true, x: 2; model_checkpoint_path: "a"`:                          {ModelCheckpointPath: "a"},
		`[a.1-b]: 1 x: 1e-5 y: 1E+5 model_checkpoint_path: "\1011"`:                             {ModelCheckpointPath: "A1"},
		`all_model_checkpoint_timestamps: [-1, -inf, 1e-2]`:                                     {AllModelCheckpointTimestamps: []float64{-1, math.Inf(-1), .01}},
		`later [{a: 1}, {}] other: [] model_checkpoint_path: "a"`:                               {ModelCheckpointPath: "a"},
		`model_checkpoint_path: "C:\\models\\ckpt-1" all_model_checkpoint_paths: "sub\\ckpt-1"`: {ModelCheckpointPath: `C:\models\ckpt-1`, AllModelCheckpointPaths: []string{`sub\ckpt-1`}},
	} {
		got, err := Parse([]byte(text))
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if d := cmp.Diff(&want, got); d != "" {
			t.Errorf("%s: %s", text, d)
		}
	}
}

func TestParseRefusesWithThePlace(t *testing.T) {
	for text, want := range map[string]string{
		`model_checkpoint_path "a"`:                         `line 1, column 23: got the string "a" (want ":")`,
		`model_checkpoint_path: a`:                          `line 1, column 24: got "a" (want a string)`,
		"\n\nmodel_checkpoint_path: \"a\nb\"":               `line 3, column 24: the string has no closing quote on its line`,
		`model_checkpoint_path: "a`:                         `line 1, column 24: the string has no closing quote`,
		`model_checkpoint_path: "\`:                         `line 1, column 25: the string has no closing quote`,
		`model_checkpoint_path: "\q"`:                       `line 1, column 25: the escape \q is unknown`,
		`model_checkpoint_path: "\400"`:                     `line 1, column 25: the escape \400 is beyond a byte`,
		`model_checkpoint_path: "\x"`:                       `line 1, column 25: the escape \x needs a hexadecimal digit`,
		`model_checkpoint_path: "\ud800"`:                   `line 1, column 25: the escape \u needs 4 hexadecimal digits that make a character`,
		`model_checkpoint_path: "\xff"`:                     `line 1, column 24: the string is not valid UTF-8`,
		"model_checkpoint_path: \"\xff\"":                   `line 1, column 24: the string is not valid UTF-8`,
		`all_model_checkpoint_timestamps: 0x10`:             `line 1, column 34: "0x10" is no decimal number`,
		`all_model_checkpoint_timestamps: 010`:              `line 1, column 34: "010" is no decimal number`,
		`all_model_checkpoint_timestamps: 1_0`:              `line 1, column 34: "1_0" is no decimal number`,
		`all_model_checkpoint_timestamps: 1ff`:              `line 1, column 34: "1ff" is no decimal number`,
		`all_model_checkpoint_timestamps: 1.2.3`:            `line 1, column 34: "1.2.3" is no decimal number`,
		`all_model_checkpoint_timestamps: true`:             `line 1, column 34: got "true" (want a number)`,
		`all_model_checkpoint_timestamps: "1"`:              `line 1, column 34: got the string "1" (want a number)`,
		`all_model_checkpoint_paths: ["a" ; "b"]`:           `line 1, column 34: got ";" (want ",")`,
		`all_model_checkpoint_paths: ["a"`:                  `line 1, column 33: got the end of the file (want ",")`,
		`model_checkpoint_path { a: 1 }`:                    `line 1, column 23: got "{" (want ":")`,
		`"a": 1`:                                            `line 1, column 1: got the string "a" (want a field's name)`,
		`later`:                                             `line 1, column 6: got the end of the file (want ":")`,
		`later { a: 1`:                                      `line 1, column 7: the message that begins here has no "}"`,
		`later: }`:                                          `line 1, column 8: got "}" (want a value)`,
		`later: -"x"`:                                       `line 1, column 9: got the string "x" (want a number)`,
		"\x00":                                              `line 1, column 1: got the character '\x00' (want a field's name)`,
		"\xfe":                                              `line 1, column 1: the byte 0xfe is no text`,
		`model_checkpoint_path: "\x4`:                       `line 1, column 24: the string has no closing quote`,
		`model_checkpoint_path: "\377"`:                     `line 1, column 24: the string is not valid UTF-8`,
		`model_checkpoint_path: "\u12"`:                     `line 1, column 25: the escape \u needs 4 hexadecimal digits that make a character`,
		`model_checkpoint_path: "\U00110000"`:               `line 1, column 25: the escape \U needs 8 hexadecimal digits that make a character`,
		`model_checkpoint_path: "\Uffffffff"`:               `line 1, column 25: the escape \U needs 8 hexadecimal digits that make a character`,
		`later: .`:                                          `line 1, column 8: got "." (want a value)`,
		`later: .x`:                                         `line 1, column 8: got "." (want a value)`,
		`later: 1,; x: 1`:                                   `line 1, column 10: got ";" (want a field's name)`,
		"\ufffd":                                            `line 1, column 1: got the character '�' (want a field's name)`,
		`"model_checkpoint_path": "a"`:                      `line 1, column 1: got the string "model_checkpoint_path" (want a field's name)`,
		`x "` + strings.Repeat("y", 40) + `"`:               `line 1, column 3: got the string "` + strings.Repeat("y", 40) + `" (want ":")`,
		`x "` + strings.Repeat("y", 39) + `漢"`:              `line 1, column 3: got the string "` + strings.Repeat("y", 39) + `…" (want ":")`,
		strings.Repeat("a{", 200):                           `line 1, column 130: fields are nested deeper than 64`,
		"{\"tensors\": []}":                                 `line 1, column 1: got "{" (want a field's name)`,
		strings.Repeat("x", 60) + "!":                       `line 1, column 61: got the character '!' (want a field's name)`,
		`model_checkpoint_path: ` + strings.Repeat("y", 60): `line 1, column 24: got "yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy…" (want a string)`,
	} {
		s, err := Parse([]byte(text))
		if err == nil {
			t.Errorf("%q was taken: %+v", text, s)
		} else if err.Error() != want {
			t.Errorf("%q:\n got %s\nwant %s", text, err, want)
		}
	}
}

func TestLimits(t *testing.T) {
	if _, err := Parse(bytes.Repeat([]byte(" "), MaxSize+1)); err == nil {
		t.Error("a file beyond the limit was taken")
	}
	if _, err := Parse(bytes.Repeat([]byte(" "), MaxSize)); err != nil {
		t.Errorf("a file of just the limit: %v", err)
	}
	for _, s := range []State{{AllModelCheckpointPaths: make([]string, MaxEntries)}, {AllModelCheckpointTimestamps: make([]float64, MaxEntries)}} {
		text, err := s.Append([]byte("# 1.5\n"))
		if err != nil {
			t.Fatalf("as many entries as the limit: %v", err)
		}
		if back, err := Parse(text); err != nil || len(back.AllModelCheckpointPaths)+len(back.AllModelCheckpointTimestamps) != MaxEntries {
			t.Errorf("as many entries as the limit: %v", err)
		}
	}
	if _, err := (&State{AllModelCheckpointTimestamps: make([]float64, MaxEntries+1)}).Append(nil); err == nil {
		t.Error("a state with too many timestamps was written")
	}
	many := "all_model_checkpoint_paths: [" + strings.Repeat(`"",`, MaxEntries) + `""]`
	if _, err := Parse([]byte(many)); err == nil || !strings.Contains(err.Error(), "entries") {
		t.Errorf("too many paths: %v", err)
	}
	if _, err := (&State{AllModelCheckpointPaths: make([]string, MaxEntries+1)}).Append(nil); err == nil {
		t.Error("a state with too many entries was written")
	}
	if _, err := (&State{ModelCheckpointPath: "a\xff"}).Append(nil); err == nil {
		t.Error("a path that isn't UTF-8 was written")
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"", "model_checkpoint_path: \"ckpt-1\"\nall_model_checkpoint_paths: \"ckpt-1\"\nall_model_checkpoint_timestamps: 1732158522.25\nlast_preserved_timestamp: 1732158521.5\n",
		`a { b: [1, "x"] } model_checkpoint_path: "\x41" 'b'`, `[a/b.c]: -1 <`, `all_model_checkpoint_timestamps: [nan, 1e-5]`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := Parse(text)
		if err != nil {
			return
		}
		out, err := s.Append(nil)
		if err != nil {
			t.Fatalf("what was read can't be written: %v", err)
		}
		again, err := Parse(out)
		if err != nil {
			t.Fatalf("%q can't be read again: %v", out, err)
		}
		if d := cmp.Diff(s, again, cmpopts.EquateNaNs(), cmpopts.EquateEmpty()); d != "" {
			t.Fatal(d)
		}
	})
}
