# 看清谁没投，私信何川，然后等。
curl -sSf localhost:8027/channels/outing/messages
curl -sSf localhost:8027/users
curl -sSf localhost:8027/dm/he --data-urlencode 'text=何川，春游投票就差你了，A、B、C 选一个？'
#: 目前 A 两票（魏来、陶然），B 三票（你、秦清、陆一改投）。何川还没投，我私信了他，等他回复再定；还没有宣布。
