# message: 结果写在 answer.json 里，请查收。
true
