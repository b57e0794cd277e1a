package layers

import (
	"fmt"
	"iter"

	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/keras/config"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/savedmodel"
	"github.com/cairnml/cairn/tensor"
)

// IntegerLookup turns integers into their numbers in a vocabulary, or back. The vocabulary is
// a setting, or comes from data by Adapt. Numbers begin with those of the special tokens: 0
// for the mask token in the mode OutputInt, then those of other integers.
type IntegerLookup struct {
	base.Layer
	// Invert turns numbers back.
	Invert bool
	// MaxTokens is the largest number of tokens, special ones included. Default: any.
	MaxTokens *int
	// NumOOVIndices is the number of numbers for integers outside of the vocabulary. The
	// integer modulo their number chooses among several. With 0 such an integer is an error. Default: 1.
	NumOOVIndices *int `keras:"num_oov_indices,default=1"`
	// OOVToken is the integer for numbers outside of the vocabulary. Default: -1.
	OOVToken *int64 `keras:"oov_token,default=-1"`
	// MaskToken is an integer that has the number 0, and that other modes than OutputInt
	// ignore. Default: none.
	MaskToken *int64
	// OutputMode is OutputInt, OutputOneHot, OutputMultiHot, OutputCount or OutputTFIDF.
	// Default: OutputInt.
	OutputMode string `keras:",default=int"`
	// Sparse makes outputs that are sparse tensors; see [base.SparseOf].
	Sparse bool
	// PadToMaxTokens makes vectors of MaxTokens elements. Default: of the vocabulary's size.
	PadToMaxTokens bool
	// VocabularyDType is the type of the tokens, an integer one. Default: int64.
	VocabularyDType string `keras:"vocabulary_dtype,default=int64"`
	// IDFWeights are the weights of Vocabulary in the mode OutputTFIDF.
	IDFWeights []float64 `keras:"idf_weights"`
	// Vocabulary are the tokens. Default: Adapt finds them.
	Vocabulary []int64
	// VocabularySize is the number of tokens, special ones included. The layer sets it.
	VocabularySize *int

	// VocabularyFile is a file with a token in each line, used instead of Vocabulary. It
	// becomes an asset of a SavedModel. Default: none.
	VocabularyFile *savedmodel.TrackableAsset `keras:"-" cairn:"-"`
	// NoOOVToken makes the OOV token no token at all, null in a config.
	NoOOVToken bool `keras:"-"`
	LookupState

	tokens        []int64
	path          string
	hasVocabulary bool
}

func (l *IntegerLookup) index() *indexLookup[int64] {
	i := &indexLookup[int64]{name: "IntegerLookup", layer: &l.Layer, state: &l.LookupState, tokens: &l.tokens, size: &l.VocabularySize,
		invert: l.Invert, sparse: l.Sparse, pad: l.PadToMaxTokens, maxTokens: l.MaxTokens, oov: *l.NumOOVIndices,
		oovToken: l.OOVToken, maskToken: l.MaskToken, mode: l.OutputMode, vocabulary: l.Vocabulary, file: l.VocabularyFile, path: l.path,
		idf: l.IDFWeights, tokenType: l.tokenType(), hasVocabulary: l.hasVocabulary}
	if l.NoOOVToken {
		i.oovToken = nil
	}
	return i
}

// tokenType returns the type of the tokens, tensor.Invalid if it is none of integers.
func (l *IntegerLookup) tokenType() tensor.DType {
	d, err := tensor.ParseDType(l.VocabularyDType)
	if err != nil || !d.IsInteger() {
		return tensor.Invalid
	}
	return d
}

// CompleteConfig sets the type of the outputs and the size of a vocabulary.
func (l *IntegerLookup) CompleteConfig() {
	if l.OutputMode = newModeName(l.OutputMode); l.OutputMode != OutputInt && l.DType == "int64" {
		l.DType = "float32"
	}
	l.DType = categoryType(l.DType, l.OutputMode)
	l.index().completeConfig()
}

// DecodeConfig reads the config.
func (l *IntegerLookup) DecodeConfig(d *config.Decoder, fields map[string]any) error {
	return decodeLookup(d, "IntegerLookup", l, fields, &l.path, &l.NoOOVToken, &l.hasVocabulary)
}

// EncodeConfig returns the config.
func (l *IntegerLookup) EncodeConfig(e *config.Encoder) (config.Fields, error) {
	return encodeLookup(e, l, l.index(), l.NoOOVToken)
}

// BuildLayer makes the tables.
func (l *IntegerLookup) BuildLayer(*ops.Scope, base.Shapes) error {
	if l.tokenType() == tensor.Invalid {
		return fmt.Errorf("VocabularyDType is %q, want an integer type", l.VocabularyDType)
	}
	return l.index().build()
}

// Weights lists the weights of the mode OutputTFIDF.
func (l *IntegerLookup) Weights(base.Shapes) ([]base.Weight, error) { return l.index().weights() }

// TakesSparse marks a layer that takes sparse inputs.
func (l *IntegerLookup) TakesSparse() {}

// TakesRagged marks a layer that takes ragged inputs.
func (l *IntegerLookup) TakesRagged() {}

// Call returns the numbers of x, or the integers.
func (l *IntegerLookup) Call(s *ops.Scope, x ops.Input) *ops.Value { return l.Run(s, l, x, nil) }

// Compute returns the numbers of x, or the integers.
func (l *IntegerLookup) Compute(s *ops.Scope, x *ops.Value) *ops.Value {
	return l.index().compute(s, x)
}

// Adapt makes a vocabulary of the integers in all batches, the most frequent first, and
// forgets an earlier one. In the mode OutputTFIDF each row of a batch is a document.
func (l *IntegerLookup) Adapt(s *ops.Scope, batches iter.Seq[*ops.Value]) {
	if err := base.Complete(l); err != nil {
		s.Fail("IntegerLookup", err)
		return
	}
	l.index().adapt(s, l, batches, nil)
}

// Tokens returns the vocabulary with the special tokens, by number.
func (l *IntegerLookup) Tokens() ([]int64, error) {
	if err := base.Complete(l); err != nil {
		return nil, err
	}
	i := l.index()
	if err := i.build(); err != nil {
		return nil, err
	}
	return i.all(), nil
}
