package grad

var mathRules, reduceRules, arrayRules, nnRules map[string]Rule
