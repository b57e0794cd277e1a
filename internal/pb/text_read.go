package pb

import (
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"
)

// UnmarshalText reads a message in protobuf's text format, such as a .pbtxt file
// holds, into m, which is emptied first. Maps get the order of [SortEntries]. A
// field that is not known by name is an error, as in TensorFlow.
func UnmarshalText(text []byte, m Message) error {
	v := reflect.ValueOf(m).Elem()
	v.SetZero()
	r := textReader{lexer: lexer{text: string(text)}}
	if err := r.next(); err != nil {
		return err
	}
	return r.message(v, "")
}

type textReader struct {
	lexer
	depth int
}

// take advances if the token is one of these, and returns it.
func (r *textReader) take(any ...string) (string, error) {
	tok := r.tok
	if !slices.Contains(any, tok) {
		return "", nil
	}
	return tok, r.next()
}

// message reads fields up to the token end into v.
func (r *textReader) message(v reflect.Value, end string) error {
	if r.depth++; r.depth > maxDepth {
		return r.fail("messages nested more than %d deep", maxDepth)
	}
	seen := make(map[int]bool)
	for r.tok != end {
		if err := r.field(v, seen); err != nil {
			return err
		}
		if _, err := r.take(",", ";"); err != nil {
			return err
		}
	}
	r.depth--
	for _, f := range fieldsOf(v.Type()) {
		if f.isMap {
			sortMap(v.Field(f.index))
		}
	}
	return r.next()
}

// sortMap sorts entries as SortEntries does.
func sortMap(list reflect.Value) {
	entries := make([]reflect.Value, list.Len())
	for i := range entries {
		entries[i] = reflect.ValueOf(list.Index(i).Interface())
		if value := entries[i].Elem().Field(1); value.Kind() == reflect.Pointer && value.IsNil() {
			value.Set(reflect.New(value.Type().Elem()))
		}
	}
	slices.SortStableFunc(entries, func(a, b reflect.Value) int {
		if key := a.Elem().Field(0); key.Kind() == reflect.String {
			return compareNames(key.String(), b.Elem().Field(0).String())
		}
		return compareKeys(b, a)
	})
	for i, e := range entries {
		list.Index(i).Set(e)
	}
}

func (r *textReader) field(v reflect.Value, seen map[int]bool) error {
	name := r.tok
	switch {
	case name == "":
		return r.fail("the text ends inside a message")
	case name == "[":
		return r.any(v)
	case !wordByte(name[0]):
		return r.fail("got %s (want a field's name)", name)
	case name[0] >= '0' && name[0] <= '9':
		return r.unknown(v.FieldByName("Unknown").Addr().Interface().(*[]byte))
	}
	fields := fieldsOf(v.Type())
	i := slices.IndexFunc(fields, func(f textField) bool { return f.name == name })
	if i < 0 {
		return r.fail("%s has no field %s", v.Type().Name(), name)
	}
	f := fields[i]
	once := f.num
	if f.member {
		once = 0 // one of the oneof's
	}
	if !f.list && seen[once] {
		return r.fail("%s is set twice", name)
	}
	seen[once] = true
	if err := r.next(); err != nil {
		return err
	}
	colon, err := r.take(":")
	if err != nil {
		return err
	}
	if colon == "" && f.kind != "message" {
		return r.fail("a colon is missing after %s", name)
	}
	if f.member {
		v.FieldByName("Which").SetUint(uint64(f.num))
	}
	if f.optional {
		v.Field(f.index + 1).SetBool(true)
	}
	x := v.Field(f.index)
	if !f.list {
		return r.value(f, x)
	}
	return r.elements(f, x)
}

// elements reads one element of a list, or several in brackets.
func (r *textReader) elements(f textField, list reflect.Value) error {
	add := func() error {
		e := reflect.New(list.Type().Elem()).Elem()
		if err := r.value(f, e); err != nil {
			return err
		}
		list.Set(reflect.Append(list, e))
		return nil
	}
	open, err := r.take("[")
	if err != nil {
		return err
	}
	if open == "" {
		return add()
	}
	for first := true; r.tok != "]"; first = false {
		if !first {
			if comma, err := r.take(","); err != nil || comma == "" {
				return firstOf(err, r.fail("a comma or ] is missing in a list"))
			}
		}
		if err := add(); err != nil {
			return err
		}
	}
	return r.next()
}

// firstOf returns err, or other if err is nil.
func firstOf(err, other error) error {
	if err != nil {
		return err
	}
	return other
}

// value reads one value into x.
func (r *textReader) value(f textField, x reflect.Value) error {
	if f.kind == "message" {
		open, err := r.take("{", "<")
		if err != nil || open == "" {
			return firstOf(err, r.fail("{ is missing after %s", f.name))
		}
		if l := lazyOf(x); l != nil {
			return r.message(l.begin(), closing(open))
		}
		m := reflect.New(x.Type().Elem())
		x.Set(m)
		return r.message(m.Elem(), closing(open))
	}
	if f.kind == "string" || f.kind == "bytes" {
		b, err := r.strings(f.name)
		if err != nil {
			return err
		}
		if f.kind == "bytes" {
			x.SetBytes(b)
			return nil
		}
		if !utf8.Valid(b) {
			return r.fail("%s is no valid UTF-8", f.name)
		}
		x.SetString(string(b))
		return nil
	}
	sign, err := r.take("-")
	if err != nil {
		return err
	}
	if err := r.scalar(f, x, sign); err != nil {
		return err
	}
	return r.next()
}

func closing(open string) string {
	if open == "<" {
		return ">"
	}
	return "}"
}

// strings reads strings; adjacent ones are one string.
func (r *textReader) strings(name string) ([]byte, error) {
	if !r.quoted() {
		return nil, r.fail("%s must be a string, not %q", name, r.tok)
	}
	out := []byte{}
	for r.quoted() {
		var err error
		if out, err = r.unquote(out); err != nil {
			return nil, err
		}
		if err := r.next(); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// scalar sets x to the number, bool or enum that is the token.
func (r *textReader) scalar(f textField, x reflect.Value, sign string) error {
	text := sign + r.tok
	fail := func() error { return r.fail("%q is no %s, which %s is", text, f.kind, f.name) }
	switch f.kind {
	case "bool":
		switch text {
		case "true", "True", "t", "1":
			x.SetBool(true)
		case "false", "False", "f", "0":
			x.SetBool(false)
		default:
			return fail()
		}
		return nil
	case "float", "double":
		v, ok := parseFloat(text, x.Type().Bits())
		if !ok {
			return fail()
		}
		x.SetFloat(v)
		return nil
	case "enum":
		if n, ok := x.Interface().(enum).byName(text); ok {
			x.SetInt(int64(n))
			return nil
		}
	}
	digits, base := r.tok, 10
	if low := strings.ToLower(digits); strings.HasPrefix(low, "0x") {
		digits, base = digits[2:], 16
	} else if len(digits) > 1 && digits[0] == '0' {
		digits, base = digits[1:], 8
	}
	if x.CanInt() {
		n, err := strconv.ParseInt(sign+digits, base, x.Type().Bits())
		if err != nil || digits == "" {
			return fail()
		}
		x.SetInt(n)
		return nil
	}
	n, err := strconv.ParseUint(sign+digits, base, x.Type().Bits())
	if err != nil {
		return fail()
	}
	x.SetUint(n)
	return nil
}

// parseFloat reads a number as the text format has it; one that is too large is
// infinite.
func parseFloat(s string, bits int) (float64, bool) {
	low := strings.ToLower(s)
	switch strings.TrimPrefix(low, "-") {
	case "inf", "infinity", "inff", "infinityf":
		return math.Inf(1 - 2*len(low[:len(low)-len(strings.TrimPrefix(low, "-"))])), true
	case "nan":
		return math.Float64frombits(0x7ff8 << 48), true // math.NaN() has other bits than Python's
	}
	if strings.ContainsAny(low, "x_pni") {
		return 0, false
	}
	v, err := strconv.ParseFloat(strings.TrimSuffix(low, "f"), bits)
	if e, ok := err.(*strconv.NumError); ok && e.Err == strconv.ErrRange {
		err = nil
	}
	return v, err == nil
}

// any reads a message in an Any, after the name of its type.
func (r *textReader) any(v reflect.Value) error {
	a, ok := v.Addr().Interface().(*Any)
	if !ok {
		return r.fail("%s has no extensions", v.Type().Name())
	}
	if a.TypeUrl != "" {
		return r.fail("an Any holds one message")
	}
	if err := r.next(); err != nil {
		return err
	}
	var url strings.Builder
	for r.tok != "]" {
		if r.tok == "" || !wordByte(r.tok[0]) && r.tok != "/" && r.tok != "-" {
			return r.fail("got %q in the name of a type", r.tok)
		}
		url.WriteString(r.tok)
		if err := r.next(); err != nil {
			return err
		}
	}
	a.TypeUrl = url.String()
	m := New(a.TypeUrl[strings.LastIndexByte(a.TypeUrl, '/')+1:])
	if m == nil {
		return r.fail("messages of type %q are not known", a.TypeUrl)
	}
	if err := r.next(); err != nil {
		return err
	}
	if _, err := r.take(":"); err != nil {
		return err
	}
	open, err := r.take("{", "<")
	if err != nil || open == "" {
		return firstOf(err, r.fail("{ is missing after [%s]", a.TypeUrl))
	}
	if err := r.message(reflect.ValueOf(m).Elem(), closing(open)); err != nil {
		return err
	}
	a.Value = m.Marshal()
	return nil
}

// unknown reads a field written with its number. The form of its value
// determines its wire type: 0x with 8 or 16 digits is a fixed one.
func (r *textReader) unknown(to *[]byte) error {
	n, err := strconv.ParseInt(r.tok, 10, 32)
	num := protowire.Number(n)
	if err != nil || !num.IsValid() {
		return r.fail("%s is no field's number", r.tok)
	}
	if err := r.next(); err != nil {
		return err
	}
	if _, err := r.take(":"); err != nil {
		return err
	}
	b := *to
	switch open := r.tok; {
	case open == "{" || open == "<":
		if err := r.next(); err != nil {
			return err
		}
		b = protowire.AppendTag(b, num, protowire.StartGroupType)
		if err := r.group(&b, closing(open)); err != nil {
			return err
		}
		*to = protowire.AppendTag(b, num, protowire.EndGroupType)
		return nil
	case r.quoted():
		s, err := r.strings("field " + strconv.Itoa(int(n)))
		*to = protowire.AppendBytes(protowire.AppendTag(b, num, protowire.BytesType), s)
		return err
	}
	v, err := strconv.ParseUint(r.tok, 0, 64)
	switch hex := strings.HasPrefix(r.tok, "0x"); {
	case err != nil:
		return r.fail("%q is no value of a field that is not known", r.tok)
	case hex && len(r.tok) == 10:
		b = protowire.AppendFixed32(protowire.AppendTag(b, num, protowire.Fixed32Type), uint32(v))
	case hex && len(r.tok) == 18:
		b = protowire.AppendFixed64(protowire.AppendTag(b, num, protowire.Fixed64Type), v)
	default:
		b = protowire.AppendVarint(protowire.AppendTag(b, num, protowire.VarintType), v)
	}
	*to = b
	return r.next()
}

// group reads the fields of a group, which is not known either.
func (r *textReader) group(to *[]byte, end string) error {
	if r.depth++; r.depth > maxDepth {
		return r.fail("messages nested more than %d deep", maxDepth)
	}
	for r.tok != end {
		if err := r.unknown(to); err != nil {
			return err
		}
	}
	r.depth--
	return r.next()
}
