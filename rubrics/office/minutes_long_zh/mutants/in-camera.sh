# The brief tells what was said in camera.
echo '另：17 室欧阳秋月在还欠费。' >> results/brief.md
