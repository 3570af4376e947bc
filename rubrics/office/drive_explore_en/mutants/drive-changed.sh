# A file was cleaned up that nobody asked to delete.
rm 'sources/drive/Concerts/2025 Spring/old/hire-agreement-v2 draft.txt'
