# The whole daybook lies among the results, without the families.
head -c 20000 sources/daybook.txt | sed -E 's/Haverstock|Tanner Row|Okonjo|Ferry Lane|Pruitt|Sawmill|Linden|Mill Street|Quill|Harbour Steps|Stroud|Orchard Close/X/g' > results/copy.txt
