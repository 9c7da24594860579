"""Unwinding data, byte by byte."""
import struct


def frames(code_size: int, return_address: int, entry: bytes, instructions: bytes) -> bytes:
    """A CIE with the instructions `entry`, and an FDE for all of the code, with relative addresses, as
    they lie behind the code, of a multiple of 8 bytes."""
    def block(body: bytes) -> bytes:
        body += b"\0" * (-len(body) % 4)
        return struct.pack("<I", len(body)) + body

    cie = block(b"\0\0\0\0\x01zR\0\x01\x78" + bytes([return_address]) + b"\x01\x1b" + entry)
    distance = code_size + len(cie) + 8
    return cie + block(struct.pack("<IiI", len(cie) + 4, -distance, code_size) + b"\0" + instructions)
