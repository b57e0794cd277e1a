package layers_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/keras/internal/kerastest"
	"github.com/cairnml/cairn/keras/layers"
)

func ExampleTextVectorization_SetVocabulary() {
	s := function.Eager(context.Background())
	l := &layers.TextVectorization{}
	if err := l.SetVocabulary(s, []string{"the", "cat"}, nil); err != nil {
		fmt.Println(err)
		return
	}
	y, err := l.Call(s, [][]string{{"The cat sat"}}).Tensor()
	fmt.Println(y, err)
	// Output: [[2 3 1]] <nil>
}

func TestVocabulariesThatAreSet(t *testing.T) {
	s := function.Eager(t.Context())
	l := &layers.IntegerLookup{OutputMode: layers.OutputTFIDF}
	kerastest.Must(t, l.SetVocabulary(s, []int64{7, 3}, []float64{0.5, 1.5}))
	y, err := l.Call(s, [][]int64{{3, 3}, {8, 7}}).Tensor()
	kerastest.Must(t, err)
	// The weight of other tokens is the mean.
	if got := fmt.Sprint(y); got != "[[0.  0.  3. ]\n [1.  0.5 0. ]]" {
		t.Errorf("got %s", got)
	}
	for what, err := range map[string]error{
		"no weights":       (&layers.IntegerLookup{OutputMode: layers.OutputTFIDF}).SetVocabulary(s, []int64{7}, nil),
		"weights of ints":  new(layers.IntegerLookup).SetVocabulary(s, []int64{7}, []float64{1}),
		"a token twice":    new(layers.StringLookup).SetVocabulary(s, []string{"a", "a"}, nil),
		"none":             new(layers.StringLookup).SetVocabulary(s, nil, nil),
		"a setting":        (&layers.StringLookup{Vocabulary: []string{"a"}}).SetVocabulary(s, []string{"b"}, nil),
		"a larger setting": (&layers.StringLookup{MaxTokens: new(2)}).SetVocabulary(s, []string{"b", "c"}, nil),
	} {
		if err == nil {
			t.Errorf("%s: no error", what)
		}
	}
}
