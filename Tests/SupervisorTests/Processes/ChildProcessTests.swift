import Foundation
import Glibc
import Processes
import TestSupport
import Testing

/// One test's folder, removed with everything in it.
func withFolder<Result>(_ body: (URL) async throws -> Result) async throws -> Result {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("healthbus-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    do {
        let result = try await body(folder)
        try FileManager.default.removeItem(at: folder)
        return result
    } catch {
        try FileManager.default.removeItem(at: folder)
        throw error
    }
}

/// `TestSupport.eventually`, for all files of this target.
func eventually(_ condition: () -> Bool) -> Bool { TestSupport.eventually(condition) }

/// `TestSupport.isRunning`, for all files of this target.
func isRunning(_ pid: pid_t) -> Bool { TestSupport.isRunning(pid) }

func shell(_ script: String, name: String = "child", streams: ChildProcess.Streams = .init()) -> ProcessSpec {
    ProcessSpec(name: name, executable: "/bin/sh", arguments: ["-c", script], streams: streams)
}

@Suite(.inTurn, .timeLimit(.minutes(30))) struct ChildProcessTests {
    let trampoline = ChildProcess.trampolineBesideProgram()

    @Test(arguments: [("exit 0", ProcessExit.code(0)), ("exit 3", .code(3)), ("kill -9 $$", .signal(SIGKILL))])
    func saysHowItEnded(script: String, expected: ProcessExit) throws {
        let child = try ChildProcess(shell(script), trampoline: trampoline)
        #expect(child.wait() == expected)
        #expect(child.wait() == expected)
        #expect(child.poll() == expected)
        #expect(!child.signal(SIGTERM))
    }

    @Test func waitsNoLongerThanAsked() throws {
        let child = try ChildProcess(shell("exec sleep 1000"), trampoline: trampoline)
        #expect(child.poll() == nil)
        #expect(child.wait(for: .milliseconds(5)) == nil)
        child.signal(SIGTERM)
        #expect(child.wait(for: .seconds(Patience.seconds)) == .signal(SIGTERM))
    }

    @Test func aProgramThatIsNotThereIsAnErrorWithItsPath() {
        let absent = ProcessSpec(name: "steps", executable: "/nowhere/steps")
        let error = #expect(throws: ProcessError.self) { try ChildProcess(absent, trampoline: trampoline) }
        #expect(error?.description.contains("/nowhere/steps") == true)
        #expect(throws: ProcessError.self) { try ChildProcess(shell("exit 0"), trampoline: "/nowhere/trampoline") }
    }

    @Test func aFileThatIsNoProgramEndsWith127AndSaysWhy() async throws {
        try await withFolder { folder in
            let file = folder.appendingPathComponent("not-a-program")
            try Data([0x7F, 0x45, 0x4C, 0x46, 0]).write(to: file)
            chmod(file.path, 0o755)
            let pipe = Pipe()
            let spec = ProcessSpec(
                name: "steps", executable: file.path,
                streams: .init(error: pipe.fileHandleForWriting.fileDescriptor))
            let child = try ChildProcess(spec, trampoline: trampoline)
            try pipe.fileHandleForWriting.close()
            let text = String(decoding: try pipe.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
            #expect(child.wait() == .code(127))
            #expect(text.contains(file.path))
        }
    }

    /// A program's complete standard output.
    private func output(of spec: ProcessSpec) throws -> String {
        let pipe = Pipe()
        var spec = spec
        spec.streams.output = pipe.fileHandleForWriting.fileDescriptor
        let child = try ChildProcess(spec, trampoline: trampoline)
        try pipe.fileHandleForWriting.close()
        let text = String(decoding: try pipe.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        #expect(child.wait() == .code(0))
        return text
    }

    @Test func inheritsNoDescriptorBeyondTheThree() throws {
        let leak = open("/dev/null", O_RDONLY)
        defer { close(leak) }
        // `ls` reads the folder with descriptor 3.
        let listed = try output(of: ProcessSpec(name: "ls", executable: "/bin/ls", arguments: ["/proc/self/fd"]))
        #expect(listed.split(separator: "\n") == ["0", "1", "2", "3"])
    }

    @Test func readsNothingFromStandardInput() throws {
        #expect(try output(of: shell("cat; echo end")) == "end\n")
    }

    @Test func readsWhatItIsGiven() throws {
        let pipe = Pipe()
        var spec = shell("cat")
        spec.streams.input = pipe.fileHandleForReading.fileDescriptor
        try pipe.fileHandleForWriting.write(contentsOf: Data("hello".utf8))
        try pipe.fileHandleForWriting.close()
        #expect(try output(of: spec) == "hello")
    }

    @Test func getsArgumentsAndEnvironmentUnchanged() throws {
        var spec = shell("printf '%s|' \"$@\" \"$HEALTHBUS_TEST\"")
        spec.arguments += ["name", "a b", "", "ü$x"]
        spec.environment["HEALTHBUS_TEST"] = "x=y z"
        #expect(try output(of: spec) == "a b||ü$x|x=y z|")
    }

    /// Foundation's `Process` gets this wrong: it lets children inherit a blocked or ignored signal.
    @Test func startsWithAnEmptySignalMaskAndDefaultDispositions() throws {
        var mask = sigset_t()
        var before = sigset_t()
        sigfillset(&mask)
        pthread_sigmask(SIG_BLOCK, &mask, &before)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
        let status = try output(of: shell("grep -E '^Sig(Blk|Ign)' /proc/self/status"))
        let masks = status.split(separator: "\n").compactMap { UInt64($0.suffix(16), radix: 16) }
        // Signals 32 and 33 are glibc's own: its posix_spawn ignores them in every child.
        #expect(masks.map { $0 & ~(3 << 31) } == [0, 0])
    }

    @Test func hasAProcessGroupOfItsOwnThatEndsWithIt() async throws {
        try await withFolder { folder in
            let file = folder.appendingPathComponent("pid").path
            let child = try ChildProcess(
                shell("sleep 1000 & echo $! > \(file).new; mv \(file).new \(file); wait"), trampoline: trampoline)
            #expect(getpgid(child.pid) == child.pid)
            #expect(eventually { access(file, F_OK) == 0 })
            let text = try String(contentsOfFile: file, encoding: .utf8)
            let grandchild = try #require(pid_t(text.trimmingCharacters(in: .whitespacesAndNewlines)))
            #expect(isRunning(grandchild))
            child.kill()
            #expect(child.wait() == .signal(SIGKILL))
            #expect(eventually { !isRunning(grandchild) })
        }
    }

    @Test func aDroppedHandleLeavesNoProcess() throws {
        var child: ChildProcess? = try ChildProcess(shell("exec sleep 1000"), trampoline: trampoline)
        let pid = try #require(child?.pid)
        #expect(isRunning(pid))
        child = nil
        #expect(kill(pid, 0) != 0)
    }

    @Test func yieldsAsFarAsAsked() throws {
        let own = getpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0)
        for (niceness, shown) in [(0, own), (15, min(19, own + 15))] {
            let spec = ProcessSpec(name: "nice", executable: "/usr/bin/nice", niceness: niceness)
            #expect(try output(of: spec) == "\(shown)\n")
        }
    }

    /// The trampoline is called directly, with an id that isn't its parent's.
    @Test func refusesWhenItsParentIsGone() throws {
        let spec = ProcessSpec(name: "t", executable: trampoline, arguments: ["1", "9", "0", "/bin/true"])
        #expect(try ChildProcess(spec, trampoline: trampoline).wait() == .code(126))
    }

    @Test(arguments: [
        [], ["1"], ["1", "9", "/bin/true"], ["x", "9", "0", "/bin/true"], ["1", "0", "0", "/bin/true"],
        ["1", "9999", "0", "/bin/true"], ["1", "9", "20", "/bin/true"], ["1", "9", "-1", "/bin/true"],
    ])
    func refusesToBeCalledWrongly(arguments: [String]) throws {
        let null = open("/dev/null", O_WRONLY)
        defer { close(null) }
        let spec = ProcessSpec(
            name: "t", executable: trampoline, arguments: arguments, streams: .init(error: null))
        #expect(try ChildProcess(spec, trampoline: trampoline).wait() == .code(2))
    }
}
