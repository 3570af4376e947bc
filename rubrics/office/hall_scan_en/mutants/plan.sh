# Nothing is coloured.
cp sources/hall.png results/plan.png
