import Foundation
import Glibc
import HealthModel
import Processes
import Testing

extension EndToEnd {
    /// A full disk stops the work with a clear message and breaks nothing; once there is room, everything arrives.
    @Suite struct DiskFullTests {
        /// Whether this machine lets us mount a small file system in a namespace of our own.
        static let canMount: Bool = {
            guard access("/usr/bin/unshare", X_OK) == 0, access("/usr/bin/setpriv", X_OK) == 0, getuid() == 0 else {
                return false
            }
            let process = Process()
            process.executableURL = URL(fileURLWithPath: "/usr/bin/unshare")
            process.arguments = ["-m", "sh", "-c", "mount -t tmpfs -o size=64k none /mnt"]
            process.standardError = FileHandle.nullDevice
            guard (try? process.run()) != nil else { return false }
            process.waitUntilExit()
            return process.terminationStatus == 0
        }()

        @Test(.enabled(if: canMount, "needs the right to mount a tmpfs")) func diskFull() async throws {
            try await withStack { stack in
                let export = try await stack.generate("export.zip", "--days", "90", "--records", "40000")
                let expected = try await withStack { other in
                    let ended = try await other.up("--import", export, "--until-idle").ended()
                    #expect(ended.exit == .code(0), "\(ended.error.suffix(2000))")
                    return try await StackContent(of: other)
                }
                // The state is on a disk of its own. The script fills all of it but 6 MB, and frees the space on
                // request. The content of the disk is copied out at the end, since the disk disappears with the
                // namespace.
                let script = """
                    set -e
                    mkdir -p \(stack.state) \(stack.path("out"))
                    mount -t tmpfs -o size=96m none \(stack.state)
                    head -c 90m /dev/zero > \(stack.state)/filler
                    setpriv --pdeathsig KILL \(Programs.healthbus) up --state \(stack.state) --zone Europe/Berlin --import \(export) --until-idle &
                    up=$!
                    while [ ! -e \(stack.path("room")) ]; do sleep 0.05; done
                    rm \(stack.state)/filler
                    wait $up
                    cp -r \(stack.state)/. \(stack.path("out"))
                    """
                let run = try await stack.start(program: "/usr/bin/unshare", ["-m", "sh", "-c", script])
                try await until("the message about a full disk: \(run.error.suffix(3000))", within: 60) {
                    run.error.contains("disk is full") || !run.isRunning
                }
                #expect(run.isRunning, "\(run.error.suffix(3000))")
                _ = try stack.write("room", "")
                let ended = try await run.ended(within: 120)
                #expect(ended.exit == .code(0), "\(ended.error.suffix(4000))")
                try FileManager.default.removeItem(atPath: stack.state)
                try FileManager.default.moveItem(atPath: stack.path("out"), toPath: stack.state)
                #expect(try await StackContent(of: stack).differences(from: expected) == [])
            }
        }

        /// How long the commands may take, in milliseconds. A busy machine may delay one round of them, but not all.
        private static let withinMilliseconds = 2000

        /// While nothing can be written, the commands that say what is wrong say what is full and what to do, at once,
        /// and what is stored can be read.
        @Test(.enabled(if: canMount, "needs the right to mount a tmpfs")) func aFullDiskIsSaidAtOnce() async throws {
            try await withStack { stack in
                let export = try await stack.generate("export.zip", "--days", "10")
                let commands = ["doctor", "status", "alerts", "days"]
                let script = """
                    mkdir -p \(stack.state) \(stack.path("out"))
                    mount -t tmpfs -o size=96m none \(stack.state) || exit 1
                    hb=\(Programs.healthbus)
                    setpriv --pdeathsig KILL $hb up --state \(stack.state) --zone Europe/Berlin --import \(export) &
                    up=$!
                    # A first `sync` may end before the import has begun.
                    until $hb sync --state \(stack.state) && [ $($hb days --state \(stack.state) | wc -l) -gt 7 ]; do sleep 0.1; done
                    cat /dev/zero > \(stack.state)/filler
                    for one in observer uploader; do
                      kill -9 $(sed 's/.*"pid":\\([0-9]*\\).*/\\1/' \(stack.state)/$one/lock)
                    done
                    # What ended left room that its next start fills.
                    for round in 1 2 3; do
                      sleep 1; cat /dev/zero >> \(stack.state)/filler
                      for command in \(commands.joined(separator: " ")); do
                        began=$(date +%s%N)
                        $hb $command --state \(stack.state) > \(stack.path("out"))/$command.out 2> \(stack.path("out"))/$command.err
                        echo $? > \(stack.path("out"))/$command.code
                        echo $(( ($(date +%s%N) - began) / 1000000 )) >> \(stack.path("out"))/$command.ms
                      done
                    done
                    kill $up; wait $up; exit 0
                    """
                let run = try await stack.start(program: "/usr/bin/unshare", ["-m", "sh", "-c", script])
                let ended = try await run.ended(within: 120)
                try #require(ended.exit == .code(0), "\(ended.error.suffix(3000))")
                func text(_ name: String) throws -> String {
                    try String(contentsOfFile: stack.path("out/\(name)"), encoding: .utf8)
                }
                for command in commands {
                    let said = try text(command + ".out") + text(command + ".err")
                    #expect(said.contains("full") && said.contains("free some space"), "\(command): \(said)")
                    #expect(try text(command + ".code") == (command == "doctor" ? "1\n" : "0\n"), "\(command): \(said)")
                    let lasted = try text(command + ".ms").split(separator: "\n").compactMap { Int($0) }
                    #expect(lasted.min() ?? .max <= Self.withinMilliseconds, "\(command) took \(lasted) ms")
                }
                #expect(try text("doctor.out").hasPrefix("error: \(stack.state): its disk is full"))
                let days = try text("days.out")
                #expect(days.split(separator: "\n").count > 7, "\(days)")
            }
        }
    }
}
