# message: 查到了，结果写在文件里。
true
