package main

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
)

// size is a flag's number of bytes: 1048576, 512MiB, 2GiB.
type size int64

// sizeUnits are the units of sizes, in small letters. Scripts use them, so they must stay.
var sizeUnits = map[string]float64{
	"": 1, "b": 1, "k": 1 << 10, "kib": 1 << 10, "m": 1 << 20, "mib": 1 << 20, "g": 1 << 30, "gib": 1 << 30, "t": 1 << 40, "tib": 1 << 40,
	"kb": 1e3, "mb": 1e6, "gb": 1e9, "tb": 1e12,
}

var sizeForm = regexp.MustCompile(`^([0-9]+(?:\.[0-9]+)?) ?([A-Za-z]*)$`)

// Set reads the user's text.
func (s *size) Set(text string) error {
	m := sizeForm.FindStringSubmatch(text)
	if m == nil {
		return fmt.Errorf("a size is a number and a unit: 512MiB, 2GiB")
	}
	unit, ok := sizeUnits[strings.ToLower(m[2])]
	if !ok {
		return fmt.Errorf("no size has the unit %q: KiB, MiB, GiB and TiB are known", m[2])
	}
	n, err := strconv.ParseFloat(m[1], 64)
	if n *= unit; err != nil || n >= math.MaxInt64 {
		return fmt.Errorf("%s is too large", text)
	}
	*s = size(n)
	return nil
}

// String returns the size in bytes; "" if the flag isn't set.
func (s *size) String() string {
	if *s == 0 {
		return ""
	}
	return strconv.FormatInt(int64(*s), 10)
}

// Type returns the word for the value in help if the flag's description has
// none.
func (s *size) Type() string { return "size" }

// optionName matches a library's option in a message: "Options.Force".
var optionName = regexp.MustCompile(`\b(?:[a-z]+\.)?(?:[A-Z]\w*)?(?:Options|Edits)\.([A-Z]\w*)`)

// optionFlags are the flags that set the library's options. To add a flag for an option that a
// library's error names, add it here.
var optionFlags = map[string]string{
	"MaxMemory": "max-memory", "MaxIndex": "max-memory", "MaxShards": "max-memory", "MaxRead": "max-memory", "MaxSize": "max-memory",
	"MaxAlignment": "max-alignment", "Force": "force", "Lossy": "lossy",
	"Join": "join", "Graph": "graph", "KeepShared": "keep-shared", "Rename": "rename", "Drop": "drop", "Cast": "cast", "Keep": "keep", "Freeze": "freeze",
}

// hint matches the last part of a message if that names an option without a flag. Only a Go program
// can follow it.
var hint = regexp.MustCompile(`(?:[;:] |\n)[^;:\n]*` + optionName.String() + `[^;:\n]*`)

// withFlags returns a message of the library with flags and verbs of the command in place of options
// and functions: "Options.Force" becomes "--force". Hints that only a Go program can follow are left
// out. run applies it to every error.
func withFlags(message string) string {
	message = strings.ReplaceAll(message, "convert.Recover ", "cairn recover ")
	message = hint.ReplaceAllStringFunc(message, func(s string) string {
		for _, m := range optionName.FindAllStringSubmatch(s, -1) {
			if optionFlags[m[1]] == "" {
				return ""
			}
		}
		return s
	})
	return optionName.ReplaceAllStringFunc(message, func(s string) string {
		if flag := optionFlags[optionName.FindStringSubmatch(s)[1]]; flag != "" {
			return "--" + flag
		}
		return s
	})
}
