package graph_test

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/internal/pb"
)

// TestASurveyReadsNamesAlone: of nodes that it only notes, constants of the graph too large to be
// read at once.
func TestASurveyReadsNamesAlone(t *testing.T) {
	b := (&pb.GraphDef{Node: []*pb.NodeDef{{Name: "c", Device: strings.Repeat("x", 1<<20)}}}).Marshal()
	file := &countingReader{ReaderAt: bytes.NewReader(b)}
	s, err := graphInternals.NewSurvey(pb.InFile(file, int64(len(b))), nil)
	if err != nil {
		t.Fatal(err)
	}
	if !s.HasNode("c") || file.read > 64<<10 {
		t.Errorf("the node is noted: %v, %d bytes of %d were read", s.HasNode("c"), file.read, len(b))
	}
}

type countingReader struct {
	io.ReaderAt
	read int
}

func (c *countingReader) ReadAt(b []byte, off int64) (int, error) {
	n, err := c.ReaderAt.ReadAt(b, off)
	c.read += n
	return n, err
}

// TestASurveyFindsWhatIsMissing: a survey returns false for every graph that
// may fail to be made, in memory and in a file.
func TestASurveyFindsWhatIsMissing(t *testing.T) {
	const whole = `node { name: 'x' op: 'Placeholder' attr { key: 'dtype' value { type: DT_FLOAT } } }
		node { name: 'y' op: 'StatefulPartitionedCall' input: 'x' input: '^c' attr { key: 'f' value { func { name: 'outer' } } } }
		node { name: 'c' op: 'NoOp' }
		node { name: 'odd' op: 'Conjure' input: 'y' }
		library {
			function { signature { name: 'outer' input_arg { name: 'a' type: DT_FLOAT } output_arg { name: 'r' type: DT_FLOAT } control_output: 'd' }
				node_def { name: 'n' op: 'inner' input: 'a' } ret { key: 'r' value: 'n:r:0' } control_ret { key: 'd' value: 'n' } }
			function { signature { name: 'inner' input_arg { name: 'a' type: DT_FLOAT } output_arg { name: 'r' type: DT_FLOAT } }
				node_def { name: 'm' op: 'Neg' input: 'a' input: '^k' attr { key: 'T' value { type: DT_FLOAT } } }
				node_def { name: 'k' op: 'Const' attr { key: 'value' value { tensor { dtype: DT_FLOAT tensor_shape {} tensor_content: 'LARGE' } } } }
				ret { key: 'r' value: 'm:y:0' } }
			function { signature { name: 'left' } node_def { name: 'm' op: 'Conjure' } } }`
	large := strings.NewReplacer("LARGE", strings.Repeat("x", 50_000)) // more than is read at a time
	for _, c := range []struct {
		old, new string
		fetch    string
		want     bool
	}{
		{"", "", "y:0", true},
		{"", "", "^c", true},
		{"", "", "odd:0", false},
		{"", "", "nowhere:0", false},
		{"input: '^c'", "input: '^nowhere'", "y:0", false},
		{"name: 'outer' }", "name: 'nowhere' }", "y:0", false},
		{"op: 'inner'", "op: 'Conjure'", "y:0", false},
		{"op: 'Neg'", "op: 'Conjure'", "y:0", false},
		{"input: '^k'", "input: '^j'", "y:0", false},
		{"value: 'm:y:0'", "value: 'l:y:0'", "y:0", false},
		{"control_ret { key: 'd' value: 'n'", "control_ret { key: 'd' value: 'm'", "y:0", false},
		{"node_def { name: 'm' op: 'Conjure' }", "node_def { name: 'm' op: 'Conjure' input: 'nowhere' }", "y:0", true},
	} {
		var p pb.GraphDef
		if err := pb.UnmarshalText([]byte(large.Replace(strings.Replace(whole, c.old, c.new, 1))), &p); err != nil {
			t.Fatal(err)
		}
		b := p.Marshal()
		for where, from := range map[string]pb.Source{"memory": pb.InMemory(b), "a file": pb.InFile(bytes.NewReader(b), int64(len(b)))} {
			s, err := graphInternals.NewSurvey(from, func(op string) bool { return op != "Conjure" && op != "Placeholder" && graph.LookupOp(op) != nil })
			if err != nil {
				t.Fatal(err)
			}
			for range 2 { // the second time, the survey has seen the nodes
				if ok, err := s.Reaches([]string{c.fetch}, []string{"x:0"}); ok != c.want || err != nil {
					t.Errorf("%q for %q, %s, in %s: %v, %v, want %v", c.new, c.old, c.fetch, where, ok, err, c.want)
				}
				if !c.want {
					break
				}
			}
		}
		cut := b[:len(b)-3]
		if _, err := graphInternals.NewSurvey(pb.InFile(bytes.NewReader(cut), int64(len(b))), func(string) bool { return true }); err == nil {
			t.Error("a file that ends too early was surveyed")
		}
	}
}

// TestAGraphInAFileIsTheOneInMemory: whole, and with the functions that are reached from some.
func TestAGraphInAFileIsTheOneInMemory(t *testing.T) {
	files, err := filepath.Glob("../savedmodel/testdata/models/*/saved_model.pb")
	if err != nil || len(files) < 10 {
		t.Fatal(files, err)
	}
	for _, name := range files {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var p pb.SavedModel
		if err := p.Unmarshal(b); err != nil {
			t.Fatal(name, err)
		}
		for _, m := range p.MetaGraphs {
			if m.GraphDef == nil {
				continue
			}
			b := m.GraphDef.Encoded()
			for _, only := range [][]string{nil, {}} {
				var written [2][]byte
				var failed [2]string
				for i, from := range []pb.Source{pb.InMemory(b), pb.InFile(bytes.NewReader(b), int64(len(b)))} {
					g, err := graphInternals.Read(from, &graph.Options{Only: only}, nil)
					if err == nil {
						written[i], err = g.Marshal()
					}
					if err != nil {
						failed[i] = err.Error()
					}
				}
				if !slices.Equal(written[0], written[1]) || failed[0] != failed[1] {
					t.Errorf("%s: the graph in the file differs: %q, %q", name, failed[0], failed[1])
				}
			}
		}
	}
}
