package shape

import (
	"fmt"

	"github.com/cairnml/cairn/graph"
)

// textRules returns the rules of ops on strings that elementwiseRules lacks.
func textRules() map[string]Rule {
	return join(
		rules(splitText, "StringSplit", "StringSplitV2"),
		rules(scalarOut, "StringFormat"),
		rules(unchanged, "UnicodeTranscode", "UnicodeScript", "NormalizeUTF8", "CaseFoldUTF8"),
		map[string]Rule{
			"Substr": substr, "UnsortedSegmentJoin": segments, "StringNGrams": ngrams, "UnicodeDecode": unicodeDecode,
			"UnicodeDecodeWithOffsets": unicodeDecode, "UnicodeEncode": unicodeEncode,
			"Fingerprint": fingerprint, "SdcaFprint": longFingerprint, "RegexSplitWithOffsets": regexSplit, "WordpieceTokenizeWithOffsets": wordpieces,
		})
}

// splitText infers a sparse matrix of parts.
func splitText(c *Inference) error {
	if err := c.need(2); err != nil {
		return err
	}
	if s := c.shape(0); s.HasRank() && s.Rank() > 1 {
		return fmt.Errorf("the strings have %d dimensions", s.Rank())
	}
	c.sparse(0, 2)
	return c.scalar(1)
}

// sparse sets outputs i to i+2 to a sparse tensor of some rank, -1 for an
// unknown one: indices, values and shape.
func (c *Inference) sparse(i, rank int) {
	n, r := graph.NewDim(), rank
	if r < 0 {
		r = graph.NewDim()
	}
	c.setDims(i, n, r)
	c.setDims(i+1, n)
	c.setDims(i+2, r)
}

// substr broadcasts the strings with positions and lengths.
func substr(c *Inference) error {
	if err := c.need(3); err != nil {
		return err
	}
	at, err := c.shape(1).Merge(c.shape(2))
	if err != nil {
		return fmt.Errorf("the positions and lengths: %w", err)
	}
	out, err := BroadcastShapes(c.shape(0), at)
	if err != nil {
		return err
	}
	c.set(0, out)
	return nil
}

// ngrams infers an unknown number of n-grams, and as many row splits as the input has.
func ngrams(c *Inference) error {
	if err := c.need(2); err != nil {
		return err
	}
	if _, err := c.vector(0); err != nil {
		return err
	}
	s, err := c.ranked(1, 1)
	if err != nil {
		return err
	}
	c.setDims(0, graph.NewDim())
	c.set(1, s)
	return nil
}

// unicodeDecode infers the characters of every string, as a ragged tensor.
func unicodeDecode(c *Inference) error {
	if err := c.need(1); err != nil {
		return err
	}
	rows := graph.NewDim()
	if n, ok := c.shape(0).NumElements(); ok {
		var err error
		if rows, err = AddDims(n, 1); err != nil {
			return err
		}
	}
	n := graph.NewDim()
	c.setDims(0, rows)
	c.setDims(1, n)
	c.setDims(2, n)
	return nil
}

// unicodeEncode infers one string per row.
func unicodeEncode(c *Inference) error {
	if err := c.need(2); err != nil {
		return err
	}
	if _, err := c.vector(0); err != nil {
		return err
	}
	n, err := c.vector(1)
	if err != nil {
		return err
	}
	if n == 0 {
		n = 1
	}
	rows, err := SubDims(n, 1)
	if err != nil {
		return err
	}
	c.setDims(0, rows)
	return nil
}

// regexSplit infers the parts of all texts, with their begins and ends, and row
// splits, one more than there are texts.
func regexSplit(c *Inference) error {
	if err := c.need(3); err != nil {
		return err
	}
	for i := 1; i < 3; i++ {
		if err := c.scalar(i); err != nil {
			return err
		}
	}
	return c.parts(3, 1)
}

// wordpieces infers the pieces of all words, with their begins and ends, and
// the number of pieces of each word.
func wordpieces(c *Inference) error {
	if err := c.need(2); err != nil {
		return err
	}
	more := 0
	if c.Attrs.String("output_row_partition_type", "row_lengths") == "row_splits" {
		more = 1
	}
	return c.parts(1, more)
}

// parts infers vectors of one unknown length for the parts of the texts in
// input 0. Output rows has one number per text and more additional ones.
func (c *Inference) parts(rows, more int) error {
	n := graph.NewDim()
	for i := range c.Out {
		c.setDims(i, n)
	}
	words := graph.NewDim()
	if s := c.shape(0); s.HasRank() {
		var err error
		if words, err = product(s.Dims()); err != nil {
			return err
		}
	}
	words, err := AddDims(words, more)
	if err != nil {
		return err
	}
	c.setDims(rows, words)
	return nil
}

// fingerprint infers eight bytes per row.
func fingerprint(c *Inference) error {
	if err := c.need(2); err != nil {
		return err
	}
	if err := c.scalar(1); err != nil {
		return err
	}
	s, err := c.minRank(0, 1)
	if err != nil {
		return err
	}
	n := graph.NewDim()
	if s.HasRank() {
		n = s.Dim(0)
	}
	c.setDims(0, n, 8)
	return nil
}

// longFingerprint infers two numbers for each text of a vector.
func longFingerprint(c *Inference) error {
	if err := c.need(1); err != nil {
		return err
	}
	x, err := c.shape(0).WithRank(1)
	if err != nil {
		return err
	}
	c.setDims(0, x.Dim(0), 2)
	return nil
}
