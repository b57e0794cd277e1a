package layers

import (
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/keras/config"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/savedmodel"
)

// None is the setting of a TextVectorization that leaves a step out, null in a config.
const None = "none"

// TextVectorization turns texts into numbers of tokens: it standardizes each text, splits it
// into tokens, joins neighbors, and looks the tokens up. Texts are a scalar, a vector, or a
// matrix of one column.
type TextVectorization struct {
	base.Layer
	// MaxTokens is the largest number of tokens, special ones included. Default: any.
	MaxTokens *int
	// Standardize is lower_and_strip_punctuation, lower, strip_punctuation or None. Default:
	// lower_and_strip_punctuation.
	Standardize string `keras:",default=lower_and_strip_punctuation"`
	// Split is whitespace, character or None. Default: whitespace.
	Split string `keras:",default=whitespace"`
	// NGrams are the numbers of neighbors that are joined. Default: none.
	NGrams NGrams `keras:"ngrams"`
	// OutputMode is OutputInt, OutputMultiHot, OutputCount, OutputTFIDF, or None for tokens
	// that aren't looked up. Default: OutputInt.
	OutputMode string `keras:",default=int"`
	// OutputSequenceLength is the number of tokens of each output in the mode OutputInt.
	// Default: that of the longest text of the batch.
	OutputSequenceLength *int
	// PadToMaxTokens makes vectors of MaxTokens elements. Default: of the vocabulary's size.
	PadToMaxTokens bool
	// Sparse makes outputs that are sparse tensors; see [base.SparseOf].
	Sparse bool
	// Ragged makes outputs that are ragged tensors in the mode OutputInt; see [base.RaggedOf].
	Ragged bool
	// Vocabulary are the tokens. Default: Adapt finds them.
	Vocabulary []string
	// IDFWeights are the weights of Vocabulary in the mode OutputTFIDF.
	IDFWeights []float64 `keras:"idf_weights"`
	// Encoding is the name of the strings' encoding in Python. It is kept, and does nothing.
	// Default: utf-8.
	Encoding string `keras:",default=utf-8"`
	// VocabularySize is the number of tokens, special ones included. The layer sets it.
	VocabularySize *int

	// VocabularyFile is a file with a token in each line, used instead of Vocabulary. It
	// becomes an asset of a SavedModel. Default: none.
	VocabularyFile *savedmodel.TrackableAsset `keras:"-" cairn:"-"`
	// StandardizeWith is used instead of Standardize. A layer with it has no config.
	StandardizeWith func(s *ops.Scope, texts *ops.Value) *ops.Value `keras:"-" cairn:"-"`
	// SplitWith is used instead of Split. It returns a dense or a ragged tensor of tokens. A
	// layer with it has no config.
	SplitWith func(s *ops.Scope, texts *ops.Value) *ops.Value `keras:"-" cairn:"-"`
	// Lookup looks the tokens up. It is nil until the layer is built.
	Lookup *StringLookup `keras:"-" cairn:"_lookup_layer"`

	path          string
	hasVocabulary bool
}

// NGrams are numbers of tokens that are joined, for each row and place.
type NGrams struct {
	// UpTo means all numbers from 1 to it, and is a number in a config. Default: Widths.
	UpTo int
	// Widths are the numbers.
	Widths []int
}

// MarshalConfig returns null, a number or a list of numbers.
func (n NGrams) MarshalConfig() (any, error) {
	switch {
	case n.UpTo > 0:
		return n.UpTo, nil
	case n.Widths == nil:
		return nil, nil
	}
	return n.Widths, nil
}

// UnmarshalConfig reads null, a number or a list of numbers.
func (n *NGrams) UnmarshalConfig(v any) error {
	number := func(v any) (int, error) {
		x, ok := v.(json.Number)
		if !ok {
			return 0, errors.New("got no number")
		}
		k, err := x.Int64()
		if err != nil || k < 1 || k > maxNGram {
			return 0, fmt.Errorf("got %.40s, want numbers from 1 to %d", x, maxNGram)
		}
		return int(k), nil
	}
	list, isList := v.([]any)
	out := NGrams{}
	var err error
	switch {
	case v == nil:
	case isList:
		out.Widths = make([]int, len(list))
		for i, x := range list {
			if out.Widths[i], err = number(x); err != nil {
				return err
			}
		}
	default:
		if out.UpTo, err = number(v); err != nil {
			return err
		}
	}
	*n = out
	return nil
}

// maxNGram is the largest number of tokens that are joined. The limit is Cairn's.
const maxNGram = 1 << 16

// widths returns the numbers, nil for no joining.
func (n NGrams) widths() ([]int64, error) {
	if n.UpTo == 0 && n.Widths == nil {
		return nil, nil
	}
	var out []int64
	for i := range max(n.UpTo, 0) {
		out = append(out, int64(i)+1)
	}
	for _, w := range n.Widths {
		out = append(out, int64(w))
	}
	if n.UpTo < 0 || n.UpTo > maxNGram || len(out) == 0 || slices.Min(out) < 1 {
		return nil, fmt.Errorf("NGrams is %v, want numbers from 1 to %d", n, maxNGram)
	}
	return out, nil
}

// CompleteConfig sets the type and the size of the vocabulary.
func (l *TextVectorization) CompleteConfig() {
	l.OutputMode = newModeName(l.OutputMode)
	if l.DType == "" || l.DType == "float32" {
		l.DType = "string"
	}
	if l.VocabularySize == nil {
		inner := l.newLookup()
		if base.Complete(inner) == nil {
			if l.VocabularySize = inner.VocabularySize; l.VocabularySize == nil {
				l.VocabularySize = new(inner.index().tokenStart())
			}
		}
	}
}

// newLookup returns a layer for the tokens.
func (l *TextVectorization) newLookup() *StringLookup {
	inner := &StringLookup{MaxTokens: l.MaxTokens, MaskToken: new(""), OutputMode: l.OutputMode, Sparse: l.Sparse, PadToMaxTokens: l.PadToMaxTokens,
		IDFWeights: l.IDFWeights, Vocabulary: l.Vocabulary, VocabularyFile: l.VocabularyFile, Encoding: l.Encoding, path: l.path, hasVocabulary: l.hasVocabulary}
	if l.OutputMode == None {
		inner.OutputMode = OutputInt
	}
	inner.Inline()
	return inner
}

// DecodeConfig reads the config. A null for a step is None.
func (l *TextVectorization) DecodeConfig(d *config.Decoder, fields map[string]any) error {
	for _, key := range []string{"standardize", "split", "output_mode"} {
		v, ok := fields[key]
		if _, isObject := v.(map[string]any); isObject {
			return fmt.Errorf("%s is a Python function; set StandardizeWith or SplitWith in Go", key)
		}
		if ok && v == nil {
			fields[key] = None
		}
	}
	var noOOV bool
	return decodeLookup(d, "TextVectorization", l, fields, &l.path, &noOOV, &l.hasVocabulary)
}

// EncodeConfig returns the config.
func (l *TextVectorization) EncodeConfig(e *config.Encoder) (config.Fields, error) {
	if l.StandardizeWith != nil || l.SplitWith != nil {
		return nil, errors.New("TextVectorization: StandardizeWith and SplitWith are Go functions, which have no config")
	}
	inner := l.Lookup
	if inner == nil {
		inner = l.newLookup()
		if err := base.Complete(inner); err != nil {
			return nil, err
		}
	}
	fields, err := encodeLookup(e, l, inner.index(), false)
	for i := range fields {
		switch f := &fields[i]; {
		case f.Name == "standardize" && l.Standardize == None, f.Name == "split" && l.Split == None, f.Name == "output_mode" && l.OutputMode == None:
			f.Value = nil
		}
	}
	return fields, err
}

// CompleteLayer checks the settings and makes the layer for the tokens.
func (l *TextVectorization) CompleteLayer() error {
	n := l.OutputSequenceLength
	switch {
	case !slices.Contains([]string{"lower_and_strip_punctuation", "lower", "strip_punctuation", None}, l.Standardize):
		return fmt.Errorf("unknown Standardize %q, want lower_and_strip_punctuation, lower, strip_punctuation or none", l.Standardize)
	case !slices.Contains([]string{"whitespace", "character", None}, l.Split):
		return fmt.Errorf("unknown Split %q, want whitespace, character or none", l.Split)
	case l.OutputMode == OutputOneHot:
		return errors.New("the OutputMode is one_hot, want int, multi_hot, count, tf_idf or none")
	case n != nil && (*n < 0 || l.OutputMode != OutputInt || l.Ragged):
		return fmt.Errorf("OutputSequenceLength is %d with the OutputMode %s and Ragged %v, want 0 or more with int and without Ragged", *n, l.OutputMode, l.Ragged)
	case l.Ragged && l.OutputMode != OutputInt:
		return fmt.Errorf("a ragged layer has the OutputMode %s, want int", l.OutputMode)
	case l.DType != "string":
		return fmt.Errorf("the dtype is %s, want string", l.DType)
	}
	if _, err := l.NGrams.widths(); err != nil {
		return err
	}
	if l.Lookup == nil {
		l.Lookup = l.newLookup()
	}
	return base.Complete(l.Lookup)
}

// BuildLayer builds the layer for the tokens.
func (l *TextVectorization) BuildLayer(s *ops.Scope, _ base.Shapes) error {
	if l.OutputMode == None {
		return nil
	}
	return base.Build(s, l.Lookup)
}

// TakesRagged marks a layer that takes ragged inputs.
func (l *TextVectorization) TakesRagged() {}

// Call returns the numbers of the tokens of x.
func (l *TextVectorization) Call(s *ops.Scope, x ops.Input) *ops.Value { return l.Run(s, l, x, nil) }

// Compute returns the numbers of the tokens of x.
func (l *TextVectorization) Compute(s *ops.Scope, x *ops.Value) *ops.Value {
	tokens := l.tokens(s, x)
	if l.OutputMode == None || s.Err() != nil {
		return tokens
	}
	numbers := l.Lookup.Call(s, tokens)
	if l.OutputMode != OutputInt || l.Ragged || s.Err() != nil {
		return numbers
	}
	length := int64(-1)
	if l.OutputSequenceLength != nil {
		length = int64(*l.OutputSequenceLength)
	}
	if r, ok := base.RaggedOf(numbers); ok {
		shape := make([]int64, len(r.Splits)+1)
		for i := range shape {
			shape[i] = -1
		}
		shape[len(r.Splits)] = length
		return r.ToDense(s, shape)
	}
	if length < 0 {
		return numbers
	}
	return withLength(s, numbers, int(length))
}

// withLength cuts or pads the last dimension.
func withLength(s *ops.Scope, x *ops.Value, length int) *ops.Value {
	rank := x.Fact().Shape.Rank()
	if rank < 1 {
		return s.Fail("TextVectorization", fmt.Errorf("tokens have the shape %v, want 1 dimension or more", x.Fact().Shape))
	}
	x = ops.StridedSlice(s, x, ops.Ellipsis(), ops.To(length))
	missing := ops.Sub(s, int32(length), ops.StridedSlice(s, ops.Shape(s, x), ops.At(-1)))
	paddings := ops.Pad(s, ops.Reshape(s, missing, 1, 1), [2]int{rank - 1, 0}, [2]int{1, 0})
	return ops.PadBy(s, x, paddings)
}

// Adapt makes a vocabulary of the tokens in all batches, the most frequent first, and
// forgets an earlier one. In the mode OutputTFIDF each text is a document.
func (l *TextVectorization) Adapt(s *ops.Scope, batches iter.Seq[*ops.Value]) {
	if err := base.Complete(l); err != nil {
		s.Fail("TextVectorization", err)
		return
	}
	l.Lookup.index().adapt(s, l, batches, func(x *ops.Value) *ops.Value { return l.tokens(s, x) })
	l.VocabularySize = l.Lookup.VocabularySize
}

// Tokens returns the vocabulary with the special tokens, by number.
func (l *TextVectorization) Tokens() ([]string, error) {
	if err := base.Complete(l); err != nil {
		return nil, err
	}
	return l.Lookup.Tokens()
}
