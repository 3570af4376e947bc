# The brief forgets one decision.
sed -i '/D-11/d' results/brief.md
