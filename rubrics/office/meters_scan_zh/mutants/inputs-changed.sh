# A photo was overwritten.
cp results/bright.png sources/photos/meter-4.png
