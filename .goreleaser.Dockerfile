FROM scratch
COPY cairn /cairn
COPY LICENSE NOTICE /
ENTRYPOINT ["/cairn"]
