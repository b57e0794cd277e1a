package layers

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"maps"
	"math"
	"slices"

	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
)

// adapt makes a vocabulary of the tokens in all batches, the most frequent first; of equal counts
// the larger token comes first, as in tf_keras's IndexLookup.finalize_state. prepare makes tokens of a
// batch; nil takes it as it is. The vocabulary changes at the end, unless a batch has failed.
func (l *indexLookup[T]) adapt(s *ops.Scope, self base.LayerLike, batches iter.Seq[*ops.Value], prepare func(x *ops.Value) *ops.Value) {
	fail := func(err error) { s.Fail(l.name, err) }
	if l.vocabulary != nil || l.file != nil || l.hasVocabulary {
		fail(errors.New("the vocabulary is a setting, so that there is nothing to adapt"))
		return
	}
	counts, inDocuments, documents, first := map[T]int64{}, map[T]int64{}, int64(0), true
	for x := range batches {
		if first {
			if err := base.Build(s, self, x.Shape()); err != nil {
				fail(err)
				return
			}
			setAnySizes(self.AsLayer(), x)
			first = false
		}
		if prepare != nil {
			x = prepare(x)
		}
		rows, err := rowsOfTokens[T](s, x)
		if err != nil {
			fail(err)
			return
		}
		for _, row := range rows {
			here := map[T]bool{}
			for _, t := range row {
				counts[t]++
				if l.mode == OutputTFIDF && !here[t] {
					inDocuments[t]++
					here[t] = true
				}
			}
		}
		documents += int64(len(rows))
	}
	if s.Err() != nil {
		return
	}
	if len(counts) == 0 {
		*l.size = new(l.tokenStart() + len(*l.tokens))
		return
	}
	for _, special := range []*T{l.maskToken, l.oovToken} {
		if special != nil {
			delete(counts, *special)
		}
	}
	tokens := slices.SortedFunc(maps.Keys(counts), func(a, b T) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(b, a))
	})
	if l.maxTokens != nil {
		tokens = tokens[:max(0, min(len(tokens), *l.maxTokens-l.tokenStart()))]
	}
	err := l.setTokens(tokens)
	if err == nil && l.mode == OutputTFIDF {
		err = l.setIDF(tokens, inDocuments, documents)
	}
	if err != nil {
		fail(err)
	}
}

// rowsOfTokens returns the tokens of each row of a matrix or of a ragged tensor. A vector
// is one row.
func rowsOfTokens[T token](s *ops.Scope, x *ops.Value) ([][]T, error) {
	ragged, isRagged := base.RaggedOf(x)
	var none T
	if _, isString := any(none).(string); !isString {
		x = ops.Cast(s, x, tensor.Int64)
	}
	t, err := x.Tensor()
	if err != nil {
		return nil, err
	}
	var all []T
	switch p := any(&all).(type) {
	case *[]string:
		if t.DType() != tensor.String {
			return nil, fmt.Errorf("the data are of %v, want strings", t.DType())
		}
		*p = t.Strings()
	case *[]int64:
		*p = tensor.Values[int64](t)
	}
	if !isRagged {
		shape := t.Shape()
		if len(shape) < 2 {
			return [][]T{all}, nil
		}
		rows := make([][]T, shape[0])
		for i := range rows {
			n := len(all) / shape[0]
			rows[i] = all[i*n : (i+1)*n]
		}
		return rows, nil
	}
	if len(ragged.Splits) != 1 {
		return nil, fmt.Errorf("the data have %d ragged dimensions, want 1", len(ragged.Splits))
	}
	at, err := ops.Cast(s, ragged.Splits[0], tensor.Int64).Tensor()
	if err != nil {
		return nil, err
	}
	splits := tensor.Values[int64](at)
	rows := make([][]T, max(len(splits)-1, 0))
	for i := range rows {
		if splits[i] < 0 || splits[i] > splits[i+1] || splits[i+1] > int64(len(all)) {
			return nil, fmt.Errorf("the row splits of the data are wrong at %d", i)
		}
		rows[i] = all[splits[i]:splits[i+1]]
	}
	return rows, nil
}

// setIDF sets the weights of tokens by the number of rows that have them.
func (l *indexLookup[T]) setIDF(tokens []T, in map[T]int64, documents int64) error {
	weights := idfWeights{l.tokenStart(), make([]float64, len(tokens))}
	for i, t := range tokens {
		weights.tokens[i] = math.Log(1 + float64(documents)/float64(1+in[t]))
	}
	return l.storeIDF(weights)
}
