package callbacks

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/cairnml/cairn/checkpoint"
	"github.com/cairnml/cairn/keras/config"
	"github.com/cairnml/cairn/vfs"
)

// ModelCheckpoint saves the model at the end of epochs, or after numbers of batches. It writes
// the model's weights and its optimizer as a checkpoint of TensorFlow, as tf_keras does with
// save_weights_only. Then it writes the state file "checkpoint" in the same directory, which
// names this checkpoint alone.
//
//	&callbacks.ModelCheckpoint{Filepath: "run/{epoch:02d}-{val_loss:.2f}", SaveBestOnly: true}
type ModelCheckpoint struct {
	Base
	// Filepath is the prefix of the files. Names in braces become numbers: {epoch}, counted
	// from 1, {batch} if SaveFreq is set, and the names in the logs. A format of Python's for
	// numbers may follow a colon, as in {loss:.2f}.
	Filepath string
	// Monitor is the number in the logs for SaveBestOnly. Default: "val_loss".
	Monitor string
	// Verbose prints a message for each save. Default: false.
	Verbose bool
	// SaveBestOnly saves only if the number is better than at every earlier save. Default:
	// false.
	SaveBestOnly bool
	// Mode determines which values are better. Default: Auto; a name that contains acc, or
	// begins with fmeasure, means Max.
	Mode Mode
	// SaveFreq is the number of batches from one save to the next. Default: a save at the
	// end of each epoch.
	SaveFreq int
	// InitialValueThreshold is the value that the first save has to improve. Default: none.
	InitialValueThreshold *float64
	// Save saves the model in another form. path is the Filepath with its numbers. Default:
	// a checkpoint is written.
	Save func(ctx context.Context, r *Run, path string) error
	// Dir is the directory that Filepath is relative to, with slashes. Default: Filepath is a
	// path of the operating system.
	Dir vfs.Dir

	rising    bool
	started   bool
	best      float64
	epoch     int
	seen      int // batches since the last save
	lastBatch int
	saved     *checkpoint.Checkpoint
}

func (m *ModelCheckpoint) fail(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("callbacks: ModelCheckpoint: %w", err)
}

func (m *ModelCheckpoint) monitor() string {
	if m.Monitor == "" {
		return "val_loss"
	}
	return m.Monitor
}

// OnTrainBegin prepares saves. The best value of an earlier training stays, as in
// tf_keras.
func (m *ModelCheckpoint) OnTrainBegin(_ context.Context, r *Run) (err error) {
	if m.Filepath == "" || m.SaveFreq < 0 {
		return m.fail(fmt.Errorf("the fields Filepath and SaveFreq are %q and %d, want a path and 0 or more", m.Filepath, m.SaveFreq))
	}
	m.rising, err = m.Mode.rising(func() bool {
		return strings.Contains(m.monitor(), "acc") || strings.HasPrefix(m.monitor(), "fmeasure")
	})
	if err != nil {
		return err
	}
	if !m.started {
		m.started, m.lastBatch, m.best = true, -1, math.Inf(1)
		if m.rising {
			m.best = math.Inf(-1)
		}
		if m.InitialValueThreshold != nil {
			m.best = *m.InitialValueThreshold
		}
	}
	if m.Save == nil {
		extra := map[string]any{}
		if r.Optimizer != nil {
			extra["optimizer"] = r.Optimizer
		}
		m.saved, err = checkpoint.New(r.Model, &checkpoint.Options{Extra: extra})
	}
	return m.fail(err)
}

// OnEpochBegin notes the epoch.
func (m *ModelCheckpoint) OnEpochBegin(_ context.Context, _ *Run, epoch int) error {
	m.epoch = epoch
	return nil
}

// OnTrainBatchEnd saves if SaveFreq batches have passed.
func (m *ModelCheckpoint) OnTrainBatchEnd(ctx context.Context, r *Run, batch int, logs Logs) error {
	if m.SaveFreq == 0 {
		return nil
	}
	if batch <= m.lastBatch { // a new epoch
		m.seen += batch + 1
	} else {
		m.seen += batch - m.lastBatch
	}
	if m.lastBatch = batch; m.seen < m.SaveFreq {
		return nil
	}
	m.seen = 0
	return m.save(ctx, r, batch, logs)
}

// OnEpochEnd saves, unless SaveFreq is set.
func (m *ModelCheckpoint) OnEpochEnd(ctx context.Context, r *Run, epoch int, logs Logs) error {
	if m.SaveFreq > 0 {
		return nil
	}
	m.epoch = epoch
	return m.save(ctx, r, -1, logs)
}

// save saves if the logs require it. batch is -1 at the end of an epoch.
func (m *ModelCheckpoint) save(ctx context.Context, r *Run, batch int, logs Logs) error {
	name, err := m.path(batch, logs)
	if err != nil {
		return m.fail(err)
	}
	if m.SaveBestOnly {
		current, ok := r.monitored("ModelCheckpoint", m.monitor(), logs)
		if !ok {
			return nil
		}
		if better := m.rising && current > m.best || !m.rising && current < m.best; !better {
			m.say(r, "\nEpoch %d: %s did not improve from %.5f\n", m.epoch+1, m.monitor(), m.best)
			return nil
		}
		m.say(r, "\nEpoch %d: %s improved from %s to %.5f, saving model to %s\n", m.epoch+1, m.monitor(), fixed(m.best), current, name)
		m.best = current
	} else {
		m.say(r, "\nEpoch %d: saving model to %s\n", m.epoch+1, name)
	}
	if m.Save != nil {
		return m.fail(m.Save(ctx, r, name))
	}
	return m.fail(m.write(ctx, name))
}

func (m *ModelCheckpoint) say(r *Run, format string, args ...any) {
	if m.Verbose {
		r.Printf(format, args...)
	}
}

// fixed returns Python's "%.5f" of a number: "inf" and "-inf" for infinities.
func fixed(x float64) string {
	if math.IsInf(x, 0) {
		return strings.TrimPrefix(strings.ToLower(strconv.FormatFloat(x, 'f', -1, 64)), "+")
	}
	return strconv.FormatFloat(x, 'f', 5, 64)
}

// write writes a checkpoint, and then the file that names it as the latest, so that a crash leaves
// the older name. TensorBoard calls it too, for the projector.
func (m *ModelCheckpoint) write(ctx context.Context, name string) error {
	dir := m.Dir
	if dir == nil {
		dir, name = vfs.OSDir(filepath.Dir(name)), filepath.Base(name)
	}
	base := path.Base(name)
	if base == "checkpoint" {
		return errors.New(`the Filepath has the name "checkpoint", which is that of the file with the latest one; choose another`)
	}
	if err := m.saved.WriteTo(ctx, dir, name); err != nil {
		return err
	}
	text, err := (&checkpoint.CheckpointState{ModelCheckpointPath: base, AllModelCheckpointPaths: []string{base}}).MarshalText()
	if err != nil {
		return err
	}
	state := path.Join(path.Dir(name), "checkpoint")
	err = vfs.WriteFile(dir, state+".tmp", func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	})
	if err == nil {
		err = dir.Rename(state+".tmp", state)
	}
	if err == nil {
		err = dir.Sync()
	}
	return err
}

var braces = regexp.MustCompile(`\{\{|\}\}|\{([A-Za-z_][A-Za-z0-9_]*)(?::([^{}]*))?\}`)

// path returns the Filepath with numbers for names.
func (m *ModelCheckpoint) path(batch int, logs Logs) (string, error) {
	var failed error
	out := braces.ReplaceAllStringFunc(m.Filepath, func(s string) string {
		if s == "{{" || s == "}}" {
			return s[:1]
		}
		parts := braces.FindStringSubmatch(s)
		var value any
		switch x, logged := logs[parts[1]]; {
		case parts[1] == "epoch":
			value = m.epoch + 1
		case parts[1] == "batch" && !logged && batch >= 0:
			value = batch + 1
		case logged:
			value = x
		default:
			var known []string
			for name := range logs {
				known = append(known, name)
			}
			slices.Sort(known)
			failed = fmt.Errorf("the Filepath has {%s}; there are epoch, %s", parts[1], strings.Join(known, ", "))
			return ""
		}
		text, err := formatted(value, parts[2])
		if err != nil {
			failed = err
		}
		return text
	})
	return out, failed
}

var numberFormat = regexp.MustCompile(`^(0?)([0-9]{0,3})(?:\.([0-9]{1,2}))?([dfeEgG%]?)$`)

// formatted returns a number, an int or a float64, in a format of Python's for numbers. Formats
// that Python's str.format accepts and this one doesn't, such as alignment, are errors.
func formatted(value any, spec string) (string, error) {
	parts := numberFormat.FindStringSubmatch(spec)
	x, real := value.(float64)
	if parts == nil || parts[4] == "d" && real || !real && (parts[3] != "" && parts[4] == "") {
		return "", fmt.Errorf("the Filepath has the format %q for the number %v; use one such as {epoch:02d} or {loss:.2f}", spec, value)
	}
	verb := parts[4]
	suffix := ""
	switch {
	case verb == "" && !real:
		verb = "d"
	case verb == "" && parts[3] == "" && !strings.ContainsAny(spec, "0123456789"):
		return pythonFloat(x), nil
	case verb == "":
		verb = "g"
	case verb == "%":
		verb, suffix = "f", "%"
	}
	if n, ok := value.(int); ok && verb != "d" {
		x, value = float64(n), float64(n)
	}
	if suffix != "" {
		value = x * 100
	}
	format := "%" + parts[1] + parts[2]
	if parts[3] != "" {
		format += "." + parts[3]
	} else if strings.ContainsAny(verb, "gG") {
		format += ".6"
	}
	return fmt.Sprintf(format+verb, value) + suffix, nil
}

// pythonFloat returns str(x).
func pythonFloat(x float64) string {
	switch {
	case math.IsNaN(x):
		return "nan"
	case math.IsInf(x, 1):
		return "inf"
	case math.IsInf(x, -1):
		return "-inf"
	}
	return config.FormatFloat(x, 64)
}
