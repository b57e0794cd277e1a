package callbacks

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/cairnml/cairn/keras/config"
	"github.com/cairnml/cairn/vfs"
)

// CSVLogger writes the logs of each epoch to a CSV file: the number of the epoch, counted
// from 0, and the logs of the first epoch in sorted order, with those of the validation. A
// log that an epoch lacks is NA.
type CSVLogger struct {
	Base
	// Filename is the file's path; in Dir it is slash-separated.
	Filename string
	// Separator separates the fields, one character. Default: a comma.
	Separator string
	// Append continues a file that exists. Dir must be a [vfs.Appender]. Default: the file
	// is replaced.
	Append bool
	// Dir is the directory that Filename is relative to, with slashes. Default: Filename is a
	// path of the operating system.
	Dir vfs.Dir

	file   vfs.File
	out    *csv.Writer
	keys   []string
	header bool // the file needs a header
}

func (l *CSVLogger) fail(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("callbacks: CSVLogger: %w", err)
}

// OnTrainBegin opens the file.
func (l *CSVLogger) OnTrainBegin(context.Context, *Run) error {
	dir, name := l.Dir, l.Filename
	if dir == nil {
		dir, name = vfs.OSDir(filepath.Dir(name)), filepath.Base(name)
	}
	separator := []rune(l.Separator)
	switch len(separator) {
	case 0:
		separator = []rune{','}
	case 1:
	default:
		return l.fail(fmt.Errorf("the Separator is %q, want one character", l.Separator))
	}
	l.header = true
	var err error
	if l.Append {
		appender, ok := dir.(vfs.Appender)
		if !ok {
			return l.fail(fmt.Errorf("%T can't append to files; set Append to false", dir))
		}
		switch info, err := fs.Stat(dir, name); {
		case err == nil:
			l.header = info.Size() == 0
		case !errors.Is(err, fs.ErrNotExist):
			return l.fail(err)
		}
		l.file, err = appender.OpenAppend(name)
	} else {
		l.file, err = dir.Create(name)
	}
	if err != nil {
		return l.fail(err)
	}
	l.out = csv.NewWriter(l.file)
	l.out.Comma, l.out.UseCRLF = separator[0], true
	return nil
}

// OnEpochEnd writes a line.
func (l *CSVLogger) OnEpochEnd(_ context.Context, _ *Run, epoch int, logs Logs) error {
	if l.out == nil {
		return l.fail(errors.New("the file isn't open; OnTrainBegin opens it"))
	}
	if l.keys == nil {
		l.keys = slices.Sorted(maps.Keys(logs))
		if !slices.ContainsFunc(l.keys, func(key string) bool { return strings.HasPrefix(key, "val_") }) {
			for _, key := range slices.Clone(l.keys) { // the first validation may come later
				l.keys = append(l.keys, "val_"+key)
			}
		}
	}
	if l.header {
		if err := l.out.Write(append([]string{"epoch"}, l.keys...)); err != nil {
			return l.fail(err)
		}
		l.header = false
	}
	row := []string{strconv.Itoa(epoch)}
	for _, key := range l.keys {
		text := "NA"
		if value, ok := logs[key]; ok {
			bits := 64
			if key == "lr" { // a NumPy float32 in tf_keras
				bits = 32
			}
			text = config.FormatFloat(value, bits)
		}
		row = append(row, text)
	}
	if err := l.out.Write(row); err != nil {
		return l.fail(err)
	}
	l.out.Flush()
	return l.fail(l.out.Error())
}

// OnTrainEnd closes the file.
func (l *CSVLogger) OnTrainEnd(context.Context, *Run, Logs) error {
	if l.file == nil {
		return nil
	}
	err := errors.Join(l.file.Sync(), l.file.Close())
	l.file, l.out = nil, nil
	return l.fail(err)
}

// OnTrainAbort closes the file.
func (l *CSVLogger) OnTrainAbort() { _ = l.OnTrainEnd(context.Background(), nil, nil) }

var _ Aborter = (*CSVLogger)(nil)
