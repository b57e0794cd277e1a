*
"serve

c0Const*
dtype0"ª