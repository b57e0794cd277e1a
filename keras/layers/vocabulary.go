package layers

import (
	"errors"
	"fmt"

	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/ops"
)

// SetVocabulary sets the tokens as Adapt does, without data. The special tokens may be at
// their front. idf are the weights of the tokens in the mode OutputTFIDF, else nil; special
// tokens have the mean, unless idf has weights for them too. A layer whose vocabulary is a
// setting is an error.
func (l *StringLookup) SetVocabulary(s *ops.Scope, tokens []string, idf []float64) error {
	if err := base.Complete(l); err != nil {
		return err
	}
	return l.index().setVocabulary(s, l, tokens, idf)
}

// SetVocabulary sets the tokens, as [StringLookup.SetVocabulary] does.
func (l *IntegerLookup) SetVocabulary(s *ops.Scope, tokens []int64, idf []float64) error {
	if err := base.Complete(l); err != nil {
		return err
	}
	return l.index().setVocabulary(s, l, tokens, idf)
}

// SetVocabulary sets the tokens, as [StringLookup.SetVocabulary] does.
func (l *TextVectorization) SetVocabulary(s *ops.Scope, tokens []string, idf []float64) error {
	if err := base.Complete(l); err != nil {
		return err
	}
	if l.OutputMode == None {
		return errors.New("TextVectorization: SetVocabulary: the OutputMode is none, which has no vocabulary")
	}
	if err := l.Lookup.SetVocabulary(s, tokens, idf); err != nil {
		return err
	}
	l.VocabularySize = l.Lookup.VocabularySize
	return nil
}

// setVocabulary makes the table of tokens, and the weights of the mode OutputTFIDF.
func (l *indexLookup[T]) setVocabulary(s *ops.Scope, self base.LayerLike, vocabulary []T, idf []float64) error {
	fail := func(err error) error { return fmt.Errorf("%s: SetVocabulary: %w", l.name, err) }
	if l.vocabulary != nil || l.file != nil {
		return fail(errors.New("the vocabulary is a setting"))
	}
	tokens, special, err := l.clean(vocabulary)
	if err != nil {
		return fail(err)
	}
	if want := len(vocabulary); (l.mode == OutputTFIDF) != (idf != nil) || idf != nil && len(idf) != want {
		return fail(fmt.Errorf("there are %d weights with the OutputMode %s and %d tokens", len(idf), l.mode, want))
	}
	if err := base.Build(s, self, nil); err != nil {
		return fail(err)
	}
	if err := l.setTokens(tokens); err != nil || idf == nil {
		return err
	}
	weights := idfWeights{tokens: idf}
	if !special {
		weights.special = l.tokenStart()
	}
	return l.storeIDF(weights)
}
