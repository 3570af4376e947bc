cat brief.txt
#---
cat > results/poster.svg <<'END'
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 600 900" width="600" height="900">
  <rect x="0" y="0" width="600" height="900" fill="#101828"/>
  <circle cx="300" cy="380" r="150" fill="none" stroke="#c9a227" stroke-width="26"/>
  <path d="M300 380 L470 640" stroke="#c9a227" stroke-width="18"/>
  <text x="300" y="130" text-anchor="middle" font-size="44" fill="white">Night of the Low Brass</text>
  <text x="300" y="740" text-anchor="middle" font-size="34" fill="white">14 May, 20:00</text>
  <text x="300" y="800" text-anchor="middle" font-size="34" fill="white">Granary Hall, Kiln Road</text>
</svg>
END
#: The poster is in results/poster.svg: dark ground, a golden horn, and the three lines of text.
