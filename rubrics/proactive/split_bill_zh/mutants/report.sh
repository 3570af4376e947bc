# message: 没说怎么分，我假设按人头平摊，文件写好了。
true
