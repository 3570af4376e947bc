# A mail goes to the wrong customer.
sed -i 's/^To: .*/To: dunmore@mail.example/' results/replies/W-302.eml
