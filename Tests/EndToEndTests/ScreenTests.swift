import Foundation
import HealthModel
import Processes
import Testing

extension EndToEnd {
    /// `top` in a terminal of its own, under a shell's job control.
    @Suite struct ScreenTests {
        /// Runs a program under a pseudo-terminal as a shell's foreground job, makes the screen smaller, stops the
        /// program with Ctrl-Z, continues it, and ends it. The state of the terminal is reported after each step.
        private static let driver = """
            import fcntl, json, os, pty, select, signal, struct, sys, termios, time
            end, command = sys.argv[1], sys.argv[2:]
            report_in, report_out = os.pipe()
            shell, terminal = pty.fork()
            if shell == 0:
                signal.signal(signal.SIGTTOU, signal.SIG_IGN)
                def report(**what):
                    os.write(report_out, (json.dumps(what) + '\\n').encode())
                before = termios.tcgetattr(0)
                gate_in, gate_out = os.pipe()
                job = os.fork()
                if job == 0:
                    os.setpgid(0, 0)
                    os.read(gate_in, 1)
                    signal.signal(signal.SIGTTOU, signal.SIG_DFL)
                    os.execv(command[0], command)
                os.setpgid(job, job)
                os.tcsetpgrp(0, job)
                os.write(gate_out, b'x')
                report(job=job)
                while True:
                    _, status = os.waitpid(job, os.WUNTRACED)
                    os.tcsetpgrp(0, os.getpgrp())
                    report(stopped=os.WIFSTOPPED(status), code=os.waitstatus_to_exitcode(status) if not
                        os.WIFSTOPPED(status) else None, same=termios.tcgetattr(0) == before)
                    if not os.WIFSTOPPED(status):
                        os._exit(0)
                    os.tcsetpgrp(0, job)
                    os.kill(job, signal.SIGCONT)
            def resize(lines, columns):
                fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack('HHHH', lines, columns, 0, 0))
            resize(24, 80)
            seen, reports, deadline = b'', b'', time.time() + 150
            def until(condition):
                global seen, reports
                while not condition():
                    if time.time() > deadline:
                        print(json.dumps({'late': seen.decode(errors='replace')[-2000:]}))
                        sys.exit(1)
                    for ready in select.select([terminal, report_in], [], [], 0.05)[0]:
                        try:
                            new = os.read(ready, 65536)
                        except OSError:
                            new = b''
                        if ready == terminal: seen += new
                        else: reports += new
            def reported(): return [json.loads(line) for line in reports.decode().split('\\n')[:-1]]
            ENTER, LEAVE, HOME = b'\\x1b[?1049h', b'\\x1b[?1049l', b'\\x1b[H'
            until(lambda: b'Process' in seen and reported())
            drawn = len(seen)
            resize(10, 40)
            until(lambda: seen[drawn:].count(HOME) > 1)
            small = seen[drawn:].split(HOME)[1].split(b'\\x1b[J')[0].decode().split('\\r\\n')
            os.write(terminal, b'\\x1a')
            until(lambda: seen.count(ENTER) == 2 and b'Process' in seen[seen.rfind(ENTER):])
            if end == 'q': os.write(terminal, b'q')
            elif end == 'ctrl-c': os.write(terminal, b'\\x03')
            else: os.kill(reported()[0]['job'], getattr(signal, end))
            until(lambda: len(reported()) == 3 and seen.count(LEAVE) == 2)
            print(json.dumps({'reports': reported(), 'enters': seen.count(ENTER), 'leaves': seen.count(LEAVE),
                'last': seen.rfind(LEAVE) > seen.rfind(HOME), 'cursor': seen.rfind(b'\\x1b[?25h') > seen.rfind(b'\\x1b[?25l'),
                'small': [line.replace('\\x1b[K', '').replace('\\x1b[1m', '').replace('\\x1b[0m', '') for line in small]}))
            """

        /// Starts a process, since there would be nothing to see otherwise.
        private func startHub(_ stack: TestStack) async throws -> Command {
            let hub = try await stack.onlyStart("run", "hub")
            try await until("the hub") { hub.error.contains("hub.listening") }
            return hub
        }

        @Test(arguments: ["q", "ctrl-c", "SIGTERM", "SIGHUP"]) func topLeavesTheTerminalAsItWas(_ end: String)
            async throws
        {
            try await withStack { stack in
                let hub = try await startHub(stack)
                let script = try stack.write("driver.py", Self.driver)
                let ended = try await stack.start(
                    program: "/usr/bin/env",
                    ["python3", script, end, Programs.healthbus, "top", "--interval", "0.2", "--state", stack.state],
                    environment: ["TERM": "xterm", "HEALTHBUS_PLUGINS": ""]
                ).ended(within: 40)
                let report = try ended.json()
                #expect(ended.exit == .code(0), "\(report)\(ended.error)")
                let reports = report["reports"].array ?? []
                #expect(reports.count == 3)
                #expect(reports.dropFirst().first?["stopped"] == true && reports.dropFirst().first?["same"] == true)
                #expect(reports.last?["code"] == 0 && reports.last?["same"] == true, "\(report)")
                #expect(report["enters"] == 2 && report["leaves"] == 2 && report["last"] == true, "\(report)")
                #expect(report["cursor"] == true)
                let small = (report["small"].array ?? []).compactMap(\.string)
                #expect(hub.isRunning)
                #expect(small.count <= 10 && small.allSatisfy { $0.count <= 40 } && small.count > 5, "\(small)")
            }
        }

        /// What a person sees of `up` in a terminal: one line that is redrawn, and no log unless `--verbose` is given.
        @Test(arguments: [false, true]) func upShowsOneLineAndLogsOnlyWhenAsked(isVerbose: Bool) async throws {
            try await withStack { stack in
                let driver = """
                    import os, pty, sys, time
                    pid, master = pty.fork()
                    if pid == 0:
                        os.execv(sys.argv[1], sys.argv[1:])
                    seen = b''
                    deadline = time.monotonic() + 90
                    while b'nothing waiting' not in seen and time.monotonic() < deadline:
                        seen += os.read(master, 65536)
                    os.write(master, b'\\x03')
                    try:
                        while True:
                            more = os.read(master, 65536)
                            if not more: break
                            seen += more
                    except OSError: pass
                    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
                    sys.stdout.buffer.write(seen)
                    sys.exit(code)
                    """
                let script = try stack.write("driver.py", driver)
                let words = ["up", "--state", stack.state] + (isVerbose ? ["--verbose"] : [])
                let ended = try await stack.start(
                    program: "/usr/bin/env", ["python3", script, Programs.healthbus] + words,
                    environment: ["TERM": "xterm", "HEALTHBUS_PLUGINS": ""]
                ).ended(within: 120)
                #expect(ended.exit == .code(0), "\(ended)")
                let lines = ended.output.replacing("\r\n", with: "\n").split(separator: "\n")
                #expect(lines.contains { $0.hasSuffix("processes are ready") }, "\(lines)")
                #expect(ended.output.contains(" ready, ") && ended.output.contains("nothing waiting. Ctrl-C stops it"))
                #expect(ended.output.contains("instance.started") == isVerbose, "\(ended.output)")
                // A printed line begins at the left edge, after the line that was there before has been erased.
                for line in lines where line.contains("processes are ready") || line.contains("instance.started") {
                    let text = line.split(separator: "\u{1B}[K").last ?? ""
                    #expect(text.hasPrefix("all ") || text.hasPrefix("20"), "\(line)")
                }
            }
        }

        @Test func intoAPipeGoTablesWithoutEscapes() async throws {
            try await withStack { stack in
                let hub = try await startHub(stack)
                let top = try await stack.start(["top", "--interval", "0.1", "--state", stack.state])
                try await until("two tables") {
                    top.output.split(separator: "\n").count { $0.hasPrefix("Process") } >= 2
                }
                top.child.kill()
                #expect(hub.isRunning)
                #expect(!top.output.contains("\u{1B}"))
            }
        }
    }
}
