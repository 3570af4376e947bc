# The password is repeated.
echo 'deploy.env: anchor-Winch-4471' >> results/report.md
