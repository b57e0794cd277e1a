package layers

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"iter"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"

	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/keras/config"
	"github.com/cairnml/cairn/keras/initializers"
	"github.com/cairnml/cairn/lookup"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/ops/raw"
	"github.com/cairnml/cairn/savedmodel"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// LookupState is what a layer that looks tokens up has besides its settings.
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
	tokens              *[]T // the vocabulary without special tokens
	size                **int
	invert, sparse, pad bool
	maxTokens           *int
	oov                 int // numbers for other tokens
	oovToken, maskToken *T
	mode                string
	vocabulary          []T
	file                *savedmodel.TrackableAsset
	path                string // of a config
	idf                 []float64
	tokenType           tensor.DType
	hasVocabulary       bool
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

// build makes the tables, unless the layer has them.
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

// defaultValue returns what the table has for keys that it lacks.
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

// weights lists the weights of the mode OutputTFIDF.
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
		if n = first.special + len(l.idf); l.pad {
			n = max(n, *l.maxTokens)
		}
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

// adapt makes a vocabulary of the tokens in all batches, the most frequent first. prepare
// makes tokens of a batch.
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
	n := weights.special + len(tokens)
	if l.pad {
		n = max(n, *l.maxTokens)
	}
	t, err := weights.Init(nil, l.layer.DType.Compute(), tensor.Shape{n})
	if err != nil {
		return err
	}
	return l.state.IDF.Store(t)
}

// decodeLookup reads the config of a lookup layer. A vocabulary that is a string is the path
// of a file.
func decodeLookup(d *config.Decoder, class string, layer any, fields map[string]any, path *string, noOOV, hasVocabulary *bool) error {
	rest := maps.Clone(fields)
	if p, ok := rest["vocabulary"].(string); ok {
		*path = p
		delete(rest, "vocabulary")
	}
	if v, ok := rest["oov_token"]; ok && v == nil {
		*noOOV = true
	}
	if v, ok := rest["has_input_vocabulary"]; ok {
		*hasVocabulary, ok = v.(bool)
		if !ok {
			return errors.New("has_input_vocabulary: want a bool")
		}
		delete(rest, "has_input_vocabulary")
	}
	return d.Fields(class, layer, rest)
}

// encodeLearned writes the tokens of the table, and their weights, into a config.
func (l *indexLookup[T]) encodeLearned(fields config.Fields) error {
	tokens, err := l.contents()
	if err != nil {
		return err
	}
	for i := range fields {
		switch f := &fields[i]; {
		case f.Name == "vocabulary":
			f.Value = tokens
		case f.Name == "idf_weights" && l.state.IDF != nil:
			t, err := tensor.Cast(l.state.IDF.Load(), tensor.Float64)
			if err != nil {
				return err
			}
			idf := tensor.Values[float64](t)
			if len(idf) < l.tokenStart()+len(tokens) {
				return fmt.Errorf("there are %d weights for %d tokens", len(idf), l.tokenStart()+len(tokens))
			}
			f.Value = idf[l.tokenStart() : l.tokenStart()+len(tokens)]
		}
	}
	return nil
}

// contents returns the tokens of the table without special ones.
func (l *indexLookup[T]) contents() ([]T, error) {
	if len(*l.tokens) > 0 {
		return *l.tokens, nil
	}
	return nil, errors.New("the tokens of the table aren't known; set Vocabulary")
}

// encodeLookup returns the config of a lookup layer.
func encodeLookup[T token](e *config.Encoder, layer any, index *indexLookup[T], noOOV bool) (config.Fields, error) {
	fields, err := e.Fields(layer)
	if err == nil && e.Learned() && index.vocabulary == nil && index.state.LookupTable != nil {
		return fields, index.encodeLearned(fields)
	}
	path, file := index.path, index.file
	if file != nil && path == "" {
		path = file.String()
	}
	for i := range fields {
		switch f := &fields[i]; {
		case f.Name == "vocabulary" && path != "":
			f.Value = path
		case f.Name == "oov_token" && noOOV:
			f.Value = nil
		}
	}
	return fields, err
}
