package ops

// Scoped returns the results of f, and lets later ops reuse the memory of all other
// values that f computes eagerly. Without it the call keeps that memory until its end.
// A region around each round of a long Go loop bounds the memory of the loop.
//
//	for range 1000 {
//		x = ops.Scoped(s, func(s *ops.Scope) *ops.Value { return step(s, x) })
//	}
//
// f has to use the scope that it receives. Values that it stores elsewhere than in its
// results are dead afterwards, as after a call. While a tape records, which needs the
// values, and while a function is traced, Scoped only calls f.
func Scoped[T Values](s *Scope, f func(s *Scope) T) (out T) {
	if !s.alive() {
		return shaped[T](s, nil)
	}
	st := s.step
	if s.IsTracing() || len(s.recs)+len(st.recorders) > 0 {
		return f(s)
	}
	inner := NewScope(st.ctx, &ScopeOptions{Kernels: st.kernels, Recycle: true})
	inner.state = s.state
	arena := inner.step.env.Arena
	inner.step.env, inner.step.count = st.env, st.count
	inner.step.env.Arena = arena
	defer func() { // after a panic too: the op that failed first has the cause
		st.count = inner.step.count
		if err := inner.Close(); err != nil {
			if st.err == nil {
				st.err = err
			}
			out = shaped[T](s, nil)
		}
	}()
	out = f(inner)
	values := append([]*Value(nil), flat(out)...)
	for i, v := range values {
		if v != nil && v.step == inner.step && !v.failed() {
			values[i] = inner.Keep(v)
		}
	}
	return shaped[T](s, values)
}
