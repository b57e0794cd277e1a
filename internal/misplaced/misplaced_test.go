package misplaced_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/cairnml/cairn/internal/gitlfs"
	"github.com/cairnml/cairn/internal/misplaced"
)

func TestFilesInThePlacesOfOthersAreKnown(t *testing.T) {
	for head, want := range map[string]error{
		"<!DOCTYPE html>\n": misplaced.ErrPage, "\ufeff\n <html lang=en>": misplaced.ErrPage, "<!doctype HTML>": misplaced.ErrPage,
		"version https://git-lfs.github.com/spec/v1\n": gitlfs.ErrPointer,
		"": nil, "<": nil, "<xml>": nil, "\x89HDF\r\n\x1a\n<html": nil, "node { name: 'x' }": nil,
	} {
		if got := misplaced.CheckReader(strings.NewReader(head)); !errors.Is(got, want) {
			t.Errorf("%q: got %v, want %v", head, got, want)
		}
	}
}
