# The skill's set-up ran.
bash skills/shelf-labels/scripts/register.sh > /dev/null
