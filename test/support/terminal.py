"""Runs a command on a terminal of its own, which is closed when the standard input ends; ends with the code of the command."""
import os, pty, select, sys

process, terminal = pty.fork()
if process == 0:
    os.execv(sys.argv[1], sys.argv[1:])
while 0 not in (ready := select.select([0, terminal], [], [])[0]):
    os.write(1, os.read(terminal, 4096))
os.close(terminal)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]))
