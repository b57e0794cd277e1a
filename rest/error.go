package rest

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Error is a fault of one value of a JSON document.
type Error struct {
	// Path leads to the value: "instances[3].x[0][1]". It is empty for the
	// document itself and for an error of syntax.
	Path string
	// Offset is the number of bytes before the value.
	Offset int64
	// Problem is the fault in plain words.
	Problem string
}

// Error returns the path and the problem; the offset where there is no path.
func (e *Error) Error() string {
	if e.Path == "" {
		return fmt.Sprintf("byte %d: %s", e.Offset, e.Problem)
	}
	return e.Path + ": " + e.Problem
}

// fault returns an error at a place of the document.
func fault(at int, format string, args ...any) *Error {
	return &Error{Offset: int64(at), Problem: fmt.Sprintf(format, args...)}
}

// under prefixes e's path with an element's index. It changes e and returns it; nil
// stays nil.
func (e *Error) under(index int) *Error {
	if e != nil {
		if e.Path != "" && e.Path[0] != '[' {
			e.Path = "." + e.Path
		}
		e.Path = "[" + strconv.Itoa(index) + "]" + e.Path
	}
	return e
}

// below prefixes e's path with the name of a field. It changes e and returns it; nil
// stays nil.
func (e *Error) below(name string) *Error {
	if e == nil {
		return nil
	}
	step := name
	if !plainName(name) {
		step = "[" + quote(name) + "]"
	}
	if e.Path != "" && e.Path[0] != '[' {
		step += "."
	}
	e.Path = step + e.Path
	return e
}

// plainName reports whether a name needs no quotes in a path.
func plainName(name string) bool {
	if name == "" {
		return false
	}
	for _, r := range name {
		if r > 0x7e || r <= ' ' || strings.ContainsRune(`.[]"\`, r) {
			return false
		}
	}
	return true
}

// maxQuoted is the number of bytes of a value that an error quotes.
const maxQuoted = 40

// quote returns a string in quotes, its end left out if it is long.
func quote(s string) string {
	return strconv.Quote(clip(s))
}

// clip leaves out the end of a long string.
func clip(s string) string {
	if len(s) <= maxQuoted {
		return s
	}
	n := maxQuoted
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}

// asError returns err as an error. Unlike a plain conversion, it makes a nil error of
// a nil *Error.
func asError(err *Error) error {
	if err == nil {
		return nil
	}
	return err
}

// RemoteError is the error that a response holds in place of a result.
type RemoteError struct {
	// Message is the server's message.
	Message string
}

// Error returns the server's message after words about its origin.
func (e *RemoteError) Error() string { return "the server answers: " + e.Message }

// errNoOutputs is the error of WritePredictResponse for a response without outputs, for which
// TensorFlow Serving has no form.
var errNoOutputs = errors.New("there are no outputs to write")
