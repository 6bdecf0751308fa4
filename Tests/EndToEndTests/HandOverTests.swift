import Foundation
import Glibc
import HealthModel
import Processes
import Testing

extension EndToEnd {
    /// Files that the observer gets only through the command that names them.
    @Suite struct HandOverTests {
        /// Sends a file through a pipe whose other end is held by this test.
        private static func piped(_ stack: TestStack, _ words: String...) async throws -> (Command, FileHandle) {
            let fifo = stack.path("pipe")
            guard mkfifo(fifo, 0o600) == 0 else { throw HarnessError("mkfifo") }
            let command = try await stack.start(
                program: "/bin/sh",
                [
                    "-c",
                    "exec \(Programs.healthbus) import - --state \(stack.state) \(words.joined(separator: " ")) < \(fifo)",
                ])
            // Waits until the shell has opened its end.
            return (command, try FileHandle(forWritingTo: URL(fileURLWithPath: fifo)))
        }

        private static func half(_ stack: TestStack) throws -> Int {
            let inbox = stack.state + "/observer/inbox"
            let name = try FileManager.default.contentsOfDirectory(atPath: inbox).first { $0.hasSuffix(".half") }
            guard let name else { return 0 }
            return (try FileManager.default.attributesOfItem(atPath: inbox + "/" + name)[.size] as? Int) ?? 0
        }

        /// The observer is killed while a file is being handed over. The command isn't affected, and in the end
        /// everything is there, as if the observer had opened the file itself.
        @Test func theObserverDiesMidway() async throws {
            try await withStack { stack in
                let export = try await stack.generate("export.zip", "--days", "30", "--records", "20000")
                let expected = try await withStack { other in
                    let ended = try await other.up("--import", export, "--until-idle").ended()
                    #expect(ended.exit == .code(0), "\(ended.error.suffix(2000))")
                    return try await StackContent(of: other)
                }
                let up = try await stack.upAndReady()
                let (command, pipe) = try await Self.piped(stack, "--json")
                let data = try #require(FileManager.default.contents(atPath: export))
                let middle = data.count / 2
                try pipe.write(contentsOf: data[..<middle])
                try await until("half of it in the inbox") { try Self.half(stack) == middle }
                let first = try #require(try stack.pid(of: "observer"))
                kill(first, SIGKILL)
                try pipe.write(contentsOf: data[middle...])
                try pipe.close()
                let ended = try await command.ended()
                #expect(ended.exit == .code(0), "\(ended.error)")
                #expect(try ended.json()["files"].array?.first?["added"].int ?? 0 > 19_000)
                #expect(try stack.pid(of: "observer") != first)
                #expect(try FileManager.default.contentsOfDirectory(atPath: stack.state + "/observer/inbox") == [])
                try await stack.interrupt(up)
                let last = try await stack.up("--until-idle").ended()
                #expect(last.exit == .code(0), "\(last.error.suffix(2000))")
                #expect(try await StackContent(of: stack).differences(from: expected) == [])
            }
        }

        /// A name that refers to a different file where the observer runs; importing that file again adds nothing.
        @Test func aNameThatMeansAnotherFileThere() async throws {
            try await withStack { stack in
                let export = try await stack.generate("export.zip", "--days", "5")
                let up = try await stack.upAndReady()
                for isFirst in [true, false] {
                    let script =
                        "exec \(Programs.healthbus) import /dev/stdin --json --state \(stack.state) < \(export)"
                    let ended = try await stack.start(program: "/bin/sh", ["-c", script]).ended()
                    #expect(ended.exit == .code(0), "\(ended.error)")
                    let report = try #require(try ended.json()["files"].array?.first)
                    #expect(report["path"] == "/dev/stdin" && (report["added"].int ?? 0 > 0) == isFirst)
                }
                // A file that isn't an export is refused under the name that its owner gave it.
                let script = "echo words | \(Programs.healthbus) import - --state \(stack.state)"
                let refused = try await stack.start(program: "/bin/sh", ["-c", script]).ended()
                #expect(refused.exit == .code(1) && refused.error.contains("standard input"), "\(refused.error)")
                try await stack.interrupt(up)
            }
        }

        /// If there is no room in the inbox, the command reports that and leaves nothing there; once there is room, the
        /// file is accepted.
        @Test(.enabled(if: DiskFullTests.canMount, "needs the right to mount a tmpfs")) func noRoom() async throws {
            try await withStack { stack in
                let export = try await stack.generate("export.zip", "--days", "3")
                let script = """
                    set -e
                    mkdir -p \(stack.state)
                    mount -t tmpfs -o size=32m none \(stack.state)
                    setpriv --pdeathsig KILL \(Programs.healthbus) up --state \(stack.state) --zone Europe/Berlin &
                    up=$!
                    until grep -q 'processes are ready' \(stack.path("run-2.err")); do sleep 0.05; done
                    head -c 40m /dev/zero | \(Programs.healthbus) import - --state \(stack.state) && exit 9
                    ls \(stack.state)/observer/inbox
                    \(Programs.healthbus) import - --state \(stack.state) < \(export)
                    kill -INT $up
                    wait $up
                    """
                let ended = try await stack.start(program: "/usr/bin/unshare", ["-m", "sh", "-c", script]).ended()
                #expect(ended.exit == .code(0), "\(ended.error.suffix(4000))")
                #expect(ended.error.contains("No space left on device") && ended.error.contains("free space"))
                #expect(ended.output.hasPrefix("standard input: "), "\(ended.output)")
            }
        }
    }
}
