# The plan was overwritten.
cp results/plan.png sources/hall.png
