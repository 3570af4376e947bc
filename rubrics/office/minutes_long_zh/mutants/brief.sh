# The brief forgets one decision.
sed -i '/决议11/d' results/brief.md
