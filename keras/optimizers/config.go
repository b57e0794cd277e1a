package optimizers

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/cairnml/cairn/keras/config"
)

// The config of an optimizer has three parts: the options of Base, which depend on the
// layout, the learning rate, and the fields of the optimizer's own struct.

// keras/config calls the methods. Names, order and types of the fields are those of tf_keras's
// get_config and must stay.
const (
	module       = "keras.optimizers"
	legacyModule = "keras.optimizers.legacy"
)

// ConfigClass returns the class of tf_keras's family that the layout belongs to.
func (o *Base) ConfigClass(c config.Class, legacy bool) config.Class {
	switch {
	case c.Module != module || c.Package != "": // a program's class
	case o.isLegacy():
		c.Module = legacyModule
	case legacy:
		c.Package = "Custom" // tf_keras registers the optimizers of its new family
	}
	return c
}

// EncodeConfig returns the options and the learning rate as they are now.
func (o *Base) EncodeConfig(e *config.Encoder) (config.Fields, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case o.rule == nil:
		return nil, errUnmade
	case Layout(o.layout.Load()) == Keras3Layout:
		return nil, errors.New("optimizers with Keras 3's layout have no config of tf_keras; use NewLayout or LegacyLayout")
	}
	own, err := e.Fields(o.rule)
	if err != nil {
		return nil, err
	}
	var rate any = o.start
	switch {
	case o.Schedule != nil:
		rate = o.Schedule
	case o.rate != nil:
		rate = float64(o.rate.Get())
	case !o.isLegacy():
		rate = float64(float32(o.start)) // tf_keras's is a variable from the start
	}
	if !o.isLegacy() {
		f := config.Fields{
			{Name: "name", Value: o.Name},
			{Name: "weight_decay", Value: o.WeightDecay},
			{Name: "clipnorm", Value: o.ClipNorm},
			{Name: "global_clipnorm", Value: o.GlobalClipNorm},
			{Name: "clipvalue", Value: o.ClipValue},
			{Name: "use_ema", Value: o.UseEMA},
			{Name: "ema_momentum", Value: o.EMAMomentum},
			{Name: "ema_overwrite_frequency", Value: nil},
			{Name: "jit_compile", Value: o.JITCompile},
			{Name: "is_legacy_optimizer", Value: false},
			{Name: "learning_rate", Value: rate},
		}
		if o.EMAOverwriteFrequency != 0 {
			f[7].Value = o.EMAOverwriteFrequency
		}
		return append(f, own...), nil
	}
	f := config.Fields{{Name: "name", Value: o.Name}}
	for _, l := range []config.Pair{{Name: "clipnorm", Value: o.ClipNorm}, {Name: "clipvalue", Value: o.ClipValue}, {Name: "global_clipnorm", Value: o.GlobalClipNorm}} {
		if l.Value.(*float64) != nil {
			f = append(f, l)
		}
	}
	decay := o.Decay
	if r, ok := o.rule.(decayRule); ok {
		decay = *r.legacyDecay()
	}
	f = append(f, config.Pair{Name: "learning_rate", Value: rate}, config.Pair{Name: "decay", Value: decay})
	for i, p := range own {
		if h := o.hyper[p.Name]; h != nil {
			own[i].Value = float64(h.Get())
		}
	}
	if r, ok := o.rule.(interface{ legacyOrder() []string }); ok {
		order := r.legacyOrder()
		slices.SortStableFunc(own, func(a, b config.Pair) int {
			return slices.Index(order, a.Name) - slices.Index(order, b.Name)
		})
	}
	return append(f, own...), nil
}

// decayRule is a rule whose legacy config has another number as decay.
type decayRule interface{ legacyDecay() *float64 }

var errNewOnly = errors.New("tf_keras has no legacy optimizer of that class; use NewLayout")

// DecodeConfig sets the options and the learning rate. The layout is the new family's if
// is_legacy_optimizer is false, or if there is no config at all.
func (o *Base) DecodeConfig(d *config.Decoder, conf map[string]any) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.rule == nil {
		return fmt.Errorf("%w; set New of its config.Class", errUnmade)
	}
	conf = maps.Clone(conf)
	legacy := len(conf) > 0 && !o.newOnly
	if v, ok := conf["is_legacy_optimizer"]; ok {
		if err := d.Value(v, &legacy); err != nil {
			return fmt.Errorf("is_legacy_optimizer: %w", err)
		}
		delete(conf, "is_legacy_optimizer")
	}
	if legacy && o.newOnly {
		return errNewOnly
	}
	take := func(key string, dst any) error {
		v, ok := conf[key]
		if !ok {
			return nil
		}
		delete(conf, key)
		if err := d.Value(v, dst); err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
		return nil
	}
	errs := []error{take("name", &o.Name), take("clipnorm", &o.ClipNorm), take("global_clipnorm", &o.GlobalClipNorm), take("clipvalue", &o.ClipValue)}
	rate := "learning_rate"
	if _, ok := conf[rate]; !ok && legacy {
		rate = "lr"
	}
	if _, object := conf[rate].(map[string]any); object {
		errs = append(errs, take(rate, &o.Schedule))
	} else {
		errs = append(errs, take(rate, &o.start))
	}
	o.layout.Store(int32(NewLayout))
	if legacy {
		o.layout.Store(int32(LegacyLayout))
		decay := &o.Decay
		if r, ok := o.rule.(decayRule); ok {
			decay = r.legacyDecay()
		}
		errs = append(errs, take("decay", decay))
		if conf["epsilon"] == nil { // files of old versions have null for the default
			delete(conf, "epsilon")
		}
	} else {
		var frequency *int
		if _, ok := conf["ema_overwrite_frequency"]; !ok {
			frequency = &o.EMAOverwriteFrequency
		}
		errs = append(errs, take("weight_decay", &o.WeightDecay), take("use_ema", &o.UseEMA), take("ema_momentum", &o.EMAMomentum),
			take("ema_overwrite_frequency", &frequency), take("jit_compile", &o.JITCompile))
		o.EMAOverwriteFrequency = 0
		if frequency != nil {
			o.EMAOverwriteFrequency = *frequency
		}
	}
	errs = append(errs, d.Fields(o.Name, o.rule, conf), o.validate())
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// OptionChecker is a [Rule] that refuses some values of its options. CheckOptions is called
// before the first step, and for a config.
type OptionChecker interface {
	Rule
	CheckOptions() error
}

// validate returns an error if options are out of range, or exclude each other.
func (o *Base) validate() error {
	isLegacy := o.isLegacy()
	for _, l := range []struct {
		name string
		x    *float64
	}{{"ClipValue", o.ClipValue}, {"ClipNorm", o.ClipNorm}, {"GlobalClipNorm", o.GlobalClipNorm}, {"Decay", &o.Decay}} {
		if l.x != nil && !(*l.x >= 0) {
			return fmt.Errorf("%s is %v, want 0 or more", l.name, *l.x)
		}
	}
	switch {
	case o.ClipNorm != nil && o.GlobalClipNorm != nil:
		return errors.New("ClipNorm and GlobalClipNorm exclude each other; set one of them to nil")
	case !isLegacy && o.Decay != 0:
		return errors.New("only the legacy layout has Decay; use a Schedule, or WeightDecay")
	case isLegacy && o.WeightDecay != nil:
		return errors.New("only the new layout has WeightDecay; call SetLayout(NewLayout)")
	case o.UseEMA && Layout(o.layout.Load()) != NewLayout:
		return errors.New("only the new layout has UseEMA; call SetLayout(NewLayout)")
	case o.UseEMA && !(o.EMAMomentum >= 0 && o.EMAMomentum <= 1):
		return fmt.Errorf("EMAMomentum is %v, want 0 to 1", o.EMAMomentum)
	case o.UseEMA && o.EMAOverwriteFrequency < 0:
		return fmt.Errorf("EMAOverwriteFrequency is %d, want 0 or more", o.EMAOverwriteFrequency)
	}
	if c, ok := o.rule.(OptionChecker); ok {
		return c.CheckOptions()
	}
	return nil
}

// between checks that an option is in [low, high].
func between(name string, x, low, high float64) error {
	if !(x >= low && x <= high) {
		return fmt.Errorf("%s is %v, want %v to %v", name, x, low, high)
	}
	return nil
}
