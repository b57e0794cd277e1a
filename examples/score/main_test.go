package main

import (
	"bytes"
	"os"
	"strings"
	"testing"
)

// TestTheProgramAnswersAsTensorFlow compares with prices.csv, which TensorFlow computed.
func TestTheProgramAnswersAsTensorFlow(t *testing.T) {
	rows, err := os.Open("flats.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	want, err := os.ReadFile("prices.csv")
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := score(t.Context(), rows, &out); err != nil {
		t.Fatal(err)
	}
	if out.String() != string(want) {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
}

func TestManyRowsAreScoredInParts(t *testing.T) {
	table := "city,size,rooms\n" + strings.Repeat("Kiel,50,2\n", 2*rowsAtOnce)
	var out bytes.Buffer
	if err := score(t.Context(), strings.NewReader(table), &out); err != nil {
		t.Fatal(err)
	}
	if got := strings.Count(out.String(), "\n"); got != 2*rowsAtOnce+1 {
		t.Errorf("%d lines", got)
	}
}

func TestWrongTables(t *testing.T) {
	for table, want := range map[string]string{
		"":                                    "first line",
		"city,size\nKiel,3\n":                 `no column "rooms"`,
		"city,size,rooms\nKiel,3,two\n":       `column "rooms"`,
		"city,size,rooms\nKiel,3,1\nKiel,3\n": "wrong number of fields",
	} {
		if err := score(t.Context(), strings.NewReader(table), new(bytes.Buffer)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", table, err, want)
		}
	}
}
