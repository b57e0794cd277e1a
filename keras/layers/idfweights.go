package layers

import (
	"math/rand/v2"

	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/keras/initializers"
	"github.com/cairnml/cairn/tensor"
)

// weights lists the weights of the mode OutputTFIDF: one for each number, special tokens included.
// StringLookup, IntegerLookup and TextVectorization have them. Names and edges are those of
// tf_keras's IndexLookup.
func (l *indexLookup[T]) weights() ([]base.Weight, error) {
	if l.mode != OutputTFIDF {
		return nil, nil
	}
	n := l.tokenStart()
	var first idfWeights
	if l.vocabulary != nil {
		_, special, err := l.clean(l.vocabulary)
		if err != nil {
			return nil, err
		}
		if first.tokens = l.idf; !special {
			first.special = l.tokenStart()
		}
		n = l.countIDF(first)
	}
	list := []base.Weight{{To: &l.state.IDF, Edge: "idf_weights", Name: "/Variable", Shape: tensor.Shape{n}, Open: tensor.Shape{-1},
		DType: l.layer.DType.Compute(), Init: first, NotTrainable: true}}
	if l.vocabulary == nil && !l.hasVocabulary {
		list = append(list, base.Weight{To: &l.state.NumDocuments, Edge: "num_documents", Name: "/Variable",
			DType: tensor.Int64, Init: initializers.Zeros{}, NotTrainable: true})
	}
	return list, nil
}

// idfWeights makes the weights of tokens: the mean for each of some special ones, those of
// the others, and zeros.
type idfWeights struct {
	special int
	tokens  []float64
}

// Init returns the weights.
func (w idfWeights) Init(_ *rand.Rand, d tensor.DType, shape tensor.Shape) (*tensor.Tensor, error) {
	t, err := tensor.Zeros(tensor.Float64, shape...)
	if err != nil {
		return nil, err
	}
	sum := 0.0
	for _, x := range w.tokens {
		sum += x
	}
	all := tensor.Values[float64](t)
	for i := range w.special {
		all[i] = sum / float64(len(w.tokens))
	}
	copy(all[w.special:], w.tokens)
	return tensor.Cast(t, d)
}

// storeIDF sets the variable of the weights, with zeros for tokens that there may be.
func (l *indexLookup[T]) storeIDF(w idfWeights) error {
	t, err := w.Init(nil, l.layer.DType.Compute(), tensor.Shape{l.countIDF(w)})
	if err != nil {
		return err
	}
	return l.state.IDF.Store(t)
}

// countIDF returns the number of weights, those of tokens that there may be included.
func (l *indexLookup[T]) countIDF(w idfWeights) int {
	n := w.special + len(w.tokens)
	if l.pad {
		n = max(n, *l.maxTokens)
	}
	return n
}
