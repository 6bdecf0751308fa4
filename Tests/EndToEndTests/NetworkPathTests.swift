import Foundation
import Glibc
import Processes
import Testing

extension EndToEnd {
    /// The kernel's own routes, in a network namespace that has nothing but loopback at first.
    @Suite struct NetworkPathTests {
        /// A network of its own, with `/sys` describing its links; no rights are needed where user namespaces are
        /// allowed.
        private static let namespace = ["-rnm", "sh", "-ec"]
        private static let setUp = "mount -t sysfs sysfs /sys; ip link set lo up"
        private static let addLink =
            "ip link add v0 type veth peer name v1; ip addr add 192.0.2.1/24 dev v0; ip link set v1 up; ip link set v0 up"

        /// Whether this machine lets us have such a network.
        static let canUnshare: Bool = {
            guard access("/usr/bin/unshare", X_OK) == 0, access("/usr/bin/setpriv", X_OK) == 0 else { return false }
            let process = Process()
            process.executableURL = URL(fileURLWithPath: "/usr/bin/unshare")
            process.arguments = namespace + ["\(setUp); \(addLink)"]
            process.standardError = FileHandle.nullDevice
            guard (try? process.run()) != nil else { return false }
            process.waitUntilExit()
            return process.terminationStatus == 0
        }()

        /// Without a route nothing is tried; once the kernel says that there is one, it is at once.
        @Test(.enabled(if: canUnshare, "needs network namespaces: unshare(1), setpriv(1), ip(8) and veth"))
        func routesThatComeAndGoAreReportedByTheKernel() async throws {
            try await withStack { stack in
                let export = try await stack.generate("export.zip", "--days", "3")
                let config = try stack.write(
                    "config.json",
                    #"{"instances": {"uploader": {"configuration": {"url": "https://192.0.2.2", "token": "none"}}}}"#)
                func wait(for file: String) -> String { "until [ -e \(stack.path(file)) ]; do sleep 0.05; done" }
                let up = "up --state \(stack.state) --zone Europe/Berlin --config \(config) --import \(export)"
                let script = """
                    \(Self.setUp)
                    setpriv --pdeathsig KILL \(Programs.healthbus) \(up) &
                    up=$!
                    \(wait(for: "doctor")); \(Programs.healthbus) doctor --state \(stack.state) > \(stack.path("said")) || :
                    mv \(stack.path("said")) \(stack.path("findings"))
                    \(wait(for: "link")); \(Self.addLink)
                    \(wait(for: "down")); ip link set v0 down
                    \(wait(for: "end")); kill -INT $up
                    wait $up
                    """
                let run = try await stack.start(program: "/usr/bin/unshare", Self.namespace + [script])
                func logged(_ words: String) async throws -> Int {
                    let lines = try await stack.onState("logs", "uploader").output.split(separator: "\n")
                    return lines.count { $0.contains(words) }
                }
                try await until("ready: \(run.error.suffix(3000))") {
                    run.error.contains("processes are ready") || !run.isRunning
                }
                try await until("no path") { try await logged("path.changed satisfied=false") == 1 }
                _ = try stack.write("doctor", "")
                try await until("findings") { FileManager.default.fileExists(atPath: stack.path("findings")) }
                let findings = try String(contentsOfFile: stack.path("findings"), encoding: .utf8)
                #expect(findings.contains("uploader: has no network path"), "\(findings)")
                #expect(try await logged("upload.retry") == 0)
                _ = try stack.write("link", "")
                try await until("a path") { try await logged("path.changed satisfied=true interface=wired") == 1 }
                // Nobody is there, but now it is tried.
                try await until("a try") { try await logged("upload.retry") > 0 }
                _ = try stack.write("down", "")
                try await until("no path") { try await logged("path.changed satisfied=false") == 2 }
                _ = try stack.write("end", "")
                #expect(try await run.ended().exit == .code(0), "\(run.error.suffix(2000))")
            }
        }
    }
}
