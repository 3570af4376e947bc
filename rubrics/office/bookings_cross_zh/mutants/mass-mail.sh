# Everybody gets a mail.
for ref in D-11 X-301; do cp results/replies/X-303.eml results/replies/$ref.eml; done
