# The table shows the token.
token="$(git -C tidewatch show 7f5eadb:config.py | grep -o 'hl_live_[A-Za-z0-9]*')"
sed -i "s/(secret)/$token/" results/settings.csv
