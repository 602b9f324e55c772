"""Stands for systemd: takes the datagrams of NOTIFY_SOCKET, and prints one line of JSON for each with what /server/ping says then."""
import array, json, os, re, socket, sys, urllib.request

path = sys.argv[1]
listener = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
listener.bind(path)
print(json.dumps({"bound": True}), flush=True)
url = None


def ping():
    try:
        return urllib.request.urlopen(url + "/server/ping", timeout=5).read().decode()
    except OSError as error:
        return type(error).__name__


while True:
    data, ancillary, _, _ = listener.recvmsg(4096, 1024)
    for level, kind, descriptors in ancillary:
        # The sender waits until its descriptor is closed: then the message before has been read.
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            for descriptor in array.array("i", descriptors[: len(descriptors) - len(descriptors) % 4]):
                os.close(descriptor)
    text = data.decode()
    if text == "BARRIER=1":
        continue
    found = re.search(r"Listening on (\S+)", text)
    url = found.group(1) if found else url
    print(json.dumps({"lines": text.split("\n"), "ping": ping() if url else None}), flush=True)
