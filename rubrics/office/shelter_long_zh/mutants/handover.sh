# One animal is missing in the handover.
sed -i 's/奥蒂//' results/jiaojie.md
