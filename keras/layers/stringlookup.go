package layers

import (
	"iter"

	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/keras/config"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/savedmodel"
	"github.com/cairnml/cairn/tensor"
)

// StringLookup turns strings into their numbers in a vocabulary, or back. The vocabulary is
// a setting, or comes from data by Adapt. Numbers begin with those of the special tokens: 0
// for the mask token in the mode OutputInt, then those of other strings.
type StringLookup struct {
	base.Layer
	// Invert turns numbers into strings.
	Invert bool
	// MaxTokens is the largest number of tokens, special ones included. Default: any.
	MaxTokens *int
	// NumOOVIndices is the number of numbers for strings outside of the vocabulary. A hash
	// chooses among several. With 0 such a string is an error. Default: 1.
	NumOOVIndices *int `keras:"num_oov_indices,default=1"`
	// OOVToken is the string for numbers outside of the vocabulary. Default: "[UNK]".
	OOVToken *string `keras:"oov_token,default=[UNK]"`
	// MaskToken is a string that has the number 0, and that other modes than OutputInt
	// ignore. Default: none.
	MaskToken *string
	// OutputMode is OutputInt, OutputOneHot, OutputMultiHot, OutputCount or OutputTFIDF.
	// Default: OutputInt.
	OutputMode string `keras:",default=int"`
	// Sparse makes outputs that are sparse tensors; see [base.SparseOf].
	Sparse bool
	// PadToMaxTokens makes vectors of MaxTokens elements. Default: of the vocabulary's size.
	PadToMaxTokens bool
	// IDFWeights are the weights of Vocabulary in the mode OutputTFIDF.
	IDFWeights []float64 `keras:"idf_weights"`
	// Vocabulary are the tokens. Default: Adapt finds them.
	Vocabulary []string
	// VocabularySize is the number of tokens, special ones included. The layer sets it.
	VocabularySize *int
	// Encoding is the name of the strings' encoding in Python. It is kept, and does nothing.
	// Default: utf-8.
	Encoding string `keras:",default=utf-8"`

	// VocabularyFile is a file with a token in each line, used instead of Vocabulary. It
	// becomes an asset of a SavedModel. Default: none.
	VocabularyFile *savedmodel.TrackableAsset `keras:"-" cairn:"-"`
	// NoOOVToken makes the OOV token no token at all, null in a config.
	NoOOVToken bool `keras:"-"`
	LookupState

	tokens        []string
	path          string
	hasVocabulary bool
}

func (l *StringLookup) index() *indexLookup[string] {
	i := &indexLookup[string]{name: "StringLookup", layer: &l.Layer, state: &l.LookupState, tokens: &l.tokens, size: &l.VocabularySize,
		invert: l.Invert, sparse: l.Sparse, pad: l.PadToMaxTokens, maxTokens: l.MaxTokens, oov: *l.NumOOVIndices,
		oovToken: l.OOVToken, maskToken: l.MaskToken, mode: l.OutputMode, vocabulary: l.Vocabulary, file: l.VocabularyFile, path: l.path,
		idf: l.IDFWeights, tokenType: tensor.String, hasVocabulary: l.hasVocabulary}
	if l.NoOOVToken {
		i.oovToken = nil
	}
	return i
}

// CompleteConfig sets the type of the outputs and the size of a vocabulary.
func (l *StringLookup) CompleteConfig() {
	l.OutputMode = newModeName(l.OutputMode)
	if l.DType == "string" {
		l.DType = "float32"
	}
	l.DType = categoryType(l.DType, l.OutputMode)
	l.index().completeConfig()
}

// newModeName replaces the older name of a mode.
func newModeName(mode string) string {
	switch mode {
	case "binary":
		return OutputMultiHot
	case "tf-idf":
		return OutputTFIDF
	}
	return mode
}

// DecodeConfig reads the config.
func (l *StringLookup) DecodeConfig(d *config.Decoder, fields map[string]any) error {
	return decodeLookup(d, "StringLookup", l, fields, &l.path, &l.NoOOVToken, &l.hasVocabulary)
}

// EncodeConfig returns the config.
func (l *StringLookup) EncodeConfig(e *config.Encoder) (config.Fields, error) {
	return encodeLookup(e, l, l.index(), l.NoOOVToken)
}

// BuildLayer makes the tables.
func (l *StringLookup) BuildLayer(*ops.Scope, base.Shapes) error { return l.index().build() }

// Weights lists the weights of the mode OutputTFIDF.
func (l *StringLookup) Weights(base.Shapes) ([]base.Weight, error) { return l.index().weights() }

// TakesSparse marks a layer that takes sparse inputs.
func (l *StringLookup) TakesSparse() {}

// TakesRagged marks a layer that takes ragged inputs.
func (l *StringLookup) TakesRagged() {}

// Call returns the numbers of x, or the strings.
func (l *StringLookup) Call(s *ops.Scope, x ops.Input) *ops.Value { return l.Run(s, l, x, nil) }

// Compute returns the numbers of x, or the strings.
func (l *StringLookup) Compute(s *ops.Scope, x *ops.Value) *ops.Value { return l.index().compute(s, x) }

// Adapt makes a vocabulary of the strings in all batches, the most frequent first, and
// forgets an earlier one. In the mode OutputTFIDF each row of a batch is a document.
func (l *StringLookup) Adapt(s *ops.Scope, batches iter.Seq[*ops.Value]) {
	if err := base.Complete(l); err != nil {
		s.Fail("StringLookup", err)
		return
	}
	l.index().adapt(s, l, batches, nil)
}

// Tokens returns the vocabulary with the special tokens, by number.
func (l *StringLookup) Tokens() ([]string, error) {
	if err := base.Complete(l); err != nil {
		return nil, err
	}
	i := l.index()
	if err := i.build(); err != nil {
		return nil, err
	}
	return i.all(), nil
}
