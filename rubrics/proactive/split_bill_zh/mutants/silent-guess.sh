# also: asks
# message: 算好了，总额 1089 元。
true
