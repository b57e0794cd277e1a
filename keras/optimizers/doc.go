// Package optimizers has the optimizers of tf_keras. In a checkpoint their variables have the
// places and names of one of tf_keras's two families, the legacy or the new one, or of Keras 3;
// see [Layout]. Edges and their order decide the keys of checkpoints, so they must stay.
//
//	opt := optimizers.NewAdam(0.001)
//	opt.ClipNorm = new(1.0)
//
// Package [github.com/cairnml/cairn/keras/optimizers/schedules] has learning rates that
// depend on the step. A [LossScaleOptimizer] scales losses for computations in float16.
//
// A program's own optimizer is a struct that embeds [Base] and implements [Rule]. Its state
// is saved and restored like that of the others.
//
// # Configs
//
// The config of an optimizer is tf_keras's get_config of the family that its layout belongs
// to, the learning rate included as it is now. keras.Config and keras.FromConfig convert it.
// [Get] makes an optimizer of the new family by name. A config without is_legacy_optimizer is
// one of the legacy family; for AdamW, Lion and Adafactor, which that family lacks, it is one
// of the new family.
//
// # Optimizers in a checkpoint
//
// The legacy layout, of tf_keras.optimizers.legacy and of TensorFlow's guide,
// is the default of all optimizers except AdamW, Lion and Adafactor. These exist only in
// the new family and have its layout. For an Adam called
// "optimizer" and a variable net/l1/kernel with the full name net/dense/kernel:
//
//	key                                             full name
//	optimizer/iter                                  Adam/iter            int64
//	optimizer/beta_1, beta_2, decay, learning_rate  Adam/beta_1 …        float32
//	net/l1/kernel/.OPTIMIZER_SLOT/optimizer/m       Adam/net/dense/kernel/m
//	net/l1/kernel/.OPTIMIZER_SLOT/optimizer/v       Adam/net/dense/kernel/v
//
// The edges are iter, then the hyperparameters by name: beta (Ftrl), beta_1,
// beta_2 (Adam, Adamax, Nadam), decay, l1_regularization_strength and
// l2_regularization_strength (Ftrl), learning_rate, learning_rate_power (Ftrl),
// momentum (SGD, RMSprop), rho (RMSprop, Adadelta). Slots are m, v and vhat
// (Adam), m and v (Adamax, Nadam), momentum (SGD), rms, momentum and mg (RMSprop),
// accumulator (Adagrad), accumulator and linear (Ftrl), accum_grad and accum_var
// (Adadelta). Nadam has an edge momentum_cache after the hyperparameters. None
// of them exists before the first step: an optimizer saved
// before it is a node without children. A learning rate that follows a schedule
// isn't saved; a schedule with variables is, as learning_rate, the first edge, from
// the start. A [LossScaleOptimizer] puts loss_scale, if it is dynamic, and base_optimizer
// before all of them.
//
// The new layout, of tf_keras.optimizers, has a list of all variables and lists
// that share them. The step counter and the rate exist from the start, the rest
// from the first step:
//
//	edge                           full name                     optimizer
//	_variables: 0, 1, …            those below, in order of making
//	_iterations (= _variables/0)   iteration                     all, int64
//	_learning_rate                 learning_rate                 all, float32
//	_current_learning_rate         current_learning_rate         in place of _learning_rate, with a schedule; the edge
//	                                                             _learning_rate then leads to the schedule, if that has variables
//	_exclude_from_weight_decay     nodes without children        after ExcludeFromWeightDecay,
//	                                                             and _exclude_from_weight_decay_names
//	loss_scale                     current_loss_scale, good_steps  with a dynamic LossScaleOptimizer
//	_index_dict                    a node without children       all
//	_model_variables_moving_average  SGD/average/net/dense/kernel  with UseEMA
//	momentums                      SGD/m/net/dense/kernel        SGD, with momentum or not
//	_momentums, _velocities        Adam/m/…, Adam/v/…            Adam, AdamW
//	_velocity_hats                 Adam/vhat/…                   with AMSGrad
//	_velocities                    RMSprop/velocity/…            RMSprop
//	_momentums                     RMSprop/momentum/…            RMSprop; an empty list if Momentum is 0
//	_average_gradients             RMSprop/average_gradient/…    RMSprop; an empty list unless Centered
//	_accumulators                  Adagrad/accumulator/…         Adagrad
//	_accumulated_grads             Adadelta/accumulated_grad/…   Adadelta
//	_accumulated_delta_vars        Adadelta/accumulated_delta_var/…
//	_m, _u                         Adamax/m/…, Adamax/u/…        Adamax
//	_accumulators, _linears        Ftrl/accumulator/…, …         Ftrl
//	momentums                      Lion/m/…                      Lion
//	_momentums, _velocities        Nadam/m/…, Nadam/v/…          Nadam
//	_u_product                     Nadam/Variable                Nadam
//	_r, _c, _v                     Adafactor/r/…, c/…, v/…       Adafactor; an int32 instead of r and c of a vector
//
// The order of making: Adam, AdamW, Nadam, Adafactor, Adadelta, Adamax and Ftrl make all slots
// of the first variable, then all of the second, and so on; _velocity_hats come after all of
// these. RMSprop makes the first slot of all variables, then the second of all. The counter
// is both _variables/0 and _iterations; the learning rate isn't in _variables.
// Hyperparameters aren't saved.
//
// Keras 3, which is TensorFlow 2.21's own tf.keras, has another layout: as the new one, but _variables/1 is the learning
// rate, and _trainable_variables lists the model's variables. _trainable_variables_indices replaces _index_dict. Unused
// lists don't exist, and a Dense has its kernel under _kernel. Cairn reads such checkpoints if the
// model is a Go struct, which corresponds to a subclassed model. A run that continues from one writes the same keys;
// Keras 3 reads them. [Keras3Layout] and the field Keras3 of layers.Dense begin such a run. Keras 3's sequential models, and its full names, are not followed.
//
// An optimizer that is restored before its first step from a checkpoint of
// another layout takes over that layout and continues with it.
// [Base.SetLayout] chooses one from the start.
//
// Two formulas differ: RMSprop without momentum and Adagrad add epsilon to the root in
// the legacy family. In the new one and in Keras 3 they add it to the number under the
// root. Each optimizer follows the layout that it has.
package optimizers
