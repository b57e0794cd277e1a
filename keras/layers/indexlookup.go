package layers

import (
	"bufio"
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/lookup"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/ops/raw"
	"github.com/cairnml/cairn/savedmodel"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// LookupState is the state of a layer that looks tokens up, besides its
// settings.
type LookupState struct {
	// LookupTable has the numbers of the tokens, or the tokens of the numbers. It is nil until
	// the layer has a vocabulary.
	LookupTable *lookup.StaticHashTable `keras:"-"`
	// TokenCounts counts tokens within Adapt. It is nil if the vocabulary is a setting.
	TokenCounts *lookup.MutableHashTable `keras:"-"`
	// TokenDocumentCounts counts rows with a token within Adapt, in the mode OutputTFIDF.
	TokenDocumentCounts *lookup.MutableHashTable `keras:"-"`
	// IDF are the weights of the tokens in the mode OutputTFIDF, nil until the layer is built.
	IDF *trackable.Variable `cairn:"-"`
	// NumDocuments counts rows within Adapt, in the mode OutputTFIDF.
	NumDocuments *trackable.Variable `cairn:"-"`
}

// HoldsTables reports whether the layer counts tokens.
func (s *LookupState) HoldsTables() bool { return s.TokenCounts != nil }

// token is a type of tokens.
type token interface{ string | int64 }

// indexLookup has the settings and the state that lookup layers share.
type indexLookup[T token] struct {
	name                string
	layer               *base.Layer
	state               *LookupState
	tokens              *[]T  // the vocabulary without special tokens
	size                **int // the field VocabularySize
	invert, sparse, pad bool  // the settings Invert, Sparse and PadToMaxTokens
	maxTokens           *int
	oov                 int // how many numbers there are for other tokens
	oovToken, maskToken *T
	mode                string
	vocabulary          []T
	file                *savedmodel.TrackableAsset
	path                string // the path of a vocabulary's file in a config
	idf                 []float64
	tokenType           tensor.DType
	hasVocabulary       bool // the config states that there is a vocabulary, but its tokens are in another file of the model
}

// oovStart returns the number of the first of the other tokens.
func (l *indexLookup[T]) oovStart() int {
	if l.maskToken != nil && l.mode == OutputInt {
		return 1
	}
	return 0
}

// tokenStart returns the number of the first token.
func (l *indexLookup[T]) tokenStart() int { return l.oovStart() + l.oov }

// check returns an error if settings exclude each other.
func (l *indexLookup[T]) check() error {
	err := checkMode(l.mode, l.sparse, OutputInt, OutputOneHot, OutputMultiHot, OutputCount, OutputTFIDF)
	if err == nil {
		err = checkNumbers(l.layer.DType, l.mode)
	}
	switch {
	case err != nil:
		return err
	case l.maxTokens != nil && *l.maxTokens <= 1:
		return fmt.Errorf("MaxTokens is %d, want more than 1", *l.maxTokens)
	case l.pad && l.maxTokens == nil:
		return errors.New("PadToMaxTokens is set without MaxTokens")
	case l.oov < 0 || l.oov > math.MaxInt32:
		return fmt.Errorf("NumOOVIndices is %d, want 0 to %d", l.oov, math.MaxInt32)
	case l.invert && l.mode != OutputInt:
		return fmt.Errorf("an inverted layer has the OutputMode %s, want int", l.mode)
	case l.invert && l.oovToken == nil:
		return errors.New("an inverted layer needs an OOVToken")
	case l.idf != nil && l.mode != OutputTFIDF:
		return fmt.Errorf("IDFWeights has the OutputMode %s, want tf_idf", l.mode)
	case l.path != "" && l.file == nil:
		return fmt.Errorf("the vocabulary is the file %q, which a config can't open; set VocabularyFile", l.path)
	case l.file != nil && l.vocabulary != nil:
		return errors.New("there are a Vocabulary and a VocabularyFile, want one of them")
	case l.file != nil && l.mode == OutputTFIDF:
		return errors.New("the OutputMode tf_idf takes no VocabularyFile")
	case l.vocabulary != nil && l.mode == OutputTFIDF && len(l.idf) != len(l.vocabulary):
		return fmt.Errorf("there are %d IDFWeights, want one for each of %d tokens", len(l.idf), len(l.vocabulary))
	}
	return nil
}

// clean returns a vocabulary without the special tokens at its front, and whether it had them.
func (l *indexLookup[T]) clean(vocabulary []T) (tokens []T, special bool, err error) {
	if len(vocabulary) == 0 {
		return nil, false, errors.New("the vocabulary is empty")
	}
	start := l.tokenStart()
	special = len(vocabulary) >= start
	for i := range min(start, len(vocabulary)) {
		want := l.oovToken
		if i < l.oovStart() {
			want = l.maskToken
		}
		special = special && want != nil && vocabulary[i] == *want
	}
	tokens = vocabulary
	if special {
		tokens = vocabulary[start:]
	}
	seen := make(map[T]bool, len(tokens))
	for i, t := range tokens {
		switch {
		case seen[t]:
			return nil, false, fmt.Errorf("the vocabulary has the token %v twice", t)
		case l.maskToken != nil && t == *l.maskToken:
			return nil, false, fmt.Errorf("the vocabulary has the mask token %v as token %d; special tokens come first or not at all", t, i)
		case l.oovToken != nil && l.invert && t == *l.oovToken:
			return nil, false, fmt.Errorf("the vocabulary has the OOV token %v as token %d; special tokens come first or not at all", t, i)
		}
		seen[t] = true
	}
	if l.maxTokens != nil && start+len(tokens) > *l.maxTokens {
		return nil, false, fmt.Errorf("the vocabulary has %d tokens, MaxTokens is %d", start+len(tokens), *l.maxTokens)
	}
	return tokens, special, nil
}

// completeConfig sets the size of the vocabulary if the latter is a setting.
func (l *indexLookup[T]) completeConfig() {
	if l.vocabulary == nil || *l.size != nil || l.check() != nil {
		return
	}
	if tokens, _, err := l.clean(l.vocabulary); err == nil {
		*l.size = new(l.tokenStart() + len(tokens))
	}
}

// build makes the tables, unless the layer has them: of the vocabulary that is a setting, else those
// that count within Adapt. An error leaves the layer without a table.
func (l *indexLookup[T]) build() error {
	if err := l.check(); err != nil {
		return err
	}
	switch {
	case l.state.LookupTable != nil || l.state.TokenCounts != nil:
		return nil
	case l.vocabulary != nil:
		tokens, _, err := l.clean(l.vocabulary)
		if err != nil {
			return err
		}
		return l.setTokens(tokens)
	case l.file != nil:
		return l.setFile()
	case l.hasVocabulary:
		return nil
	}
	var err error
	if l.state.TokenCounts, err = lookup.NewMutableHashTable(l.tokenType, int64(0), nil); err == nil && l.mode == OutputTFIDF {
		l.state.TokenDocumentCounts, err = lookup.NewMutableHashTable(l.tokenType, int64(0), nil)
	}
	return err
}

// setTokens makes the table of tokens.
func (l *indexLookup[T]) setTokens(tokens []T) error {
	if err := l.setSize(len(tokens)); err != nil {
		return err
	}
	numbers := make([]int64, len(tokens))
	for i := range numbers {
		numbers[i] = int64(l.tokenStart() + i)
	}
	keys, err := l.tensorOf(tokens)
	if err != nil {
		return err
	}
	values, err := tensor.Cast(tensor.Vector(numbers...), l.numberType())
	if err != nil {
		return err
	}
	if l.invert {
		keys, values = values, keys
	}
	def, err := l.defaultValue()
	if err != nil {
		return err
	}
	t, err := lookup.NewStaticHashTable(lookup.KeyValueTensorInitializer{Keys: keys, Values: values}, def, nil)
	if err == nil {
		l.state.LookupTable, *l.tokens = t, tokens
	}
	return err
}

// setFile makes the table of a file.
func (l *indexLookup[T]) setFile() error {
	tokens, err := readTokens[T](l.file)
	if err != nil {
		return err
	}
	if err := l.setSize(len(tokens)); err != nil {
		return err
	}
	init := lookup.TextFileInitializer{File: l.file, KeyIndex: lookup.WholeLine, KeyDType: l.tokenType, ValueIndex: lookup.LineNumber, Offset: l.tokenStart()}
	if l.invert {
		init.KeyIndex, init.KeyDType, init.ValueIndex, init.ValueDType = lookup.LineNumber, tensor.Invalid, lookup.WholeLine, l.tokenType
	}
	def, err := l.defaultValue()
	if err != nil {
		return err
	}
	t, err := lookup.NewStaticHashTable(init, def, nil)
	if err == nil {
		l.state.LookupTable, *l.tokens = t, tokens
	}
	return err
}

// readTokens returns the lines of a file.
func readTokens[T token](file *savedmodel.TrackableAsset) (tokens []T, err error) {
	f, err := file.Open()
	if err != nil {
		return nil, err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, math.MaxInt32)
	for lines.Scan() {
		var t T
		switch p := any(&t).(type) {
		case *string:
			*p = lines.Text()
		case *int64:
			if *p, err = strconv.ParseInt(lines.Text(), 10, 64); err != nil {
				return nil, fmt.Errorf("line %d of %s: %w", len(tokens), file, err)
			}
		}
		tokens = append(tokens, t)
	}
	return tokens, lines.Err()
}

// setSize sets the size of the vocabulary, which the first outputs of some modes fix.
func (l *indexLookup[T]) setSize(tokens int) error {
	n := l.tokenStart() + tokens
	if before := *l.size; before != nil && *before != n && l.mode != OutputInt && !l.pad {
		return fmt.Errorf("the vocabulary has %d tokens, before it had %d; with the OutputMode %s and without PadToMaxTokens its size can't change", n, *before, l.mode)
	}
	*l.size = new(n)
	return nil
}

// numberType returns the type of the tokens' numbers.
func (l *indexLookup[T]) numberType() tensor.DType {
	if l.mode == OutputInt {
		return l.layer.DType.Compute()
	}
	return tensor.Int64
}

// tensorOf returns tokens as a vector.
func (l *indexLookup[T]) tensorOf(tokens []T) (*tensor.Tensor, error) {
	switch t := any(tokens).(type) {
	case []string:
		return tensor.FromStrings(tensor.String, t, len(t))
	case []int64:
		return tensor.Cast(tensor.Vector(t...), l.tokenType)
	}
	panic("unreachable")
}

// scalar returns a token as a scalar.
func (l *indexLookup[T]) scalar(t T) (*tensor.Tensor, error) {
	v, err := l.tensorOf([]T{t})
	if err != nil {
		return nil, err
	}
	return v.Reshape()
}

// defaultValue returns the table's value for keys that it lacks.
func (l *indexLookup[T]) defaultValue() (*tensor.Tensor, error) {
	switch {
	case l.invert:
		return l.scalar(*l.oovToken)
	case l.oov == 1:
		return tensor.Cast(tensor.Scalar(int64(l.oovStart())), l.numberType())
	}
	return tensor.Cast(tensor.Scalar(int64(-1)), l.numberType())
}

// all returns the tokens by their numbers, special ones included.
func (l *indexLookup[T]) all() []T {
	out := make([]T, l.tokenStart(), l.tokenStart()+len(*l.tokens))
	for i := range out {
		if i < l.oovStart() {
			out[i] = *l.maskToken
		} else if l.oovToken != nil {
			out[i] = *l.oovToken
		}
	}
	return append(out, *l.tokens...)
}

// compute returns the output for an input of any form.
func (l *indexLookup[T]) compute(s *ops.Scope, x *ops.Value) *ops.Value {
	if l.state.LookupTable == nil {
		return s.Fail(l.name, errors.New("there is no vocabulary; set Vocabulary or call Adapt"))
	}
	numbers := base.MapElements(s, x, func(x *ops.Value) *ops.Value { return l.lookup(s, x) })
	if l.mode == OutputInt {
		return numbers
	}
	e := &encoding{mode: l.mode, depth: **l.size, dtype: l.layer.DType.Compute(), sparse: l.sparse}
	if l.pad {
		e.depth = *l.maxTokens
	}
	if l.mode == OutputTFIDF {
		e.idf = l.state.IDF
	}
	return e.encode(s, l.name, numbers)
}

// lookup returns the numbers of tokens, or the tokens of numbers.
func (l *indexLookup[T]) lookup(s *ops.Scope, x *ops.Value) *ops.Value {
	key := l.tokenType
	if l.invert {
		key = l.numberType()
	}
	if (x.DType() == tensor.String) != (key == tensor.String) {
		return s.Fail(l.name, fmt.Errorf("the input is of %v, want %v", x.DType(), key))
	}
	if key != tensor.String {
		x = ops.Cast(s, x, key)
	}
	y := l.state.LookupTable.Lookup(s, x)
	if l.maskToken != nil {
		y = l.masked(s, x, y)
	}
	if l.invert || l.oov == 1 {
		return y
	}
	missing := ops.Equal(s, y, ops.ConstOf(s, y.DType(), -1))
	if l.oov == 0 {
		others := ops.GatherND(s, x, ops.WhereIndices(s, missing))
		text := raw.StringFormat(s, []ops.Input{others}, &raw.StringFormatOptions{Placeholder: raw.Set("{}"),
			Template: raw.Set("When `num_oov_indices=0` all inputs should be in vocabulary, found OOV values {}, consider setting `num_oov_indices=1`.")})
		raw.Assert(s, ops.Equal(s, ops.Size(s, others), int32(0)), []ops.Input{text}, nil)
		return y
	}
	var others *ops.Value
	if key == tensor.String {
		others = raw.StringToHashBucketFast(s, x, int64(l.oov))
	} else {
		others = ops.Mod(s, x, ops.ConstOf(s, key, l.oov))
	}
	others = ops.Add(s, ops.Cast(s, others, y.DType()), ops.ConstOf(s, y.DType(), l.oovStart()))
	return ops.Where(s, missing, others, y)
}

// masked replaces the outputs for mask tokens.
func (l *indexLookup[T]) masked(s *ops.Scope, x, y *ops.Value) *ops.Value {
	mask, err := l.scalar(*l.maskToken)
	if err != nil {
		return s.Fail(l.name, err)
	}
	d := x.DType()
	switch {
	case l.invert:
		return ops.Where(s, ops.Equal(s, x, ops.ConstOf(s, d, 0)), mask, y)
	case l.mode == OutputInt:
		return ops.Where(s, ops.Equal(s, x, mask), ops.ConstOf(s, y.DType(), 0), y)
	}
	return ops.Where(s, ops.Equal(s, x, mask), int64(math.MaxInt64), y) // which no output counts
}
