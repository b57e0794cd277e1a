// Package config converts between Go structs and the JSON configs of tf_keras.
//
// The exported fields of a struct are its config. A field's name in the JSON is its Go name in
// snake case (KernelInitializer is kernel_initializer), unless a tag sets another one.
// [Classes] maps class names to Go types. It is a value: a program joins its own classes to
// the built-in ones.
//
// # Tags
//
// The tag `keras:"name,option,…"` has these options:
//
//	not          the JSON has the opposite bool: NoBias is use_bias
//	-            the field is not part of the config
//	single       the number is rounded to a float32, as tf_keras stores it
//	omitempty    the zero value is left out of the JSON
//	order=a b c  of an embedded struct: the keys of the config, in this order, and no others
//	default=…    the meaning of Go's zero value; the rest of the tag is the value, as
//	             JSON, or the name of a class or function
//	const=…      of a field _: the key always has the string that is the rest of the tag
//
// [Classes.Complete] replaces zero values by these defaults. If zero is itself a useful
// setting, the field is a pointer: nil means the default, or null if there is none, and
// new(0.0) sets zero.
//
// # Hostile input
//
// A config may come from an untrusted file. Unknown classes and fields, numbers out of range,
// and nesting beyond [MaxDepth] are errors. Memory is in proportion to the JSON.
package config
