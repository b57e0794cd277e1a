package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cairnml/cairn/bundle"
	"github.com/cairnml/cairn/internal/crc32c"
	"github.com/cairnml/cairn/internal/pb"
	"github.com/cairnml/cairn/internal/table"
)

const (
	hostileFiles = 240      // the number of spoiled checkpoints, besides those of bundle/testdata/damaged
	mostMemory   = 64 << 20 // the most memory in bytes that a verb of the command may take
)

// verdict is our reading of a spoiled checkpoint; peer/hostile.py compares it
// with TensorFlow's, and reads these keys in verdicts.json.
type verdict struct {
	Folder string `json:"folder"`
	How    string `json:"how"`
	Error  string `json:"error"`  // of reading all of it; "" if it is readable
	Digest string `json:"digest"` // of all values, if it is readable
}

// hostileCases lets the command loose on spoiled checkpoints: it has to end by
// itself, without a panic and in little memory.
func hostileCases(ctx context.Context, r *run) {
	if r.cairn == "" {
		r.result("hostile files", []string{"no -cairn"}, "")
		return
	}
	var verdicts []verdict
	add := func(how, folder string) {
		verdicts = append(verdicts, verdict{Folder: folder, How: how})
	}
	root := filepath.Dir(r.ours("hostile", "x"))
	err := os.RemoveAll(root)
	if err == nil {
		err = damagedFixtures(root, add)
	}
	if err == nil {
		err = r.spoil(root, add)
	}
	if err != nil {
		r.result("hostile files", wrongs(err), "")
		return
	}

	var wrong []string
	var most int64
	refused := 0
	for i := range verdicts {
		v := &verdicts[i]
		prefix := filepath.Join(root, v.Folder, "ckpt")
		err := guarded(func() error {
			d, err := digest(ctx, prefix)
			if v.Digest = d; err != nil {
				v.Error = err.Error()
			}
			return nil
		})
		if err != nil {
			wrong = append(wrong, fmt.Sprintf("%s (%s): %v", v.Folder, v.How, err))
		}
		for _, verb := range []string{"verify", "ls", "show", "stat"} {
			rss, code, err := r.command(ctx, verb, prefix)
			most = max(most, rss)
			switch {
			case err != nil:
			case rss > mostMemory:
				err = fmt.Errorf("took %d MiB", rss>>20)
			case verb == "verify" && code == 0 && v.Error != "":
				err = fmt.Errorf("finds nothing wrong, but reading fails: %s", v.Error)
			}
			if err != nil {
				wrong = append(wrong, fmt.Sprintf("%s (%s): cairn %s: %v", v.Folder, v.How, verb, err))
			}
			if verb == "verify" && code != 0 {
				refused++
			}
		}
	}
	r.result("hostile files through the command: no panic, under 64 MiB", wrong,
		fmt.Sprintf("%d files, %d refused, at most %d MiB", len(verdicts), refused, most>>20))
	text, err := json.Marshal(verdicts)
	if err == nil {
		err = os.WriteFile(filepath.Join(root, "verdicts.json"), text, 0o666)
	}
	if err != nil {
		r.result("hostile files", wrongs(err), "")
	}
}

// command runs a verb of the command and returns its greatest memory in bytes and its exit
// code. A panic, an exit code other than 0, 1 and 2, and a silent failure are errors.
func (r *run) command(ctx context.Context, verb, prefix string) (rss int64, code int, err error) {
	cmd := exec.CommandContext(ctx, r.cairn, verb, prefix)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err = cmd.Run()
	if _, exited := errors.AsType[*exec.ExitError](err); exited {
		err = nil
	}
	if err != nil {
		return 0, 0, err
	}
	code = cmd.ProcessState.ExitCode()
	if text := out.String(); code > 2 || code < 0 || strings.Contains(text, "goroutine ") || strings.Contains(text, "panic:") {
		return 0, code, fmt.Errorf("exit %d: %.2000s", code, text)
	} else if code != 0 && len(text) == 0 {
		return 0, code, fmt.Errorf("exit %d without a word", code)
	}
	return maxRSS(cmd.ProcessState), code, nil
}

// digest reads all values and digests them: name, type, shape and bytes. peer/hostile.py
// makes the same digest, so both must change together.
func digest(ctx context.Context, prefix string) (string, error) {
	rd, err := bundle.OpenFile(ctx, prefix, nil)
	if err != nil {
		return "", err
	}
	defer rd.Close()
	h := sha256.New()
	number := func(n int) { h.Write(binary.LittleEndian.AppendUint64(nil, uint64(n))) }
	for _, name := range rd.Names() {
		t, err := rd.Read(ctx, name)
		if err != nil {
			return "", err
		}
		number(len(name))
		h.Write([]byte(name))
		number(int(t.DType()))
		for _, n := range t.Shape() {
			number(n)
		}
		if t.DType().Fixed() {
			h.Write(t.Bytes())
			continue
		}
		for _, s := range t.Strings() {
			number(len(s))
			h.Write([]byte(s))
		}
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// damagedFixtures copies the checkpoints of bundle/testdata/damaged.
func damagedFixtures(root string, add func(how, folder string)) error {
	from := filepath.Join("bundle", "testdata", "damaged")
	list, err := os.ReadDir(from)
	if err != nil {
		return err
	}
	for _, e := range list {
		if err := copyDirectory(filepath.Join(root, e.Name()), filepath.Join(from, e.Name())); err != nil {
			return err
		}
		add("fixture", e.Name())
	}
	return nil
}

// spoil makes spoiled copies of checkpoints that TensorFlow wrote. Every third copy, and
// every one of a checkpoint of version 1, has bits flipped, pieces cut or added. The others
// have correct checksums and a wrong index entry or object graph.
func (r *run) spoil(root string, add func(how, folder string)) error {
	rng := rand.New(rand.NewPCG(1, 2))
	bases := []string{
		r.tf("guide", "adam", "ckpt-1"), r.tf("bundles", "slices", "ckpt"), r.tf("models", "stacked parts", "ckpt"),
		r.tf("models", "containers", "ckpt"), r.tf("graphs", "9", "ckpt"), r.tf("legacy", "V1 checkpoint, partitioned", "model.ckpt"),
	}
	for i := range hostileFiles {
		base := bases[i%len(bases)]
		files, err := filesOf(base)
		if err != nil {
			return err
		}
		if single, err := os.ReadFile(base); err == nil {
			files[""] = single
		} else if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		how := "damaged"
		if _, v2 := files["index"]; v2 && i%3 != 0 {
			if how, err = lie(rng, files); err != nil {
				return err
			}
		} else {
			damage(rng, files)
		}
		folder := fmt.Sprintf("%03d", i)
		if err := os.MkdirAll(filepath.Join(root, folder), 0o777); err != nil {
			return err
		}
		for suffix, b := range files {
			name := strings.TrimSuffix("ckpt."+suffix, ".")
			if err := os.WriteFile(filepath.Join(root, folder, name), b, 0o666); err != nil {
				return err
			}
		}
		add(how+" "+filepath.Base(filepath.Dir(base)), folder)
	}
	return nil
}

// damage changes a few bytes of one file.
func damage(rng *rand.Rand, files map[string][]byte) {
	names := make([]string, 0, len(files))
	for name := range files {
		names = append(names, name)
	}
	slices.Sort(names)
	name := names[rng.IntN(len(names))]
	b := slices.Clone(files[name])
	for range 1 + rng.IntN(3) {
		if len(b) == 0 {
			break
		}
		at := rng.IntN(len(b))
		switch rng.IntN(5) {
		case 0:
			b = b[:at]
		case 1:
			b = slices.Insert(b, at, make([]byte, 1+rng.IntN(64))...)
		case 2:
			b = slices.Delete(b, at, min(len(b), at+1+rng.IntN(64)))
		default:
			b[at] ^= 1 << rng.IntN(8)
		}
	}
	files[name] = b
}

// lie changes bytes of an index entry, or of the object graph, and recomputes
// the checksums.
func lie(rng *rand.Rand, files map[string][]byte) (how string, err error) {
	index := files["index"]
	t, err := table.Open(bytes.NewReader(index), int64(len(index)), 1<<30)
	if err != nil {
		return "", err
	}
	type record struct{ key, value []byte }
	var records []record
	graph := -1
	err = t.All(func(key, value []byte, _ int64) error {
		if string(key) == graphKey {
			graph = len(records)
		}
		records = append(records, record{slices.Clone(key), slices.Clone(value)})
		return nil
	})
	if err != nil {
		return "", err
	}
	if graph >= 0 && rng.IntN(3) == 0 {
		how = "lying graph,"
		if err := lieInGraph(rng, files, &records[graph].value); err != nil {
			return "", err
		}
	} else {
		how = "lying entry,"
		r := &records[rng.IntN(len(records))]
		r.value = mutate(rng, r.value)
	}
	var out bytes.Buffer
	w := table.NewWriter(&out)
	for _, r := range records {
		if err := w.Add(r.key, r.value); err != nil {
			return "", err
		}
	}
	err = w.Finish()
	files["index"] = out.Bytes()
	return how, err
}

// mutate changes some bytes of an encoded message, often to numbers that don't
// fit: long varints of large or negative values.
func mutate(rng *rand.Rand, b []byte) []byte {
	b = slices.Clone(b)
	for range 1 + rng.IntN(2) {
		at := rng.IntN(len(b) + 1)
		switch rng.IntN(4) {
		case 0:
			b = slices.Insert(b, at, binary.AppendUvarint(nil, rng.Uint64()>>rng.IntN(64))...)
		case 1:
			if at < len(b) {
				b = slices.Replace(b, at, at+1, binary.AppendUvarint(nil, rng.Uint64()>>rng.IntN(64))...)
			}
		case 2:
			b = slices.Delete(b, at, min(len(b), at+1+rng.IntN(4)))
		default:
			if at < len(b) {
				b[at] = byte(rng.Uint32())
			}
		}
	}
	return b
}

const graphKey = "_CHECKPOINTABLE_OBJECT_GRAPH"

// lieInGraph changes the object graph, the last tensor of the last data file.
// It adapts the checksums and sizes of its string and its entry.
func lieInGraph(rng *rand.Rand, files map[string][]byte, entry *[]byte) error {
	var e pb.BundleEntryProto
	if err := e.Unmarshal(*entry); err != nil {
		return err
	}
	for name, b := range files {
		if !strings.HasPrefix(name, fmt.Sprintf("data-%05d-", e.ShardId)) {
			continue
		}
		n, size := binary.Uvarint(b[e.Offset:])
		text := mutate(rng, b[int(e.Offset)+size+4:int(e.Offset)+size+4+int(n)])
		length := binary.LittleEndian.AppendUint32(nil, uint32(len(text)))
		sum := binary.LittleEndian.AppendUint32(nil, crc32c.Mask(crc32c.Value(length)))
		stored := slices.Concat(binary.AppendUvarint(nil, uint64(len(text))), sum, text)
		files[name] = slices.Concat(b[:e.Offset], stored)
		e.Size = int64(len(stored))
		e.Crc32c = crc32c.Mask(crc32c.Value(slices.Concat(length, sum, text)))
		*entry = e.Marshal()
	}
	return nil
}
