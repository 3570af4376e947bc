# The note says nothing of how it came about.
echo '老船厂剧场，见合同。' > results/trail.md
