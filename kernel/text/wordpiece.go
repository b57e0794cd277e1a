package text

import (
	"fmt"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/tensor"
)

// The kernel of WordpieceTokenizeWithOffsets, an op of TensorFlow Text.

// vocabulary is the table of a wordpiece tokenizer. Table in kernel/lookup
// implements it.
type vocabulary interface {
	// Number returns the number of a key, -1 if the key is missing.
	Number(key string) (int64, error)
}

// wordpiece splits words into the longest pieces that a vocabulary has.
type wordpiece struct {
	suffix       string // prefix of pieces that don't begin a word
	unknown      string // piece for an unknown word, if useUnknown
	useUnknown   bool
	splitUnknown bool  // a character that no piece begins with is a piece itself
	maxWord      int64 // bytes
	maxPiece     int64 // characters; 0: any number
	splits       bool  // the output has the words' pieces by row splits, not by lengths
}

// wordpieces returns the pieces of all words, the rows, and the beginnings and
// ends in bytes.
func wordpieces(n *engine.Node) (func(*engine.Call) error, error) {
	as := n.Attrs
	w := wordpiece{
		suffix: as.String("suffix_indicator", ""), unknown: as.String("unknown_token", ""),
		useUnknown: as.Bool("use_unknown_token"), splitUnknown: as.Bool("split_unknown_characters"),
		maxWord: as.Int("max_bytes_per_word", 0), maxPiece: as.Int("max_chars_per_token", 0),
		splits: as.String("output_row_partition_type", "row_lengths") == "row_splits",
	}
	return func(c *engine.Call) error {
		if c.NumIn() != 2 || c.In(0) == nil {
			return fmt.Errorf("takes words and the table of a vocabulary")
		}
		words, err := texts(c, 0)
		if err != nil {
			return err
		}
		v, err := engine.Object[vocabulary](c, 1)
		if err != nil {
			return err
		}
		p := pieces{room: budget{c: c}}
		var rows []int64
		if w.splits {
			rows = append(rows, 0)
		}
		for _, word := range words {
			before := len(p.texts)
			if err := w.word(&p, v, word); err != nil {
				return err
			}
			n := len(p.texts)
			if !w.splits {
				n -= before
			}
			rows = append(rows, int64(n))
		}
		c.Set(0, tensor.Vector(p.texts...))
		c.Set(1, tensor.Vector(rows...))
		c.Set(2, tensor.Vector(p.begin...))
		c.Set(3, tensor.Vector(p.end...))
		return nil
	}, nil
}

// word adds the pieces of a word, or the one for unknown words.
func (w *wordpiece) word(p *pieces, v vocabulary, word string) error {
	if int64(len(word)) > w.maxWord {
		if w.useUnknown {
			return p.add(w.unknown, 0, len(w.unknown)) // the end is that of the piece, as in TensorFlow
		}
		return p.add(word, 0, len(word))
	}
	first := len(p.texts)
	for at := 0; at < len(word); {
		end, err := w.longest(p, v, word, at)
		if err != nil {
			return err
		}
		known := end > at
		if !known && !w.splitUnknown {
			p.texts, p.begin, p.end = p.texts[:first], p.begin[:first], p.end[:first]
			if w.useUnknown {
				return p.add(w.unknown, 0, len(word))
			}
			return p.add(word, 0, len(word))
		}
		if !known {
			_, size, _ := nextUTF8(word[at:])
			end = at + size
		}
		piece := word[at:end]
		if !known && w.useUnknown {
			piece = w.unknown
		}
		if at > 0 {
			piece = w.suffix + piece
		}
		if err := p.add(piece, at, end); err != nil {
			return err
		}
		at = end
	}
	return nil
}

// longest returns the end of the longest piece that begins at an offset. It
// returns the offset if the vocabulary has none.
func (w *wordpiece) longest(p *pieces, v vocabulary, word string, at int) (int, error) {
	ctx := p.room.c.Context()
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	var ends []int
	for end := at; end < len(word) && (w.maxPiece <= 0 || int64(len(ends)) < w.maxPiece); {
		_, size, _ := nextUTF8(word[end:])
		end += size
		ends = append(ends, end)
	}
	prefix := ""
	if at > 0 {
		prefix = w.suffix
	}
	key := prefix + word[at:]
	hashed := 0 // bytes since the last look at the context
	for i := len(ends) - 1; i >= 0; i-- {
		piece := key[:len(prefix)+ends[i]-at]
		if hashed += len(piece); hashed >= checkEvery {
			if hashed = 0; ctx.Err() != nil {
				return 0, ctx.Err()
			}
		}
		switch n, err := v.Number(piece); {
		case err != nil:
			return 0, err
		case n != -1:
			return ends[i], nil
		}
	}
	return at, nil
}
