// Package text implements the kernels of strings: case, parts, joins, regular
// expressions, numbers, hashes, base64 and Unicode.
package text

import (
	"fmt"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/tensor"
)

// Kernels returns the family's table.
func Kernels() []engine.Kernel {
	return []engine.Kernel{
		{Op: "StringLower", Prepare: letters(lower)},
		{Op: "StringUpper", Prepare: letters(upper)},
		{Op: "StringStrip", Run: each(strip)},
		{Op: "StringLength", Prepare: length},
		{Op: "Substr", Prepare: substr},
		{Op: "StringJoin", Run: join},
		{Op: "ReduceJoin", Run: reduceJoin},
		{Op: "UnsortedSegmentJoin", Run: segmentJoin},
		{Op: "StringFormat", Run: format},
		{Op: "AsString", Prepare: asString},
		{Op: "StringToNumber", Prepare: toNumber},
		{Op: "StaticRegexFullMatch", Prepare: staticMatch},
		{Op: "RegexFullMatch", Prepare: fullMatch},
		{Op: "StaticRegexReplace", Prepare: staticReplace},
		{Op: "RegexReplace", Prepare: replace},
		{Op: "StringSplit", Run: splitV1},
		{Op: "StringSplitV2", Run: splitV2},
		{Op: "StringNGrams", Prepare: ngrams},
		{Op: "StringToHashBucketFast", Prepare: buckets(fast)},
		{Op: "StringToHashBucketStrong", Prepare: buckets(strong)},
		{Op: "StringToHashBucket", Prepare: buckets(legacy)},
		{Op: "Fingerprint", Run: fingerprint},
		{Op: "SdcaFprint", Run: longFingerprint},
		{Op: "EncodeBase64", Prepare: encodeBase64},
		{Op: "DecodeBase64", Run: each(decodeBase64)},
		{Op: "UnicodeDecode", Prepare: unicodeDecode},
		{Op: "UnicodeDecodeWithOffsets", Prepare: unicodeDecode},
		{Op: "UnicodeEncode", Prepare: unicodeEncode},
		{Op: "UnicodeTranscode", Prepare: unicodeTranscode},
		{Op: "UnicodeScript", Run: script},
		{Op: "NormalizeUTF8", Prepare: normalizeUTF8},
		{Op: "CaseFoldUTF8", Run: caseFoldUTF8},
		{Op: "RegexSplitWithOffsets", Prepare: regexSplit},
		{Op: "WordpieceTokenizeWithOffsets", Prepare: wordpieces},
	}
}

// texts returns the strings of input i.
func texts(c *engine.Call, i int) ([]string, error) {
	t := c.In(i)
	if t.DType() != tensor.String {
		return nil, fmt.Errorf("input %d is %v, not string", i, t.DType())
	}
	return t.Strings(), nil
}

// one returns the only string of input i. Another type or number of elements is an error,
// and what is the input's name in it.
func one(c *engine.Call, i int, what string) (string, error) {
	t := c.In(i)
	if t.DType() != tensor.String || t.Len() != 1 {
		return "", fmt.Errorf("%s is %v%v, not a string", what, t.DType(), t.Shape())
	}
	return t.Strings()[0], nil
}

// each returns a kernel that makes a string of every string.
func each(f func(string) (string, error)) func(*engine.Call) error {
	return func(c *engine.Call) error {
		if err := c.Need(1); err != nil {
			return err
		}
		return onEach(c, f)
	}
}

// onEach computes output 0 from input 0, string by string.
func onEach(c *engine.Call, f func(string) (string, error)) error {
	in, err := texts(c, 0)
	if err != nil {
		return err
	}
	out, err := c.Alloc(0, tensor.String, c.In(0).Shape())
	if err != nil {
		return err
	}
	room := budget{c: c}
	for i, s := range in {
		if s, err = f(s); err == nil {
			err = room.take(len(s))
		}
		if err != nil {
			return err
		}
		out.Strings()[i] = s
	}
	return nil
}

// budget counts the bytes of an op's strings, which may be far longer than the
// inputs.
type budget struct {
	c    *engine.Call
	used int64
}

// take counts n more bytes. It panics out of the kernel if the call's context
// has ended.
func (b *budget) take(n int) error {
	b.used += int64(n)
	return b.c.Afford(b.used)
}

// eachText returns a kernel that makes a number of each string.
func eachText[T int32 | int64](f func(string) T) func(*engine.Call) error {
	return func(c *engine.Call) error {
		if err := c.Need(1); err != nil {
			return err
		}
		in, err := texts(c, 0)
		if err != nil {
			return err
		}
		out, err := c.Alloc(0, tensor.TypeOf[T](), c.In(0).Shape())
		if err != nil {
			return err
		}
		v := tensor.Values[T](out)
		for i, s := range in {
			c.Check()
			v[i] = f(s)
		}
		return nil
	}
}
