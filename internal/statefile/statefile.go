// Package statefile reads and writes the text of a `checkpoint` state file:
// TensorFlow's CheckpointState message as text proto, byte for byte as
// TensorFlow's Python writes it. It knows nothing of directories; paths are the
// strings in the file. Packages bundle, checkpoint and tensorfile use it.
package statefile

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"unicode/utf8"
)

// Name is the default name of the state file.
const Name = "checkpoint"

// Limits that keep a hostile file from taking memory. They are Cairn's and may grow.
const (
	MaxSize    = 16 << 20 // bytes of text
	MaxEntries = 1 << 18  // paths, timestamps
	maxDepth   = 64       // nesting of unknown fields
)

// State is tensorflow.CheckpointState.
type State struct {
	ModelCheckpointPath          string    // field 1
	AllModelCheckpointPaths      []string  // field 2
	AllModelCheckpointTimestamps []float64 // field 3, seconds since 1970
	LastPreservedTimestamp       float64   // field 4, seconds since 1970
}

// An Error is a fault in the text and its place.
type Error struct {
	Line, Col int // from 1; Col counts bytes
	What      string
}

// Error names the place.
func (e *Error) Error() string { return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Col, e.What) }

// Append adds the text of s to dst. A path that isn't valid UTF-8 is an error,
// because TensorFlow's message can't hold it.
func (s *State) Append(dst []byte) ([]byte, error) {
	if len(s.AllModelCheckpointPaths) > MaxEntries || len(s.AllModelCheckpointTimestamps) > MaxEntries {
		return dst, fmt.Errorf("a state file lists at most %d checkpoints", MaxEntries)
	}
	var err error
	str := func(name, v string) {
		if !utf8.ValidString(v) && err == nil {
			err = fmt.Errorf("the path %q is not valid UTF-8, which a state file can't hold", v)
		}
		dst = append(dst, name...)
		dst = append(dst, ": "...)
		dst = appendQuoted(dst, v)
		dst = append(dst, '\n')
	}
	num := func(name string, v float64) {
		dst = append(dst, name...)
		dst = append(dst, ": "...)
		dst = AppendFloat(dst, v)
		dst = append(dst, '\n')
	}
	if s.ModelCheckpointPath != "" {
		str("model_checkpoint_path", s.ModelCheckpointPath)
	}
	for _, p := range s.AllModelCheckpointPaths {
		str("all_model_checkpoint_paths", p)
	}
	for _, t := range s.AllModelCheckpointTimestamps {
		num("all_model_checkpoint_timestamps", t)
	}
	if s.LastPreservedTimestamp != 0 { // proto3: zero isn't written
		num("last_preserved_timestamp", s.LastPreservedTimestamp)
	}
	return dst, err
}

// appendQuoted escapes as protobuf's Python does with as_utf8: printable ASCII
// and all characters beyond ASCII are unchanged.
func appendQuoted(dst []byte, v string) []byte {
	dst = append(dst, '"')
	for i := 0; i < len(v); i++ {
		switch c := v[i]; {
		case c == '\t':
			dst = append(dst, `\t`...)
		case c == '\n':
			dst = append(dst, `\n`...)
		case c == '\r':
			dst = append(dst, `\r`...)
		case c == '"' || c == '\'' || c == '\\':
			dst = append(dst, '\\', c)
		case c < ' ' || c == 0x7f:
			dst = append(dst, '\\', '0'+c>>6, '0'+c>>3&7, '0'+c&7)
		default:
			dst = append(dst, c)
		}
	}
	return append(dst, '"')
}

// AppendFloat writes v as Python's repr does: the shortest text that reads back
// the same, with an exponent below 1e-4 and from 1e16 on, and always a point or
// an exponent.
func AppendFloat(dst []byte, v float64) []byte {
	switch {
	case v != v:
		return append(dst, "nan"...)
	case v-v != 0:
		if v < 0 {
			dst = append(dst, '-')
		}
		return append(dst, "inf"...)
	}
	var buf [32]byte
	e := strconv.AppendFloat(buf[:0], v, 'e', -1, 64)
	exp, _ := strconv.Atoi(string(e[bytes.IndexByte(e, 'e')+1:]))
	if exp < -4 || exp >= 16 {
		return append(dst, e...)
	}
	start := len(dst)
	dst = strconv.AppendFloat(dst, v, 'f', -1, 64)
	if bytes.IndexByte(dst[start:], '.') < 0 {
		dst = append(dst, ".0"...)
	}
	return dst
}

// errTooLong is Parse's error for a file beyond MaxSize.
var errTooLong = errors.New("the file is longer than a state file can be (16 MiB)")

// Parse reads a state file's text. It accepts all of text proto's syntax
// (comments, single quotes, lists, joined strings) and skips unknown fields.
// Its errors are of type [Error], except for a text longer than [MaxSize].
func Parse(text []byte) (*State, error) {
	if len(text) > MaxSize {
		return nil, errTooLong
	}
	p := &parser{lexer: lexer{src: text}}
	p.next()
	s := new(State)
	for p.tok.kind != tokEOF && p.err == nil {
		p.field(s)
	}
	if p.err != nil {
		return nil, p.err
	}
	return s, nil
}
