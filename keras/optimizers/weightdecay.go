package optimizers

import (
	"errors"
	"fmt"
	"regexp"
	"slices"

	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/trackable"
)

// exclusion lists the variables without weight decay.
type exclusion struct {
	vars  []*trackable.Variable
	names []*regexp.Regexp

	used, attached bool                                    // ExcludeFromWeightDecay was called; the edges exist
	lists          [2]*trackable.List[*trackable.Variable] // attached, or to be attached
}

func (e *exclusion) has(v *trackable.Variable) bool {
	if slices.Contains(e.vars, v) {
		return true
	}
	return len(e.names) > 0 && slices.ContainsFunc(e.names, func(r *regexp.Regexp) bool { return r.MatchString(v.Name()) })
}

// ExcludeFromWeightDecay leaves variables out of the weight decay: vars, and those whose
// full names contain a match of one of the regular expressions. It replaces the settings of
// an earlier call. Calls after the first step are an error.
func (o *Base) ExcludeFromWeightDecay(vars []*trackable.Variable, names ...string) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.next.built.Load() {
		return errors.New("optimizers: ExcludeFromWeightDecay: the optimizer has made its variables already; call it before the first step")
	}
	e := exclusion{vars: slices.Clone(vars)}
	for _, name := range names {
		r, err := regexp.Compile(name)
		if err != nil {
			return fmt.Errorf("optimizers: ExcludeFromWeightDecay: %w", err)
		}
		e.names = append(e.names, r)
	}
	e.used, e.attached, e.lists = true, o.excluded.attached, o.excluded.lists
	o.excluded = e
	if o.made.Load() && !o.isLegacy() {
		return o.attachExclusion()
	}
	return nil
}

// attachExclusion adds the edges of tf_keras's two lists, which are nodes without children.
// After an error the next call tries again. The lock is held.
func (o *Base) attachExclusion() error {
	if !o.excluded.used || o.excluded.attached {
		return nil
	}
	for i, edge := range []string{"_exclude_from_weight_decay", "_exclude_from_weight_decay_names"} {
		if o.excluded.lists[i] == nil {
			o.excluded.lists[i] = trackable.NewList[*trackable.Variable]()
		}
		if err := o.Attach(edge, o.excluded.lists[i]); err != nil {
			return err
		}
	}
	o.excluded.attached = true
	return nil
}

// decayWeight subtracts the weight decay from a variable, before the rule's update.
func (o *Base) decayWeight(s *ops.Scope, u *Update) {
	if u.isLegacy || o.WeightDecay == nil || *o.WeightDecay == 0 || o.excluded.has(u.Variable) {
		return
	}
	// TensorFlow multiplies variable, decay and rate in this order.
	decay := ops.Mul(s, ops.Mul(s, u.Variable, float64(float32(*o.WeightDecay))), u.rate())
	ops.AssignSub(s, u.Variable, decay)
}
