# The password is repeated.
echo 'deploy.env: maodi-Jiaopan-4471' >> results/report.md
