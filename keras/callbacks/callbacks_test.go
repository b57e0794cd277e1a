package callbacks_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/cairnml/cairn/keras/callbacks"
	"github.com/cairnml/cairn/keras/optimizers"
	"github.com/cairnml/cairn/keras/optimizers/schedules"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
	"github.com/cairnml/cairn/vfs"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// number is a number in JSON as Python writes it, or "float32 x".
type number float64

func (n *number) UnmarshalJSON(data []byte) error {
	text := strings.TrimPrefix(strings.Trim(string(data), `"`), "float32 ")
	x, err := strconv.ParseFloat(text, 64)
	*n = number(x)
	if strings.Contains(string(data), "float32") {
		*n = number(float32(x))
	}
	return err
}

// numbers are logs.
type numbers map[string]number

func (n numbers) logs() callbacks.Logs {
	logs := callbacks.Logs{}
	for name, x := range n {
		logs[name] = float64(x)
	}
	return logs
}

type tfCase struct {
	Class        string
	Args         json.RawMessage
	Logs, After  []numbers
	Began, Ended []number
	Stopped      int
	Weight       float32
	Printed      string
}

type csvCase struct {
	Args  json.RawMessage
	Runs  [][]numbers
	Files []string
}

func fixture(t *testing.T) (f struct {
	Cases map[string]tfCase
	CSV   map[string]csvCase
}) {
	t.Helper()
	data, err := os.ReadFile("testdata/callbacks.json")
	must(t, err)
	data = []byte(strings.NewReplacer(": NaN", `: "NaN"`, ": -Infinity", `: "-Inf"`, ": Infinity", `: "Inf"`).Replace(string(data)))
	must(t, json.Unmarshal(data, &f))
	return f
}

// set sets the fields of a callback by tf_keras's names of its arguments.
func set(t *testing.T, callback any, args json.RawMessage) {
	t.Helper()
	var values map[string]json.RawMessage
	must(t, json.Unmarshal(args, &values))
	v := reflect.ValueOf(callback).Elem()
	for name, value := range values {
		f := v.FieldByNameFunc(func(field string) bool { return strings.EqualFold(field, strings.ReplaceAll(name, "_", "")) })
		switch {
		case !f.IsValid():
			t.Fatalf("%T has no field for %s", callback, name)
		case name == "verbose":
			f.SetBool(string(value) == "1")
		case name == "schedule":
			f.Set(reflect.ValueOf(map[string]func(int, float64) float64{
				`"halve"`: func(_ int, rate float64) float64 { return rate * 0.5 },
				`"epoch"`: func(epoch int, _ float64) float64 { return 0.1 / float64(epoch+1) },
			}[string(value)]))
		default:
			must(t, json.Unmarshal(value, f.Addr().Interface()))
		}
	}
}

func TestCallbacksDoWhatTfKerasDoes(t *testing.T) {
	ctx := context.Background()
	for name, c := range fixture(t).Cases {
		t.Run(name, func(t *testing.T) {
			callback := map[string]callbacks.Callback{
				"EarlyStopping":         new(callbacks.EarlyStopping),
				"ReduceLROnPlateau":     new(callbacks.ReduceLROnPlateau),
				"LearningRateScheduler": new(callbacks.LearningRateScheduler),
				"TerminateOnNaN":        new(callbacks.TerminateOnNaN),
			}[c.Class]
			set(t, callback, c.Args)
			w := trackable.NewVariable(tensor.Vector[float32](0))
			var text strings.Builder
			run := &callbacks.Run{Model: &struct{ W *trackable.Variable }{w}, Optimizer: optimizers.NewSGD(0.1), Output: &text}
			list := callbacks.List{callback}
			rate := func() number {
				rate, err := run.Optimizer.LearningRate()
				must(t, err)
				return number(rate)
			}
			stopped := -1
			var began, ended []number
			must(t, list.OnTrainBegin(ctx, run))
			for epoch, given := range c.Logs {
				logs := given.logs()
				must(t, w.Store(tensor.Vector(float32(epoch+1))))
				if c.Class == "TerminateOnNaN" {
					must(t, list.OnTrainBatchEnd(ctx, run, epoch, logs))
				} else {
					must(t, list.OnEpochBegin(ctx, run, epoch))
					began = append(began, rate())
					must(t, list.OnEpochEnd(ctx, run, epoch, logs))
					ended = append(ended, rate())
				}
				if d := cmp.Diff(c.After[epoch].logs(), logs, cmpopts.EquateNaNs()); d != "" {
					t.Errorf("logs of epoch %d (-tf_keras +ours):\n%s", epoch, d)
				}
				if run.StopTraining {
					stopped = epoch
					break
				}
			}
			must(t, list.OnTrainEnd(ctx, run, nil))
			if d := cmp.Diff([][]number{c.Began, c.Ended}, [][]number{began, ended}, cmpopts.EquateEmpty()); d != "" {
				t.Errorf("learning rates (-tf_keras +ours):\n%s", d)
			}
			if stopped != c.Stopped {
				t.Errorf("stopped after epoch %d, tf_keras after %d", stopped, c.Stopped)
			}
			if e, ok := callback.(*callbacks.EarlyStopping); ok && e.StoppedEpoch() != max(c.Stopped, 0) {
				t.Errorf("StoppedEpoch is %d", e.StoppedEpoch())
			}
			if got := tensor.Values[float32](w.Load())[0]; got != c.Weight {
				t.Errorf("the weight is that of epoch %v, in tf_keras of %v", got, c.Weight)
			}
			var printed []string // without warnings, which tf_keras logs
			for line := range strings.Lines(text.String()) {
				if !strings.HasPrefix(line, "WARNING: ") {
					printed = append(printed, line)
				}
			}
			if got := strings.Join(printed, ""); got != c.Printed {
				t.Errorf("printed %q, tf_keras %q", got, c.Printed)
			}
			if warned := len(printed) != strings.Count(text.String(), "\n"); warned != strings.Contains(name, "without monitor") {
				t.Errorf("warned: %v", warned)
			}
		})
	}
}

func TestCSVFilesAreTfKeras(t *testing.T) {
	ctx := context.Background()
	for name, c := range fixture(t).CSV {
		t.Run(name, func(t *testing.T) {
			for where, make := range map[string]func() (l *callbacks.CSVLogger, read func() ([]byte, error)){
				"disk": func() (*callbacks.CSVLogger, func() ([]byte, error)) {
					path := filepath.Join(t.TempDir(), "new", "log.csv")
					return &callbacks.CSVLogger{Filename: path}, func() ([]byte, error) { return os.ReadFile(path) }
				},
				"memory": func() (*callbacks.CSVLogger, func() ([]byte, error)) {
					dir := vfs.MemDir()
					return &callbacks.CSVLogger{Filename: "a/log.csv", Dir: dir}, func() ([]byte, error) { return dir.ReadFile("a/log.csv") }
				},
			} {
				logger, read := make()
				set(t, logger, c.Args)
				for i, run := range c.Runs {
					must(t, logger.OnTrainBegin(ctx, nil))
					for epoch, logs := range run {
						must(t, logger.OnEpochEnd(ctx, nil, epoch, logs.logs()))
					}
					must(t, logger.OnTrainEnd(ctx, nil, nil))
					got, err := read()
					must(t, err)
					if d := cmp.Diff(c.Files[i], string(got)); d != "" {
						t.Errorf("%s: file after run %d (-tf_keras +ours):\n%s", where, i, d)
					}
				}
			}
		})
	}
}

func TestRemoteMonitorPostsLogs(t *testing.T) {
	ctx := context.Background()
	logs := callbacks.Logs{"loss": 0.5, "acc": 1, "val_loss": math.NaN()}
	for name, c := range map[string]struct {
		monitor  callbacks.RemoteMonitor
		logs     callbacks.Logs
		body     string
		kind     string
		path     string
		warnings int
	}{
		"form":            {callbacks.RemoteMonitor{}, logs, "data=%7B%22epoch%22%3A+3%2C+%22acc%22%3A+1.0%2C+%22loss%22%3A+0.5%2C+%22val_loss%22%3A+NaN%7D", "application/x-www-form-urlencoded", "/publish/epoch/end/", 0},
		"field":           {callbacks.RemoteMonitor{Field: "f", Path: "/p"}, callbacks.Logs{"x": math.Inf(1)}, "f=%7B%22epoch%22%3A+3%2C+%22x%22%3A+Infinity%7D", "application/x-www-form-urlencoded", "/p", 0},
		"json":            {callbacks.RemoteMonitor{SendAsJSON: true, Headers: http.Header{"x-key": {"k"}}}, callbacks.Logs{"loss": 1e-5}, `{"epoch": 3, "loss": 1e-05}`, "application/json", "/publish/epoch/end/", 0},
		"json of a NaN":   {callbacks.RemoteMonitor{SendAsJSON: true}, logs, "", "", "", 1},
		"nobody is there": {callbacks.RemoteMonitor{Root: "http://127.0.0.1:1"}, logs, "", "", "", 1},
	} {
		t.Run(name, func(t *testing.T) {
			var got, kind, path, key string
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				got, kind, path, key = string(body), r.Header.Get("Content-Type"), r.URL.Path, r.Header.Get("X-Key")
				w.WriteHeader(http.StatusInternalServerError) // which tf_keras ignores
			}))
			defer server.Close()
			if c.monitor.Root == "" {
				c.monitor.Root = server.URL
			}
			var text strings.Builder
			must(t, c.monitor.OnEpochEnd(ctx, &callbacks.Run{Output: &text}, 3, c.logs))
			if got != c.body || kind != c.kind || path != c.path || (key == "k") != (name == "json") {
				t.Errorf("got %q of type %q at %q, key %q", got, kind, path, key)
			}
			if n := strings.Count(text.String(), "WARNING"); n != c.warnings {
				t.Errorf("printed %q", text.String())
			}
		})
	}
	canceled, cancel := context.WithCancel(ctx)
	cancel()
	if err := (&callbacks.RemoteMonitor{}).OnEpochEnd(canceled, &callbacks.Run{}, 0, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("a canceled context gives %v", err)
	}
}

func TestSettingsAreChecked(t *testing.T) {
	ctx := context.Background()
	scheduled := optimizers.NewSGD(0)
	scheduled.Schedule = schedules.ExponentialDecay{InitialLearningRate: 0.1, DecaySteps: 1, DecayRate: 0.5}
	same := func(_ int, rate float64) float64 { return rate }
	for says, c := range map[string]struct {
		callback  callbacks.Callback
		optimizer optimizers.Optimizer
	}{
		`unknown mode "best"`: {&callbacks.EarlyStopping{Mode: "best"}, nil},
		`unknown mode "up"`:   {&callbacks.ReduceLROnPlateau{Mode: "up"}, nil},
		"Factor is 1":         {&callbacks.ReduceLROnPlateau{Factor: new(1.0)}, nil},
		"has no optimizer":    {&callbacks.ReduceLROnPlateau{}, nil},
		"Schedule is nil":     {&callbacks.LearningRateScheduler{}, optimizers.NewSGD(1)},
		"follows":             {&callbacks.LearningRateScheduler{Schedule: same}, scheduled},
		"one character":       {&callbacks.CSVLogger{Separator: "ab", Dir: vfs.MemDir(), Filename: "x"}, nil},
		"CSVLogger":           {&callbacks.CSVLogger{Dir: vfs.MemDir(), Filename: ".."}, nil},
		"can't append":        {&callbacks.CSVLogger{Append: true, Filename: "x", Dir: struct{ vfs.Dir }{vfs.MemDir()}}, nil},
	} {
		run := &callbacks.Run{Optimizer: c.optimizer}
		err := c.callback.OnTrainBegin(ctx, run)
		if err == nil {
			err = errors.Join(c.callback.OnEpochBegin(ctx, run, 0), c.callback.OnEpochEnd(ctx, run, 0, callbacks.Logs{}))
		}
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%T: %v, want an error with %q", c.callback, err, says)
		}
	}
}

// TestEventsReachEveryCallback calls each event of a list of LambdaCallbacks, and stops at
// the first error.
func TestEventsReachEveryCallback(t *testing.T) {
	ctx, run := context.Background(), &callbacks.Run{}
	var calls []string
	failing := errors.New("no more")
	lambda := func(name string, err error) callbacks.Callback {
		l := new(callbacks.LambdaCallback)
		v := reflect.ValueOf(l).Elem()
		for i := range v.NumField() {
			event := name + " " + v.Type().Field(i).Name
			v.Field(i).Set(reflect.MakeFunc(v.Field(i).Type(), func([]reflect.Value) []reflect.Value {
				calls = append(calls, event)
				out := reflect.New(reflect.TypeFor[error]()).Elem()
				if err != nil {
					out.Set(reflect.ValueOf(err))
				}
				return []reflect.Value{out}
			}))
		}
		return l
	}
	list := callbacks.List{callbacks.Base{}, new(callbacks.LambdaCallback), lambda("a", nil), callbacks.List{lambda("b", failing)}, lambda("c", nil)}
	v := reflect.ValueOf(callbacks.Callback(list))
	events := reflect.TypeFor[callbacks.Callback]()
	var want []string
	for i := range events.NumMethod() {
		method := v.MethodByName(events.Method(i).Name)
		in := []reflect.Value{reflect.ValueOf(ctx), reflect.ValueOf(run)}
		for j := len(in); j < method.Type().NumIn(); j++ {
			in = append(in, reflect.Zero(method.Type().In(j)))
		}
		if out := method.Call(in); out[0].Interface() != failing {
			t.Errorf("%s gives %v", events.Method(i).Name, out[0])
		}
		event := strings.TrimPrefix(events.Method(i).Name, "On")
		want = append(want, "a "+event, "b "+event)
	}
	if d := cmp.Diff(want, calls); d != "" {
		t.Errorf("calls (-want +got):\n%s", d)
	}
}

func TestHistoryKeepsLogs(t *testing.T) {
	ctx := context.Background()
	h := new(callbacks.History)
	for range 2 {
		must(t, h.OnTrainBegin(ctx, nil))
		must(t, h.OnEpochEnd(ctx, nil, 0, callbacks.Logs{"loss": 2}))
		must(t, h.OnEpochEnd(ctx, nil, 1, callbacks.Logs{"loss": 1, "val_loss": 3}))
	}
	want := &callbacks.History{Epoch: []int{0, 1}, History: map[string][]float64{"loss": {2, 1, 2, 1}, "val_loss": {3, 3}}}
	if d := cmp.Diff(want, h); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}
