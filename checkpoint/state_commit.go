package checkpoint

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io/fs"
	"strings"

	"github.com/cairnml/cairn/bundle"
)

// Temporaries of small files are called "<name>.cairn-<16 hex digits>.tmp", so
// that a later run knows them as ours.
const (
	tempInfix  = ".cairn-"
	tempSuffix = ".tmp"
)

func tempName(name string) string {
	var b [8]byte
	rand.Read(b[:]) // never fails
	return name + tempInfix + hex.EncodeToString(b[:]) + tempSuffix
}

// isTempOf reports whether file is a temporary of the small file name.
func isTempOf(file, name string) bool {
	rest, ok := strings.CutPrefix(file, name+tempInfix)
	if !ok {
		return false
	}
	rest, ok = strings.CutSuffix(rest, tempSuffix)
	if !ok || len(rest) != 16 {
		return false
	}
	_, err := hex.DecodeString(rest)
	return err == nil
}

// writeFileAtomically replaces the file name in dir: whoever reads it sees the
// old bytes or the new ones, also after a crash. It is durable on return.
func writeFileAtomically(dir bundle.Dir, name string, data []byte) (err error) {
	temp := tempName(name)
	f, err := dir.Create(temp)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = dir.Remove(temp) // what stays is cleaned by the next save
		}
	}()
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = dir.Rename(temp, name)
	}
	if err == nil {
		err = dir.Sync()
	}
	return err
}

// removeIfThere deletes a file; that it is gone already is no error.
func removeIfThere(dir bundle.Dir, name string) error {
	if err := dir.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
