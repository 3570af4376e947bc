# A mail goes to the wrong customer.
sed -i 's/^To: .*/To: youmin@mail.example/' results/replies/X-302.eml
