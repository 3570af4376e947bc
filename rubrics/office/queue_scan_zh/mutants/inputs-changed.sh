# The board's photo was changed.
printf x >> sources/board.png
