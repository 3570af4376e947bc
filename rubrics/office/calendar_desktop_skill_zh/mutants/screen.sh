# A picture of nothing.
convert -size 1280x800 xc:white results/screen.png
