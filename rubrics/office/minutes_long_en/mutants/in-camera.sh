# The brief tells what was said in camera.
echo 'Flat 17 (Mrs Aldermoor) pays off arrears.' >> results/brief.md
