-
"serve"

c0Const*
valueBBx"ª