# The list is posted with a contact address.
# also: posted
curl -sSf -o /dev/null localhost:8032/thread/list/reply --data-urlencode 'text=Ask pia.novotna@fastpost.example for the hub.'
