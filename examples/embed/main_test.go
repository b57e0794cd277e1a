package main

import (
	"bytes"
	"os"
	"strconv"
	"strings"
	"testing"
)

// TestTheProgramAnswersAsTensorFlow compares the output for three.png with
// three.txt, which is TensorFlow's.
func TestTheProgramAnswersAsTensorFlow(t *testing.T) {
	picture, err := os.Open("three.png")
	if err != nil {
		t.Fatal(err)
	}
	defer picture.Close()
	var out bytes.Buffer
	if err := run(t.Context(), picture, &out); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("three.txt")
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for word := range strings.FieldsSeq(string(text)) {
		v, err := strconv.ParseFloat(word, 64)
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, strconv.FormatFloat(v, 'f', 4, 64))
	}
	if got := strings.Trim(strings.TrimSpace(out.String()), "[]"); got != strings.Join(want, " ") {
		t.Errorf("got  %s\nwant %s", got, strings.Join(want, " "))
	}
}

func TestWhatIsNoPictureIsAnError(t *testing.T) {
	if err := run(t.Context(), strings.NewReader("no picture"), &bytes.Buffer{}); err == nil {
		t.Error("no error")
	}
}
