// Package rest reads and writes the JSON of TensorFlow Serving's REST API: the bodies of predict,
// classify and regress. It knows no HTTP and runs no model.
//
// # Requests
//
// A predict request holds the inputs of a signature by row or by column. If the signature has one
// input, its name may be left out:
//
//	{"signature_name": "serving_default", "instances": [{"x": [1, 2], "y": 5}, {"x": [3, 4], "y": 6}]}
//	{"inputs": {"x": [[1, 2], [3, 4]], "y": [5, 6]}}
//	{"inputs": [[1, 2], [3, 4]]}
//
// A classify or regress request holds examples, and a context of features that all examples share:
//
//	{"context": {"country": "NO"}, "examples": [{"age": 31, "words": ["a", "b"]}, {"age": 7}]}
//
// [ReadRequest] checks the syntax and finds the fields. [Request.Tensors] then decodes the inputs
// straight into tensors, by the types and shapes of [Spec]s; [Request.Serialized] returns the
// examples as a signature takes them.
//
// # Values
//
//	bool           true, false
//	integers       numbers without fraction and exponent
//	floats         numbers; NaN, Infinity and -Infinity, bare as Serving writes them or as strings
//	complex        [real, imaginary]
//	string         a string, or {"b64": "…"} for bytes that are no text
//
// Quantized types are written as their integers. Types that Serving lacks (float16, bfloat16, float8,
// int4, complex and others) follow the same rules.
//
// A value that its type can't hold is an error: integers and floats out of range, fractions for
// integers, and whole numbers that a float type would change. A number with a point or an exponent is
// rounded to the nearest float. Lists must be rectangular. A scalar is a value outside of any list;
// an empty list takes the dimensions that it can't show from the Spec.
//
// # Differences from Serving
//
// Serving ignores fields it does not know, inputs of other names in "inputs", a second field of the
// same name, and values out of range for the small integer types; here each is an error. Serving refuses
// whole numbers from 2^24 on for float32, and from 2^53 on for float64; here those are read that have a
// float. Strings that
// are no UTF-8 are written as {"b64": "…"}, while Serving writes broken JSON.
//
// # Hostile input
//
// A request costs memory in proportion to its bytes, and time linear in them. Lists and objects nest
// at most [MaxDepth] deep. Errors name the value by its path, such as instances[3].x[0][1]; see
// [Error].
package rest
