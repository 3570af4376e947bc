# Brighter, but another size.
python3 -c "from PIL import Image; Image.open('results/bright.png').resize((300, 200)).save('results/bright.png')"
