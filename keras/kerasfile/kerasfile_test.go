package kerasfile_test

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cairnml/cairn/internal/testkit/packed"
	"github.com/cairnml/cairn/keras/kerasfile"
	"github.com/cairnml/cairn/tensor"
)

var fixtures = map[string]kerasfile.Format{
	"keras2_model.keras": kerasfile.Archive, "keras3_model.keras": kerasfile.Archive,
	"keras2_text.keras": kerasfile.Archive, "keras3_text.keras": kerasfile.Archive, "keras3_half.keras": kerasfile.Archive,
	"keras2_model.weights.h5": kerasfile.Weights, "keras3_model.weights.h5": kerasfile.Weights,
	"keras2_model.h5": kerasfile.LegacyModel, "keras3_model.h5": kerasfile.LegacyModel,
	"keras2_only.h5": kerasfile.LegacyWeights, "keras2_many.h5": kerasfile.LegacyWeights,
}

func fixture(t testing.TB, name string) []byte {
	t.Helper()
	return packed.Read(t, filepath.Join("testdata", name+".gz"))
}

func open(t testing.TB, b []byte) *kerasfile.File {
	t.Helper()
	f, err := kerasfile.Open(bytes.NewReader(b), int64(len(b)), nil)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// listing returns the same text as make_keras.py.
func listing(t *testing.T, c *kerasfile.Contents) string {
	t.Helper()
	var lines []string
	for _, g := range c.Groups {
		for _, w := range g.Weights {
			v, err := w.Read(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if v.DType() != w.DType || !v.Shape().Equal(w.Shape) {
				t.Errorf("%s: %v%v, announced as %v%v", w.Path, v.DType(), v.Shape(), w.DType, w.Shape)
			}
			lines = append(lines, fmt.Sprintf("%s %s %s %s %08x", g.Path, w.Name, w.DType, strings.ReplaceAll(fmt.Sprint([]int(w.Shape)), ",", " "), crc32.ChecksumIEEE(v.Bytes())))
		}
	}
	for _, m := range c.Members {
		r, err := m.Open()
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(r)
		r.Close()
		if err != nil || int64(len(b)) != m.Size {
			t.Fatal(err)
		}
		lines = append(lines, fmt.Sprintf("%s %08x", m.Name, crc32.ChecksumIEEE(b)))
	}
	if n := len(lines); n > 100 {
		lines = append(append(lines[:3:3], fmt.Sprintf("%d more", n-6)), lines[n-3:]...)
	}
	return strings.Join(lines, "\n") + "\n"
}

func TestFilesOfKerasAreReadAndWrittenAgain(t *testing.T) {
	for name, format := range fixtures {
		t.Run(name, func(t *testing.T) {
			want, err := os.ReadFile(filepath.Join("testdata", name+".txt"))
			if err != nil {
				t.Fatal(err)
			}
			f := open(t, fixture(t, name))
			if f.Format != format {
				t.Errorf("format %v", f.Format)
			}
			if got := listing(t, &f.Contents); got != string(want) {
				t.Errorf("got\n%swant\n%s", got, want)
			}
			version := map[bool]string{true: "3.15.1", false: "2.21.0"}[strings.HasPrefix(name, "keras3")]
			if format == kerasfile.Weights {
				version = ""
			}
			if f.KerasVersion != version || (f.Config != nil) != (format == kerasfile.Archive || format == kerasfile.LegacyModel) || (f.TrainingConfig != nil) != (format == kerasfile.LegacyModel) {
				t.Errorf("version %q, %d bytes of config, %d of training", f.KerasVersion, len(f.Config), len(f.TrainingConfig))
			}
			b := write(t, format, &f.Contents)
			again := open(t, b)
			if got := listing(t, &again.Contents); got != string(want) || again.Format != format {
				t.Errorf("written again as %v:\n%swant\n%s", again.Format, got, want)
			}
			if string(again.Config) != string(f.Config) || string(again.TrainingConfig) != string(f.TrainingConfig) || string(again.Metadata) != string(f.Metadata) ||
				again.KerasVersion != f.KerasVersion || again.Backend != f.Backend {
				t.Error("the configuration has changed")
			}
			for i, g := range f.Groups {
				if again.Groups[i].Name != g.Name || len(again.Groups[i].Attributes) != len(g.Attributes) {
					t.Errorf("group %q has the name %q and %d attributes, not %q and %d", g.Path, again.Groups[i].Name, len(again.Groups[i].Attributes), g.Name, len(g.Attributes))
				}
			}
			if !bytes.Equal(b, write(t, format, &again.Contents)) {
				t.Error("the same contents give other bytes")
			}
		})
	}
}

func write(t testing.TB, format kerasfile.Format, c *kerasfile.Contents) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := kerasfile.Write(t.Context(), &b, format, c); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestNamesOfObjects(t *testing.T) {
	f := open(t, fixture(t, "keras3_model.keras"))
	if g := f.Group("layers/dense"); g == nil || g.Name != "first" || len(g.Weights) != 2 || g.Weights[0].Path != "layers/dense/vars/0" {
		t.Errorf("%+v", g)
	}
	if g := f.Group("layers/none"); g != nil {
		t.Errorf("%+v", g)
	}
	if g := f.Group("optimizer"); g == nil || g.Name != "adam" || g.Weights[10].Name != "10" {
		t.Errorf("%+v", g)
	}
}

func TestWhatAFormatCannotHoldIsRefused(t *testing.T) {
	config := []byte(`{"a":1}`)
	x := kerasfile.Group{Path: "layers/dense", Weights: []kerasfile.Weight{kerasfile.Value("0", tensor.Scalar(1.0))}}
	member := kerasfile.Member{Name: "assets/../x", Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader("")), nil }}
	for name, c := range map[string]struct {
		format kerasfile.Format
		kerasfile.Contents
		want string
	}{
		"no format":            {0, kerasfile.Contents{}, "no such format"},
		"config in weights":    {kerasfile.Weights, kerasfile.Contents{Config: config}, "a configuration in a file"},
		"training in archive":  {kerasfile.Archive, kerasfile.Contents{Config: config, TrainingConfig: config}, "a training configuration"},
		"assets in HDF5":       {kerasfile.LegacyModel, kerasfile.Contents{Config: config, Members: []kerasfile.Member{member}}, "assets in a file"},
		"metadata in HDF5":     {kerasfile.LegacyModel, kerasfile.Contents{Config: config, Metadata: config}, "metadata in a file"},
		"attributes":           {kerasfile.Weights, kerasfile.Contents{Attributes: map[string]*tensor.Tensor{"a": tensor.Scalar(1.0)}}, "attributes of the file"},
		"no config":            {kerasfile.Archive, kerasfile.Contents{}, "not valid JSON"},
		"an escaping member":   {kerasfile.Archive, kerasfile.Contents{Config: config, Members: []kerasfile.Member{member}}, "separate path below assets/"},
		"two groups":           {kerasfile.Weights, kerasfile.Contents{Groups: []kerasfile.Group{x, x}}, "two groups have the path"},
		"two weights":          {kerasfile.Weights, kerasfile.Contents{Groups: []kerasfile.Group{{Path: "a", Weights: append(x.Weights, x.Weights...)}}}, "two weights have the name"},
		"optimizer in weights": {kerasfile.LegacyWeights, kerasfile.Contents{Groups: []kerasfile.Group{{Path: kerasfile.OptimizerWeights}}}, "the optimizer's weights"},
	} {
		t.Run(name, func(t *testing.T) {
			err := kerasfile.Write(t.Context(), io.Discard, c.format, &c.Contents)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}

// member is a file of a test's archive.
type member struct {
	name  string
	body  string
	alter func(h *zip.FileHeader)
}

func archive(t testing.TB, members ...member) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, m := range members {
		h := &zip.FileHeader{Name: m.name, Method: zip.Store}
		if m.alter != nil {
			m.alter(h)
		}
		w, err := z.CreateHeader(h)
		if err == nil {
			_, err = io.WriteString(w, m.body)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func deflated(h *zip.FileHeader) { h.Method = zip.Deflate }

func TestHostileArchives(t *testing.T) {
	weights := string(fixture(t, "keras3_model.weights.h5"))
	good := []member{{"config.json", "{}", nil}, {"metadata.json", `{"keras_version":"3.0.0"}`, nil}, {"model.weights.h5", weights, deflated}}
	if f := open(t, archive(t, good...)); len(f.Groups) == 0 || f.KerasVersion != "3.0.0" {
		t.Error("a compressed archive is not read")
	}
	zeros := strings.Repeat("\x00", 100<<20)
	for name, c := range map[string]struct {
		b    []byte
		want string
	}{
		"a path that escapes":    {archive(t, append(good, member{"../x", "", nil})...), "not a path below the archive"},
		"an absolute path":       {archive(t, append(good, member{"/x", "", nil})...), "not a path below the archive"},
		"a backslash":            {archive(t, append(good, member{`assets\x`, "", nil})...), "not a path below the archive"},
		"a drive":                {archive(t, append(good, member{`c:/x`, "", nil})...), "not a path below the archive"},
		"a member twice":         {archive(t, append(good, member{"config.json", "{}", nil})...), "two members have the name"},
		"a file and a directory": {archive(t, append(good, member{"assets", "x", nil}, member{"assets/x", "x", nil})...), "a file and a directory"},
		"a link":                 {archive(t, append(good, member{"assets/x", "/etc/passwd", func(h *zip.FileHeader) { h.SetMode(os.ModeSymlink | 0o777) }})...), "no regular file"},
		"a bomb of config":       {archive(t, member{"config.json", zeros, deflated}, good[2]), "Options.MaxMemory raises it"},
		"a bomb of weights":      {archive(t, good[0], member{"model.weights.h5", weights + zeros, deflated}), "Options.MaxMemory raises it"},
		"no weights":             {archive(t, good[0]), "it is no Keras archive"},
		"no JSON":                {archive(t, member{"config.json", "{", nil}, good[2]), "not valid JSON"},
		"a pickle":               {archive(t, good[0], member{"model.weights.npz", "", nil}), "a pickle"},
		"weights in parts":       {archive(t, good[0], member{"model.weights.json", "{}", nil}), "in several files"},
		"weights of no format":   {archive(t, good[0], member{"model.weights.h5", "x", nil}), "not an HDF5 file"},
		"no zip":                 {[]byte("PK\x03\x04xxxx"), "can't be read"},
		"nothing":                {nil, "not an HDF5 file"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := kerasfile.Open(bytes.NewReader(c.b), int64(len(c.b)), nil)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}

func TestVerifyComparesChecksums(t *testing.T) {
	b := fixture(t, "keras3_model.keras")
	if err := open(t, b).Verify(t.Context()); err != nil {
		t.Error(err)
	}
	at := bytes.LastIndex(b, []byte("SNOD")) + 400 // in the numbers of the weights
	b[at] ^= 1
	if err := open(t, b).Verify(t.Context()); !errors.Is(err, kerasfile.ErrFormat) || !strings.Contains(err.Error(), "model.weights.h5") {
		t.Error(err)
	}
}

func TestMembersAreBounded(t *testing.T) {
	weights := string(fixture(t, "keras3_model.weights.h5"))
	f := open(t, archive(t, member{"config.json", "{}", nil}, member{"model.weights.h5", weights, nil}, member{"assets/big", strings.Repeat("\x00", 100<<20), deflated}))
	if _, err := f.Members[0].Open(); !errors.Is(err, errors.ErrUnsupported) {
		t.Error(err)
	}
}

func TestReadErrorsAreKept(t *testing.T) {
	boom := errors.New("boom")
	c := &kerasfile.Contents{Groups: []kerasfile.Group{{Path: "a", Weights: []kerasfile.Weight{{Name: "0", DType: tensor.Float32, Read: func(context.Context) (*tensor.Tensor, error) { return nil, boom }}}}}}
	if err := kerasfile.Write(t.Context(), io.Discard, kerasfile.Weights, c); !errors.Is(err, boom) {
		t.Error(err)
	}
}

// FuzzOpen opens any file and reads its weights.
func FuzzOpen(f *testing.F) {
	for name := range fixtures {
		if !strings.Contains(name, "many") {
			f.Add(fixture(f, name))
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		k, err := kerasfile.Open(bytes.NewReader(b), int64(len(b)), nil)
		if err != nil {
			return
		}
		var out bytes.Buffer
		if err := kerasfile.Write(t.Context(), &out, k.Format, &k.Contents); err != nil {
			return
		}
		if _, err := kerasfile.Open(bytes.NewReader(out.Bytes()), int64(out.Len()), nil); err != nil {
			t.Errorf("what was written can't be read: %v", err)
		}
	})
}

// TestVerifyEndsWithItsContext ends the context while a member is being read.
func TestVerifyEndsWithItsContext(t *testing.T) {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	whole := fixture(t, "keras2_text.keras")
	r, err := zip.NewReader(bytes.NewReader(whole), int64(len(whole)))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range r.File {
		if err := z.Copy(f); err != nil {
			t.Fatal(err)
		}
	}
	w, err := z.Create("assets/zeros")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(make([]byte, 8<<20)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	ctx := &countedContext{Context: t.Context(), left: 100}
	if err := open(t, b.Bytes()).Verify(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v", err)
	}
}

// countedContext ends after some looks at it.
type countedContext struct {
	context.Context
	left int
}

func (c *countedContext) Err() error {
	if c.left--; c.left < 0 {
		return context.Canceled
	}
	return nil
}
