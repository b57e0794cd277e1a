package checkpoint

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"strconv"

	"github.com/cairnml/cairn/internal/statefile"
	"github.com/cairnml/cairn/vfs"
)

// sideName is the file in the state file's directory for data that TensorFlow's
// state can't contain: steps and metrics of the managed checkpoints. It is
// written only if there is such data. It is separate because TensorFlow refuses
// a state file with unknown fields. Later Managers read it, so its JSON keys must stay.
const sideName = "checkpoint.cairn.json"

type sideFile struct {
	Checkpoints map[string]sideEntry `json:"checkpoints"`
}

type sideEntry struct {
	Step    *int64               `json:"step,omitempty"`
	Metrics map[string]sideFloat `json:"metrics,omitempty"`
}

// sideFloat is a float64 whose NaN and infinities are strings in JSON.
type sideFloat float64

func (f sideFloat) MarshalJSON() ([]byte, error) {
	if v := float64(f); math.IsNaN(v) || math.IsInf(v, 0) {
		return json.Marshal(strconv.FormatFloat(v, 'g', -1, 64))
	}
	return json.Marshal(float64(f))
}

func (f *sideFloat) UnmarshalJSON(b []byte) error {
	var text string
	if json.Unmarshal(b, &text) == nil {
		v, err := strconv.ParseFloat(text, 64)
		*f = sideFloat(v)
		return err
	}
	return json.Unmarshal(b, (*float64)(f))
}

// readSide returns the contents of the side file in dir; found is false if
// there is none.
func readSide(dir fs.FS, shown string) (side sideFile, found bool, err error) {
	f, err := dir.Open(sideName)
	if errors.Is(err, fs.ErrNotExist) {
		return side, false, nil
	} else if err != nil {
		return side, false, fmt.Errorf("checkpoint: reading %s: %w", shown, err)
	}
	text, err := io.ReadAll(io.LimitReader(f, statefile.MaxSize+1))
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	switch {
	case err != nil:
		return side, false, fmt.Errorf("checkpoint: reading %s: %w", shown, err)
	case len(text) > statefile.MaxSize:
		err = errors.New("the file is too long")
	default:
		err = json.Unmarshal(text, &side)
	}
	if err != nil {
		return side, false, &StateError{File: shown, What: fmt.Sprintf("it should hold the metrics of the checkpoints: %v; remove the file, and policies begin without metrics", err)}
	}
	return side, true, nil
}

func writeSide(dir vfs.Dir, list []entry) error {
	side := sideFile{Checkpoints: map[string]sideEntry{}}
	for _, e := range list {
		var s sideEntry
		if e.step >= 0 {
			s.Step = &e.step
		}
		for k, v := range e.metrics {
			if s.Metrics == nil {
				s.Metrics = map[string]sideFloat{}
			}
			s.Metrics[k] = sideFloat(v)
		}
		side.Checkpoints[e.key()] = s
	}
	text, err := json.MarshalIndent(side, "", "  ")
	if err != nil {
		return err
	}
	return writeFileAtomically(dir, sideName, append(text, '\n'))
}
