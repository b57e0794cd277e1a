package trackable

import (
	"strings"
	"unicode"
)

// Parts of the keys of values in a checkpoint.
const (
	attributesName = ".ATTRIBUTES"
	slotName       = ".OPTIMIZER_SLOT"

	// ObjectGraphKey is the key of the object graph's own entry.
	ObjectGraphKey = "_CHECKPOINTABLE_OBJECT_GRAPH"
	// VariableValue is the name of a variable's one attribute.
	VariableValue = "VARIABLE_VALUE"
)

// Escape returns the form of an edge or attribute name in keys: "." becomes
// "..", "/" becomes ".S".
func Escape(name string) string {
	plain := true
	for i := range len(name) {
		plain = plain && name[i] != '.' && name[i] != '/'
	}
	if plain {
		return name
	}
	return strings.ReplaceAll(strings.ReplaceAll(name, ".", ".."), "/", ".S")
}

// Unescape inverts [Escape]; ok is false if name isn't an escaped
// one.
func Unescape(name string) (raw string, ok bool) {
	if !strings.Contains(name, ".") {
		return name, !strings.Contains(name, "/")
	}
	var b strings.Builder
	for i := 0; i < len(name); i++ {
		switch c := name[i]; {
		case c == '/':
			return "", false
		case c != '.':
			b.WriteByte(c)
		case i+1 < len(name) && name[i+1] == '.':
			b.WriteByte('.')
			i++
		case i+1 < len(name) && name[i+1] == 'S':
			b.WriteByte('/')
			i++
		default:
			return "", false
		}
	}
	return b.String(), true
}

// AttributeKey returns the key of an object's attribute: object is the object's
// escaped path ("" for the root), name the attribute's raw name. TensorFlow
// escapes attribute names twice in keys, and once in the list of the object
// graph.
func AttributeKey(object, name string) string {
	return object + "/" + attributesName + "/" + Escape(Escape(name))
}

// slotPath returns the path of a slot variable, which replaces an object's path
// in its key: variable and optimizer are escaped paths.
func slotPath(variable, optimizer, slot string) string {
	return variable + "/" + slotName + "/" + optimizer + "/" + Escape(slot)
}

// SnakeCase returns the edge name of a struct field without a tag. The rule is
// frozen, because files contain the names: all letters become lower-case. A "_"
// is inserted before an upper-case letter that follows a lower-case one. It is
// also inserted if a lower-case letter follows, unless the letter is the first
// or follows a "_".
//
//	L1 → l1, HTTPServer → http_server, Conv2DTranspose → conv2d_transpose
func SnakeCase(field string) string {
	runes := []rune(field)
	var b strings.Builder
	for i, r := range runes {
		if unicode.IsUpper(r) && i > 0 && runes[i-1] != '_' {
			lowerBefore := unicode.IsLower(runes[i-1])
			lowerAfter := i+1 < len(runes) && unicode.IsLower(runes[i+1])
			if lowerBefore || lowerAfter {
				b.WriteByte('_')
			}
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// scopeName returns the automatic name of an object of a type, as tf_keras makes it from
// a class name. It differs from SnakeCase: a "_" is also inserted before an upper-case letter
// that a lower-case one follows, whatever is before it (Net_Block → net__block). A name that
// would begin with "_" gets the prefix "private". Full names in files contain the name.
func scopeName(typeName string) string {
	typeName, _, _ = strings.Cut(typeName, "[") // type arguments
	runes := []rune(typeName)
	var first []rune
	// Before an upper-case letter followed by lower-case letters; the scan consumes the
	// whole word, as a regular expression does.
	for i := 0; i < len(runes); {
		if i+2 < len(runes) && isUpper(runes[i+1]) && isLower(runes[i+2]) {
			first = append(first, runes[i], '_', runes[i+1])
			i += 2
			for i < len(runes) && isLower(runes[i]) {
				first = append(first, runes[i])
				i++
			}
			continue
		}
		first = append(first, runes[i])
		i++
	}
	var b strings.Builder
	for i, r := range first {
		if i > 0 && isUpper(r) && isLower(first[i-1]) {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	name := b.String()
	if strings.HasPrefix(name, "_") {
		return "private" + name
	}
	return name
}

func isUpper(r rune) bool { return 'A' <= r && r <= 'Z' }
func isLower(r rune) bool { return 'a' <= r && r <= 'z' }
