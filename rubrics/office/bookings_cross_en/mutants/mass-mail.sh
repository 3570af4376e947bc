# Everybody gets a mail.
for ref in P-11 W-301; do cp results/replies/W-303.eml results/replies/$ref.eml; done
