package tensorfile

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/cairnml/cairn/internal/limit"
	"github.com/cairnml/cairn/internal/nearest"
	"github.com/cairnml/cairn/tensor"
)

// shardIndexSuffix is the end of the name of an index of safetensors files.
const shardIndexSuffix = ".safetensors.index.json"

// isShardIndex reports whether a file of that name lists safetensors files.
func isShardIndex(name string) bool {
	return strings.HasSuffix(strings.ToLower(name), shardIndexSuffix)
}

// ShardError is an error of one of the files that an index lists.
type ShardError struct {
	File string // by its path
	Err  error
}

// Error names the file.
func (e *ShardError) Error() string { return e.File + ": " + e.Err.Error() }

// Unwrap returns the error of the file.
func (e *ShardError) Unwrap() error { return e.Err }

// shardedStore reads the safetensors files that an index lists as one.
type shardedStore struct {
	listed
	files  []string // by their paths
	shards []backend
	of     map[string]int // the shard of each tensor
}

// maxShardFiles bounds the files that an index may list, since all are open at once. It may change.
const maxShardFiles = 10_000

// openShards opens the files that the index called name in dir lists, in the format of Hugging Face's
// transformers: "weight_map" has the file of each tensor. Only listed tensors are entries. shown
// returns the path by which errors name a file. If one file can't be opened, none is.
func openShards(dir fs.FS, name string, shown func(name string) string, o *Options) (_ backend, err error) {
	f, err := dir.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	most := o.memory(limit.Stored(f, info.Size())) / 4 // decoded, it takes a few times its length
	b, err := io.ReadAll(io.LimitReader(f, most+1))
	if err != nil {
		return nil, err
	}
	if int64(len(b)) > most {
		return nil, fmt.Errorf("the index has %d bytes, the most is %d; %s", info.Size(), most, raises)
	}
	var index struct {
		Tensors map[string]string `json:"weight_map"`
	}
	if err := json.Unmarshal(b, &index); err != nil {
		return nil, indexError(err)
	}
	if len(index.Tensors) == 0 {
		return nil, errors.New("the index lists no tensors: it has no weight_map")
	}
	s := &shardedStore{of: map[string]int{}}
	defer func() {
		if err != nil {
			s.close()
		}
	}()
	numbers := map[string]int{}
	for _, tensor := range slices.Sorted(maps.Keys(index.Tensors)) {
		file := index.Tensors[tensor]
		n, open := numbers[file]
		if !open {
			if n = len(numbers); n == maxShardFiles {
				return nil, fmt.Errorf("the index lists more than %d files", maxShardFiles)
			}
			b, err := openShard(dir, path.Join(path.Dir(name), file), o)
			if errors.Is(err, fs.ErrNotExist) {
				err = errMissingShard
			}
			if err != nil {
				return nil, &ShardError{shown(file), err}
			}
			numbers[file] = n
			s.files, s.shards = append(s.files, shown(file)), append(s.shards, b)
		}
		e, ok := s.shards[n].find(tensor)
		if !ok {
			err := fmt.Errorf("it lacks the tensor %q, which the index lists", tensor)
			if near := nearest.Names(tensor, namesOf(s.shards[n]), 3); len(near) > 0 {
				err = fmt.Errorf("%w; similar names: %s", err, strings.Join(near, ", "))
			}
			return nil, &ShardError{shown(file), err}
		}
		s.of[tensor] = n
		s.listed = append(s.listed, e)
	}
	return s, nil
}

// errMissingShard reports that a file of an index isn't there. It is an [fs.ErrNotExist].
var errMissingShard error = missingShard{}

type missingShard struct{}

func (missingShard) Error() string {
	return "the file is missing; all files that the index lists belong into its directory"
}

func (missingShard) Is(target error) bool { return target == fs.ErrNotExist }

// indexError says in plain words why an index can't be decoded.
func indexError(err error) error {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &kind) && kind.Field != "":
		return fmt.Errorf("the index is damaged: %[2]s has a JSON %[3]s at byte %[1]d (want the name of a file for each tensor)", kind.Offset, kind.Field, kind.Value)
	case errors.As(err, &kind):
		return fmt.Errorf("the index is a JSON %s (want an object with a weight_map)", kind.Value)
	case errors.As(err, &syntax):
		return fmt.Errorf("the index is damaged: its JSON is broken at byte %d", syntax.Offset)
	}
	return fmt.Errorf("the index can't be decoded: %w", err)
}

func namesOf(b backend) []string {
	names := make([]string, b.len())
	for i := range names {
		names[i] = b.entry(i).Name
	}
	return names
}

// openShard opens a file that an index lists.
func openShard(dir fs.FS, name string, o *Options) (backend, error) {
	if !fs.ValidPath(name) || strings.Contains(name, `\`) {
		return nil, errors.New("the index names a file outside of its directory")
	}
	f, err := dir.Open(name)
	if err != nil {
		return nil, err
	}
	r, size, err := readerAt(f)
	if err == nil {
		var b backend
		if b, err = openSafetensorsAt(r, size, f, o); err == nil {
			return b, nil
		}
	}
	f.Close()
	return nil, err
}

func (s *shardedStore) read(ctx context.Context, name string) (*tensor.Tensor, error) {
	n := s.of[name]
	t, err := s.shards[n].read(ctx, name)
	if err != nil {
		return nil, &ShardError{s.files[n], err}
	}
	return t, nil
}

func (s *shardedStore) close() error {
	var errs []error
	for _, b := range s.shards {
		errs = append(errs, b.close())
	}
	return errors.Join(errs...)
}
