package training

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/keras/config"
	"github.com/cairnml/cairn/keras/internal/samples"
	"github.com/cairnml/cairn/keras/losses"
	"github.com/cairnml/cairn/keras/metrics"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
)

// metricSet has the compiled metrics of a model's outputs.
type metricSet struct {
	built    bool
	plain    [][]metrics.Metric // for each output
	weighted [][]metrics.Metric
	all      []metrics.Accumulator // in the order of logs
}

// flat reports whether a list has metrics, not lists of metrics for each output.
func flat(v reflect.Value) bool {
	for i := range v.Len() {
		e := reflect.ValueOf(v.Index(i).Interface())
		if e.Kind() == reflect.Slice && !isBytes(e) || e.Kind() == reflect.Map {
			return false
		}
	}
	return true
}

// listOf returns the elements of a list, or a single object as a list.
func listOf(x any) []any {
	v := reflect.ValueOf(x)
	if x == nil {
		return nil
	}
	if v.Kind() != reflect.Slice || isBytes(v) {
		return []any{x}
	}
	list := make([]any, v.Len())
	for i := range list {
		list[i] = v.Index(i).Interface()
	}
	return list
}

// checkMetrics returns an error if a metric is unknown, or is given twice.
func checkMetrics(given any) error {
	v := reflect.ValueOf(given)
	var list []any
	if given != nil && v.Kind() == reflect.Map {
		for _, k := range v.MapKeys() {
			list = append(list, listOf(v.MapIndex(k).Interface())...)
		}
	} else {
		for _, x := range listOf(given) {
			list = append(list, listOf(x)...)
		}
	}
	seen := map[any]bool{}
	for _, id := range list {
		if id == nil {
			continue
		}
		if m, ok := id.(metrics.Accumulator); ok {
			if seen[m] {
				return fmt.Errorf("the metric %q is given twice; it would be updated twice", metrics.NameOf(m))
			}
			seen[m] = true
		}
		// Shapes that "accuracy" takes.
		if _, err := metricFor(id, tensor.Shape{1, 1}, tensor.Shape{1, 1}); err != nil {
			return err
		}
	}
	return nil
}

// metricFor returns the metric of an identifier. The shapes of truths and predictions decide the
// kind of "accuracy" and "crossentropy".
func metricFor(id any, truth, predicted tensor.Shape) (metrics.Metric, error) {
	if f, ok := id.(func(s *ops.Scope, truth, predicted ops.Input) *ops.Value); ok {
		id = losses.Func(f)
	}
	return metrics.For(id, truth, predicted)
}

// build makes the metrics for the outputs and truths, once.
func (m *metricSet) build(o *CompileOptions, out *outputs, truths []*ops.Value) (err error) {
	if m.built {
		return nil
	}
	if m.plain, err = metricsPerOutput("metrics", o.Metrics, out, truths); err != nil {
		return err
	}
	if m.weighted, err = metricsPerOutput("weighted metrics", o.WeightedMetrics, out, truths); err != nil {
		return err
	}
	if err := m.name(o, out.names); err != nil {
		return err
	}
	m.built = true
	return nil
}

func metricsPerOutput(what string, given any, out *outputs, truths []*ops.Value) ([][]metrics.Metric, error) {
	list, err := perOutput(what, given, out.names, flat)
	if err != nil {
		return nil, err
	}
	made := make([][]metrics.Metric, len(out.names))
	used := map[metrics.Metric]bool{}
	for i := range out.names {
		for _, id := range listOf(list[i]) {
			if id == nil || truths[i] == nil {
				continue
			}
			metric, err := metricFor(id, truths[i].Shape(), out.values[i].Shape())
			if err != nil {
				return nil, err
			}
			if used[metric] {
				metric = config.Copy(metric) // each output has its own
			}
			used[metric] = true
			made[i] = append(made[i], metric)
		}
	}
	return made, nil
}

// name sets the metrics' names, all different, and lists them. The prefixes of outputs, and
// "weighted_" for a repeated name, are those of tf_keras's MetricsContainer. Metric objects from a
// file may have the prefix already.
func (m *metricSet) name(o *CompileOptions, outputs []string) error {
	used := map[string]bool{}
	several := len(outputs) > 1
	set := func(metric metrics.Metric, name string) error {
		if used[name] {
			return fmt.Errorf("two metrics have the name %q; set the Name of one", name)
		}
		used[name] = true
		metric.AsMetric().SetName(name)
		m.all = append(m.all, metric)
		return nil
	}
	for i, output := range outputs {
		for _, metric := range m.plain[i] {
			name := metrics.NameOf(metric)
			if several && !(o.stored && strings.HasPrefix(name, output+"_")) {
				name = output + "_" + name
			}
			if err := set(metric, name); err != nil {
				return err
			}
		}
		for _, metric := range m.weighted[i] {
			name := metrics.NameOf(metric)
			switch {
			case several && o.stored && strings.HasPrefix(name, output+"_"):
			case several && used[output+"_"+name]:
				name = output + "_weighted_" + name
			case several:
				name = output + "_" + name
			case used[name]:
				name = "weighted_" + name
			}
			if err := set(metric, name); err != nil {
				return err
			}
		}
	}
	return nil
}

// update takes a batch into account.
func (m *metricSet) update(s *ops.Scope, out *outputs, truths, weights []*ops.Value) {
	for i, p := range out.values {
		if truths[i] == nil || len(m.plain[i]) == 0 && len(m.weighted[i]) == 0 {
			continue
		}
		t, w := match(s, truths[i], p, weights[i])
		if s.Err() != nil {
			return
		}
		mask := base.MaskOf(p)
		for _, metric := range m.plain[i] {
			metric.Update(s, t, p, input(mask))
		}
		if len(m.weighted[i]) > 0 {
			w = samples.Masked(s, input(w), mask, p.DType())
		}
		for _, metric := range m.weighted[i] {
			metric.Update(s, t, p, input(w))
		}
	}
}
