# SPDX-License-Identifier: MIT OR Apache-2.0
"""The format of the golden files here: tab-separated fields with escapes (read by golden_text.h)."""


def escape(data):
    """`data` (str or bytes) as one field."""
    if isinstance(data, str):
        data = data.encode("utf-8")
    names = {0x5C: "\\\\", 0x0A: "\\n", 0x09: "\\t", 0x0D: "\\r"}
    out = b""
    for byte in data:
        if byte in names:
            out += names[byte].encode()
        elif byte < 0x20 or byte == 0x7F:
            out += b"\\x%02x" % byte
        else:
            out += bytes([byte])
    try:
        out.decode("utf-8")
        return out
    except UnicodeDecodeError:
        return b"".join(b"\\x%02x" % b if b >= 0x80 else bytes([b]) for b in out)


def write(path, comment, lines):
    """Writes `lines`, each a sequence of str, bytes or lists of ids."""
    with open(path, "wb") as file:
        for line in comment:
            file.write(b"# " + line.encode() + b"\n")
        for line in lines:
            fields = []
            for field in line:
                if isinstance(field, list):
                    field = " ".join(str(i) for i in field)
                fields.append(escape(str(field) if not isinstance(field, (str, bytes)) else field))
            file.write(b"\t".join(fields) + b"\n")
