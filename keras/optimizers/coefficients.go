package optimizers

import (
	"github.com/cairnml/cairn/keras/optimizers/schedules"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// coefficients are the numbers of a step in the precision of the variables that it
// trains. Ops read them from the optimizer's variables, each once a step, so a traced
// function reads them again in every call. Options are constants.
type coefficients struct {
	s        *ops.Scope
	o        *Base
	dtype    tensor.DType
	isLegacy bool                // the legacy layout's formulas
	known    [numCount]ops.Input // by the places below; nil until the step needs the number
	memo     any                 // values that the rule computes once a step
}

// The places of the numbers that ops of a step use. A rule chooses which of its hyperparameters
// has which place; two of a rule must have different ones.
const (
	numRate = iota
	numStep
	numFirst
	numSecond
	numFirstPower
	numSecondPower
	numAlpha
	numEpsilon
	numCount
)

// coefficientsFor returns this step's coefficients for variables of a type.
func (o *Base) coefficientsFor(s *ops.Scope, d tensor.DType) *coefficients {
	for i := range o.step {
		if o.step[i].dtype == d {
			return &o.step[i]
		}
	}
	o.step = append(o.step, coefficients{s: s, o: o, dtype: d, isLegacy: o.isLegacy()})
	return &o.step[len(o.step)-1]
}

// read returns the value of one of the optimizer's float32 variables.
func (c *coefficients) read(v *trackable.Scalar[float32]) ops.Input {
	if c.dtype == tensor.Float32 {
		return &v.Variable
	}
	return ops.Cast(c.s, &v.Variable, c.dtype)
}

// hyper returns a hyperparameter: the saved one in the legacy layout, the option
// otherwise. Both are float32 even for variables of float64, because tf.cast makes a
// float32 of a Python number.
func (c *coefficients) hyper(place int, name string, option float64) ops.Input {
	h := c.o.hyper[name]
	if h == nil {
		return c.number(place, float64(float32(option)))
	}
	if c.known[place] == nil {
		c.known[place] = c.read(h)
	}
	return c.known[place]
}

// rate returns the step's learning rate.
func (c *coefficients) rate() ops.Input {
	if c.known[numRate] == nil {
		c.known[numRate] = c.learningRate()
	}
	return c.known[numRate]
}

func (c *coefficients) learningRate() (rate ops.Input) {
	s, o := c.s, c.o
	switch {
	case o.next.current != nil: // apply has set it
		rate = c.read(o.next.current)
	case o.Schedule != nil:
		// The legacy optimizers count in the variable's precision.
		step := ops.ReadVariable(s, o.iter)
		if c.isLegacy {
			step = ops.Cast(s, step, c.dtype)
		}
		r := o.Schedule.Rate(s, step)
		if r == nil {
			return s.Fail("Schedule", schedules.ErrNoRate)
		}
		rate = ops.Cast(s, r, c.dtype)
	default:
		rate = c.read(o.rate)
	}
	if c.isLegacy && o.Decay > 0 {
		// The option and not the saved variable, as TensorFlow has it.
		step := ops.Cast(s, &o.iter.Variable, c.dtype)
		rate = ops.Div(s, rate, ops.Add(s, 1, ops.Mul(s, float64(float32(o.Decay)), step)))
	}
	return rate
}

// localStep returns the step's number, from 1.
func (c *coefficients) localStep() ops.Input {
	if c.known[numStep] == nil {
		c.known[numStep] = ops.Cast(c.s, ops.Add(c.s, &c.o.iter.Variable, 1), c.dtype)
	}
	return c.known[numStep]
}

// power returns base to the power of the step's number, counted from 1.
func (c *coefficients) power(place int, base ops.Input) ops.Input {
	if c.known[place] == nil {
		c.known[place] = ops.Pow(c.s, base, c.localStep())
	}
	return c.known[place]
}

// num is a number as a scalar tensor, which all variables and steps share.
type num struct {
	x float64
	t *tensor.Tensor
}

// number returns x for an op. Tensors of float32 and float64 are kept for the next step.
func (c *coefficients) number(place int, x float64) ops.Input {
	kept := &c.o.nums[0][place]
	switch c.dtype {
	case tensor.Float32:
		if kept.t == nil || kept.x != x {
			kept.x, kept.t = x, tensor.Scalar(float32(x))
		}
	case tensor.Float64:
		if kept = &c.o.nums[1][place]; kept.t == nil || kept.x != x {
			kept.x, kept.t = x, tensor.Scalar(x)
		}
	default:
		return ops.ConstOf(c.s, c.dtype, x)
	}
	return kept.t
}
