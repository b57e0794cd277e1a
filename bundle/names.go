package bundle

import (
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"
)

// indexSuffix and the names of data files are TensorFlow's.
const indexSuffix = ".index"

// tempMark is a part of the names of files that are being written. A random
// number follows it: NAME.tempstateNUMBER, as TensorFlow names them.
const tempMark = ".tempstate"

// IndexName returns the name of a bundle's index file.
func IndexName(prefix string) string { return prefix + indexSuffix }

// DataName returns the name of a data file: prefix.data-00000-of-00002 for the
// first of two.
func DataName(prefix string, shard, shards int) string {
	return fmt.Sprintf("%s.data-%05d-of-%05d", prefix, shard, shards)
}

// ParseDataName splits a data file's name into the bundle's prefix and the two numbers. ok is
// false if it is no such name. Each number has at least five digits, and shard is less than
// shards.
func ParseDataName(name string) (prefix string, shard, shards int, ok bool) {
	i := strings.LastIndex(name, ".data-")
	if i < 0 {
		return "", 0, 0, false
	}
	a, b, found := strings.Cut(name[i+len(".data-"):], "-of-")
	shard, err1 := parseCount(a)
	shards, err2 := parseCount(b)
	if !found || err1 != nil || err2 != nil || shard >= shards {
		return "", 0, 0, false
	}
	return name[:i], shard, shards, true
}

// parseCount parses a number of at least five digits.
func parseCount(s string) (int, error) {
	if len(s) < 5 || strings.TrimLeft(s, "0123456789") != "" {
		return 0, strconv.ErrSyntax
	}
	return strconv.Atoi(s)
}

// IsTemporary reports whether name is that of a file which a Writer, ours or
// TensorFlow's, had not finished. If no Writer is at work, such a file is left
// over from a crash.
func IsTemporary(name string) bool {
	i := strings.LastIndex(name, tempMark)
	if i < 0 {
		return false
	}
	n := name[i+len(tempMark):]
	return n != "" && strings.Trim(n, "0123456789") == ""
}

// checkPrefix returns an error if prefix can't be a bundle's prefix in an
// [fs.FS].
func checkPrefix(prefix string) error {
	if !fs.ValidPath(prefix) || prefix == "." {
		return fmt.Errorf("bundle: prefix %q: %w", prefix, &fs.PathError{Op: "open", Path: path.Clean(prefix), Err: fs.ErrInvalid})
	}
	return nil
}
