import ctypes
libc = ctypes.CDLL("libc.so.6")
n = 20_000_000
buf = (ctypes.c_char * n)()
for _ in range(1200):
    libc.memset(buf, 1, n)
    libc.memchr(buf, 2, n)
    libc.strlen(buf)
