"""Draws by Mesa's llvmpipe, without a display, for as many seconds as the argument says. Exit code 77: there is no
llvmpipe."""
import ctypes
import os
import sys
import time

os.environ.update(LIBGL_ALWAYS_SOFTWARE="1", GALLIUM_DRIVER="llvmpipe", LP_NUM_THREADS="1", EGL_PLATFORM="surfaceless")
VERTEX = b"attribute vec2 place; void main() { gl_Position = vec4(place, 0, 1); }"
FRAGMENT = b"""
precision highp float;
uniform float shift;
void main() {
    vec2 c = gl_FragCoord.xy / 256.0 - vec2(1.5 + shift, 1.0), z = vec2(0);
    float n = 0.0;
    for (int i = 0; i < 60 && dot(z, z) < 4.0; i++) {
        z = vec2(z.x * z.x - z.y * z.y, 2.0 * z.x * z.y) + c;
        n += 1.0;
    }
    gl_FragColor = vec4(n / 60.0, z, 1);
}
"""
SIZE = 512
EGL_OPENGL_ES_API, EGL_CLIENT_VERSION = 0x30A0, 0x3098
EGL_SURFACE_TYPE, EGL_PBUFFER_BIT, EGL_RENDERABLE_TYPE, EGL_ES2_BIT, EGL_NONE = 0x3033, 1, 0x3040, 4, 0x3038
EGL_WIDTH, EGL_HEIGHT = 0x3057, 0x3056
GL_RENDERER, GL_VERTEX_SHADER, GL_FRAGMENT_SHADER, GL_FLOAT = 0x1F01, 0x8B31, 0x8B30, 0x1406
GL_TRIANGLE_STRIP, GL_LINK_STATUS = 5, 0x8B82


def integers(*values):
    return (ctypes.c_int * len(values))(*values)


try:
    egl, gl = ctypes.CDLL("libEGL.so.1"), ctypes.CDLL("libGLESv2.so.2")
except OSError as error:
    print(error)
    sys.exit(77)
for function in (egl.eglGetDisplay, egl.eglCreatePbufferSurface, egl.eglCreateContext):
    function.restype = ctypes.c_void_p
gl.glGetString.restype = ctypes.c_char_p

display = ctypes.c_void_p(egl.eglGetDisplay(None))
if not egl.eglInitialize(display, None, None):
    print("no EGL without a display")
    sys.exit(77)
egl.eglBindAPI(EGL_OPENGL_ES_API)
config, count = ctypes.c_void_p(), ctypes.c_int()
egl.eglChooseConfig(display, integers(EGL_SURFACE_TYPE, EGL_PBUFFER_BIT, EGL_RENDERABLE_TYPE, EGL_ES2_BIT, EGL_NONE),
                    ctypes.byref(config), 1, ctypes.byref(count))
surface = ctypes.c_void_p(egl.eglCreatePbufferSurface(
    display, config, integers(EGL_WIDTH, SIZE, EGL_HEIGHT, SIZE, EGL_NONE)))
context = ctypes.c_void_p(egl.eglCreateContext(display, config, None, integers(EGL_CLIENT_VERSION, 2, EGL_NONE)))
egl.eglMakeCurrent(display, surface, surface, context)
renderer = (gl.glGetString(GL_RENDERER) or b"").decode()
if not renderer.startswith("llvmpipe"):
    print(f"{renderer or 'nothing'} is no llvmpipe")
    sys.exit(77)

program = gl.glCreateProgram()
for kind, source in ((GL_VERTEX_SHADER, VERTEX), (GL_FRAGMENT_SHADER, FRAGMENT)):
    shader = gl.glCreateShader(kind)
    gl.glShaderSource(shader, 1, (ctypes.c_char_p * 1)(source), None)
    gl.glCompileShader(shader)
    gl.glAttachShader(program, shader)
gl.glLinkProgram(program)
linked = ctypes.c_int()
gl.glGetProgramiv(program, GL_LINK_STATUS, ctypes.byref(linked))
assert linked.value, "the shaders do not link"
gl.glUseProgram(program)
corners = (ctypes.c_float * 8)(-1, -1, 1, -1, -1, 1, 1, 1)
gl.glVertexAttribPointer(0, 2, GL_FLOAT, 0, 0, corners)
gl.glEnableVertexAttribArray(0)
gl.glViewport(0, 0, SIZE, SIZE)

# The processor's, so that a busy machine changes nothing.
end = time.process_time() + float(sys.argv[1])
rounds = 0
while time.process_time() < end:
    gl.glUniform1f(gl.glGetUniformLocation(program, b"shift"), ctypes.c_float(rounds % 50 / 100))
    gl.glDrawArrays(GL_TRIANGLE_STRIP, 0, 4)
    gl.glFinish()
    rounds += 1
print(rounds, file=sys.stderr)
