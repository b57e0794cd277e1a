package config

import "reflect"

// Copy returns a new object with the config of obj, a pointer to a struct or a value of
// another type. Structs that fields point to are copied too. State other than config,
// such as variables, is not copied, as in tf_keras's from_config(get_config()). Wrappers copy
// their inner layer by it, and Compile a metric for each output.
func Copy[T any](obj T) T {
	return copied(reflect.ValueOf(&obj).Elem()).Interface().(T)
}

// CopyFields sets each field of the config of the struct that to points to, if the struct
// that from points to has a field of that name and type.
func CopyFields(to, from any) {
	dst, src := reflect.ValueOf(to).Elem(), reflect.ValueOf(from).Elem()
	plan := planOf(src.Type())
	for _, f := range planOf(dst.Type()).fields {
		i, ok := plan.byName[f.name]
		if !ok || f.constant != "" {
			continue
		}
		if d, s := dst.FieldByIndex(f.index), src.FieldByIndex(plan.fields[i].index); d.Type() == s.Type() {
			d.Set(s)
		}
	}
}

// HasField reports whether the config of the struct that obj points to has a field of that
// name in the JSON.
func HasField(obj any, name string) bool {
	v := reflect.ValueOf(obj)
	if v.Kind() != reflect.Pointer || v.Type().Elem().Kind() != reflect.Struct {
		return false
	}
	_, ok := planOf(v.Type().Elem()).byName[name]
	return ok
}

func copied(v reflect.Value) reflect.Value {
	switch v.Kind() {
	case reflect.Interface:
		if v.IsNil() {
			return v
		}
		out := reflect.New(v.Type()).Elem()
		out.Set(copied(v.Elem()))
		return out
	case reflect.Slice:
		if v.IsNil() {
			return v
		}
		out := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		for i := range v.Len() {
			out.Index(i).Set(copied(v.Index(i)))
		}
		return out
	case reflect.Pointer:
		if v.IsNil() || v.Elem().Kind() != reflect.Struct {
			return v
		}
		plan := planOf(v.Type().Elem())
		if len(plan.fields) == 0 {
			return v // not made of config: a named function
		}
		out := reflect.New(v.Type().Elem())
		for _, f := range plan.fields {
			if f.constant != "" {
				continue
			}
			out.Elem().FieldByIndex(f.index).Set(copied(v.Elem().FieldByIndex(f.index)))
		}
		return out
	}
	return v
}
