# also: counts
# A mutant breaks exactly one line of the rubric; `also` names lines that fall with it.
rm results/count.json
