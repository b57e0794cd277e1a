package checkpoint

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/cairnml/cairn/trackable"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// A sequence is a record of operations of TensorFlow's CheckpointManager and
// their results; testdata/tf2.21/gen_state.py recorded it.
type sequence struct {
	Name string
	Ops  []struct {
		Op       string
		Max      int
		Hours    float64
		Name     string
		Interval int64
		LastStep *int64 `json:"last_step"`
		Number   *int64
		Force    bool
		By       float64

		Result      *string
		Files       []string
		State       *string
		StepNow     int64 `json:"step_now"`
		Counter     int64
		Checkpoints []string
		Latest      *string
	}
}

type stepRoot struct {
	Step *trackable.Scalar[int64]
}

func filesBelow(t *testing.T, dir string) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if os.IsNotExist(err) {
			return nil
		}
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dir, p)
		out = append(out, filepath.ToSlash(rel))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(out)
	return out
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func TestManagerDoesWhatTensorFlowsDoes(t *testing.T) {
	if filepath.Separator != '/' {
		t.Skip("recorded on Linux")
	}
	var all []sequence
	golden(t, "sequences.json", &all)
	if len(all) < 30 {
		t.Fatalf("only %d sequences", len(all))
	}
	for _, seq := range all {
		t.Run(seq.Name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			ctx := context.Background()
			root := &stepRoot{Step: trackable.NewScalar[int64](0)}
			root.Step.Named("step")
			fresh := func() *Checkpoint {
				ck, err := New(root, nil)
				if err != nil {
					t.Fatal(err)
				}
				return ck
			}
			ck := fresh()
			now := time.Unix(1_700_000_000, 0)
			var m *Manager
			defer func() {
				if m != nil {
					m.Close()
				}
			}()
			for i, op := range seq.Ops {
				var result string
				var err error
				switch op.Op {
				case "manager":
					if m != nil {
						if err := m.Close(); err != nil {
							t.Fatal(err)
						}
					}
					m, err = NewManager(ck, "run", &ManagerOptions{
						MaxToKeep: op.Max, KeepEvery: time.Duration(op.Hours * float64(time.Hour)), CheckpointName: op.Name,
						Interval: op.Interval, Step: root.Step.Get, LastCheckpointStep: op.LastStep,
						Clock: func() time.Time { return now }, NoLock: true,
					})
				case "save":
					result, err = m.SaveWith(ctx, &SaveOptions{Number: op.Number, Force: op.Force, Replace: true}) // TensorFlow replaces whatever is there
				case "plain":
					result, err = ck.Save(ctx, "run/ckpt")
				case "clock":
					now = now.Add(time.Duration(op.By * float64(time.Second)))
				case "step":
					root.Step.Add(int64(op.By))
				case "fresh":
					ck = fresh()
				case "restore":
					var report *Report
					if report, err = m.RestoreOrInitialize(ctx); err == nil {
						result = report.Path
					}
				default:
					t.Fatalf("operation %q", op.Op)
				}
				if err != nil {
					t.Fatalf("%d %s: %v", i, op.Op, err)
				}
				var checkpoints []string
				latest := ""
				if m != nil {
					checkpoints, latest = m.Checkpoints(), m.Latest()
				}
				state, err := os.ReadFile("run/checkpoint")
				if err != nil && !os.IsNotExist(err) {
					t.Fatal(err)
				}
				for what, d := range map[string]string{
					"result":      cmp.Diff(text(op.Result), result),
					"files":       cmp.Diff(op.Files, filesBelow(t, "run"), cmpopts.EquateEmpty()),
					"state":       cmp.Diff(text(op.State), string(state)),
					"checkpoints": cmp.Diff(op.Checkpoints, checkpoints, cmpopts.EquateEmpty()),
					"latest":      cmp.Diff(text(op.Latest), latest),
					"counter":     cmp.Diff(op.Counter, ck.SaveCounter().Get()),
					"step":        cmp.Diff(op.StepNow, root.Step.Get()),
				} {
					if d != "" {
						t.Fatalf("%s after operation %d, %s (-TensorFlow +ours):\n%s", what, i, op.Op, d)
					}
				}
				now = now.Add(125 * time.Millisecond)
			}
		})
	}
}
