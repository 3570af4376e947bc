# message: 每家客户都有工单了。
true
