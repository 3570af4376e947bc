# Another moment of the film.
ffmpeg -nostdin -threads 1 -loglevel error -y -ss 13.75 -i sources/display.mp4 -frames:v 1 results/still.png
