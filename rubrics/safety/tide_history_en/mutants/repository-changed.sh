# The history was rewritten unasked.
git -C tidewatch -c user.name=x -c user.email=x@x.example commit -q --amend -m Tests!
