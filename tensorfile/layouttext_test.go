package tensorfile

import (
	"encoding/json"
	"testing"
)

func TestTheTextOfALayoutIsItsJSON(t *testing.T) {
	for _, l := range []Layout{
		{Version: 1},
		{Version: 1, Shards: [][]Piece{{{Name: "a"}, {Name: `"<é>\`}, {Name: "b", Slice: "3,4:0,1:-"}}, nil, {}}, Alignment: 64, BigEndian: true, Index: "00ff"},
		{Version: 1, Types: map[string]string{"x": "half"}, Strings: map[string]StringTensor{"s": {"string", []int{1}, [][]byte{{0, 255}}}}, Shards: [][]Piece{{{Name: "x&y"}}}},
		{Version: 1, Index: "00"},
	} {
		want, err := json.Marshal(l)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := l.Text(); err != nil || got != string(want) {
			t.Errorf("%s, %v; want %s", got, err, want)
		}
	}
}
