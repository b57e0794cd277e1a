package parse

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/tensor"
)

// decodeJSONExample computes DecodeJSONExample: it converts JSON to serialized Examples. The
// grammar is that of protobuf's JSON parser for Examples, in the version that TensorFlow links.
func decodeJSONExample(c *engine.Call) error {
	if err := c.Need(1); err != nil {
		return err
	}
	in := c.In(0)
	if in.DType() != tensor.String {
		return fmt.Errorf("takes strings, not %v", in.DType())
	}
	out, err := c.Alloc(0, tensor.String, in.Shape())
	if err != nil {
		return err
	}
	total := int64(0)
	for i, s := range in.Strings() {
		j := jsonText{s: s}
		b, err := j.message(exampleFields)
		if err == nil && j.peek() != 0 {
			err = j.errorf("there is more after the end")
		}
		if err != nil {
			return fmt.Errorf("example %d: %w", i, err)
		}
		total += int64(len(b))
		if err := c.Afford(total); err != nil {
			return err
		}
		out.Strings()[i] = string(b)
	}
	return nil
}

// jsonField is a field of a message: how its value is read and appended.
type jsonField struct {
	names  [2]string // in camel case, and as in the message's definition
	oneof  bool      // at most one field of the message may be present
	append func(*jsonText, []byte) ([]byte, error)
}

var (
	exampleFields  = []jsonField{nested("features", "features", 1, featuresFields)}
	featuresFields = []jsonField{{names: [2]string{"feature", "feature"}, append: (*jsonText).features}}
	featureFields  = []jsonField{
		oneOf(nested("bytesList", "bytes_list", 1, listOf((*jsonText).bytes))),
		oneOf(nested("floatList", "float_list", 2, listOf((*jsonText).float))),
		oneOf(nested("int64List", "int64_list", 3, listOf((*jsonText).int64))),
	}
)

func oneOf(f jsonField) jsonField {
	f.oneof = true
	return f
}

// nested returns a field that is a message.
func nested(camel, name string, num protowire.Number, of []jsonField) jsonField {
	return jsonField{names: [2]string{camel, name}, append: func(j *jsonText, b []byte) ([]byte, error) {
		m, err := j.message(of)
		if err != nil {
			return nil, err
		}
		return protowire.AppendBytes(protowire.AppendTag(b, num, protowire.BytesType), m), nil
	}}
}

// listOf returns the fields of a list message, such as BytesList: its elements are
// field 1. A single element needs no brackets.
func listOf(element func(*jsonText, []byte) ([]byte, error)) []jsonField {
	return []jsonField{{names: [2]string{"value", "value"}, append: func(j *jsonText, b []byte) ([]byte, error) {
		if j.peek() != '[' {
			return element(j, b)
		}
		j.at++
		var err error
		for {
			if j.peek() == ']' {
				j.at++
				return b, nil
			}
			if b, err = element(j, b); err != nil {
				return nil, err
			}
			if err := j.comma(']'); err != nil {
				return nil, err
			}
		}
	}}}
}

// jsonText is a JSON text that is read from its beginning. As TensorFlow's
// reader it accepts names without quotes, texts in single quotes and trailing
// commas.
type jsonText struct {
	s  string
	at int
}

func (j *jsonText) errorf(format string, args ...any) error {
	return fmt.Errorf("JSON at byte %d: %s", j.at, fmt.Sprintf(format, args...))
}

// peek returns the next byte that isn't white space, 0 at the end.
func (j *jsonText) peek() byte {
	for ; j.at < len(j.s); j.at++ {
		switch b := j.s[j.at]; b {
		case ' ', '\t', '\n', '\r':
		default:
			return b
		}
	}
	return 0
}

// comma skips the comma after an element of a list, unless the list ends.
func (j *jsonText) comma(end byte) error {
	switch b := j.peek(); b {
	case ',':
		j.at++
		return nil
	case end:
		return nil
	}
	return j.errorf("a comma or %q is missing", end)
}

// null skips the word null, if it is next.
func (j *jsonText) null() bool {
	if j.peek(); strings.HasPrefix(j.s[j.at:], "null") {
		j.at += 4
		return true
	}
	return false
}

// entries calls f with every name of an object; f must read the value.
func (j *jsonText) entries(f func(name string) error) error {
	if j.peek() != '{' {
		return j.errorf("an object is missing")
	}
	j.at++
	for {
		if j.peek() == '}' {
			j.at++
			return nil
		}
		name, err := j.name()
		if err != nil {
			return err
		}
		if j.peek() != ':' {
			return j.errorf("a colon is missing")
		}
		j.at++
		if err := f(name); err != nil {
			return err
		}
		if err := j.comma('}'); err != nil {
			return err
		}
	}
}

// message reads an object as a message of these fields.
func (j *jsonText) message(of []jsonField) ([]byte, error) {
	var out []byte
	seen := make([]bool, len(of))
	err := j.entries(func(name string) error {
		for i, f := range of {
			if name != f.names[0] && name != f.names[1] {
				continue
			}
			if j.null() {
				return nil
			}
			for k, before := range seen {
				if before && f.oneof {
					return j.errorf("%s and %s are both present", name, of[k].names[0])
				}
			}
			seen[i] = true
			var err error
			out, err = f.append(j, out)
			return err
		}
		return j.errorf("there is no field %q", name)
	})
	return out, err
}

// features reads the map of features.
func (j *jsonText) features(out []byte) ([]byte, error) {
	seen := map[string]bool{}
	err := j.entries(func(name string) error {
		if seen[name] {
			return j.errorf("the feature %q appears twice", name)
		}
		seen[name] = true
		entry := protowire.AppendString(protowire.AppendTag(nil, 1, protowire.BytesType), name)
		if !j.null() {
			m, err := j.message(featureFields)
			if err != nil {
				return err
			}
			entry = protowire.AppendBytes(protowire.AppendTag(entry, 2, protowire.BytesType), m)
		}
		out = protowire.AppendBytes(protowire.AppendTag(out, 1, protowire.BytesType), entry)
		return nil
	})
	return out, err
}

// name reads a name, with quotes or without.
func (j *jsonText) name() (string, error) {
	if b := j.peek(); b == '"' || b == '\'' {
		return j.text()
	}
	start := j.at
	for j.at < len(j.s) {
		b := j.s[j.at]
		if !(b == '_' || 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z' || j.at > start && '0' <= b && b <= '9') {
			break
		}
		j.at++
	}
	if start == j.at {
		return "", j.errorf("a name is missing")
	}
	return j.s[start:j.at], nil
}

// text reads a text in quotes.
func (j *jsonText) text() (string, error) {
	quote := j.s[j.at]
	for end := j.at + 1; end < len(j.s); end++ {
		switch j.s[end] {
		case '\\':
			end++
		case quote:
			raw := j.s[j.at+1 : end]
			if quote == '\'' {
				raw = strings.ReplaceAll(strings.ReplaceAll(raw, `\'`, `'`), `"`, `\"`)
			}
			var out string
			if err := json.Unmarshal([]byte(`"`+raw+`"`), &out); err != nil {
				return "", j.errorf("%v", err)
			}
			j.at = end + 1
			return out, nil
		}
	}
	return "", j.errorf("a text has no end")
}

// scalar returns the characters of a number or a text, none for null.
func (j *jsonText) scalar() (string, error) {
	if j.null() {
		return "", nil
	}
	if b := j.peek(); b == '"' || b == '\'' {
		s, err := j.text()
		if err == nil && s == "" {
			err = j.errorf("an empty text is no number")
		}
		return s, err
	}
	start := j.at
	for j.at < len(j.s) && strings.IndexByte("+-.eE0123456789", j.s[j.at]) >= 0 {
		j.at++
	}
	if start == j.at {
		return "", j.errorf("a value is missing")
	}
	return j.s[start:j.at], nil
}

// int64, float and bytes read an element of a list and append it as field 1.
func (j *jsonText) int64(b []byte) ([]byte, error) {
	s, err := j.scalar()
	if err != nil {
		return nil, err
	}
	v := int64(0)
	if s != "" {
		if v, err = strconv.ParseInt(s, 10, 64); err != nil { // 1e2 is an integer, too
			if len(s) > 64 {
				return nil, j.errorf("%q is no int64", s)
			}
			f, _, err := big.ParseFloat(s, 10, 256, big.ToZero)
			exact := big.Exact
			if err == nil {
				v, exact = f.Int64()
			}
			if err != nil || exact != big.Exact {
				return nil, j.errorf("%q is no int64", s)
			}
		}
	}
	return protowire.AppendVarint(protowire.AppendTag(b, 1, protowire.VarintType), uint64(v)), nil
}

func (j *jsonText) float(b []byte) ([]byte, error) {
	s, err := j.scalar()
	if err != nil {
		return nil, err
	}
	v := 0.0
	switch s {
	case "":
	case "NaN":
		v = math.NaN()
	case "Infinity":
		v = math.Inf(1)
	case "-Infinity":
		v = math.Inf(-1)
	default:
		if v, err = strconv.ParseFloat(s, 64); err != nil && strings.HasPrefix(strings.TrimLeft(s, "+-"), "0x") {
			v, err = strconv.ParseFloat(s+"p0", 64)
		}
		if err != nil || math.Abs(v) > math.MaxFloat32 {
			return nil, j.errorf("%q is no float", s)
		}
	}
	return protowire.AppendFixed32(protowire.AppendTag(b, 1, protowire.Fixed32Type), math.Float32bits(float32(v))), nil
}

// toStdBase64 replaces the characters of base64's alphabet for URLs by those of the
// standard one, and removes the padding.
var toStdBase64 = strings.NewReplacer("-", "+", "_", "/", "=", "")

func (j *jsonText) bytes(b []byte) ([]byte, error) {
	var v []byte
	if !j.null() {
		if q := j.peek(); q != '"' && q != '\'' {
			return nil, j.errorf("a text is missing")
		}
		s, err := j.text()
		if err == nil {
			v, err = base64.RawStdEncoding.DecodeString(toStdBase64.Replace(s))
		}
		if err != nil {
			return nil, j.errorf("%v", err)
		}
	}
	return protowire.AppendBytes(protowire.AppendTag(b, 1, protowire.BytesType), v), nil
}
