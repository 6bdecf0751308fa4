import Foundation
import Glibc

/// A test's own PostgreSQL server, in a folder that is removed with it; one that is already running on the machine is
/// never touched.
///
/// Its programs are found through `HEALTHBUS_TEST_POSTGRES`, the folder they are in (`make test-servers` sets it).
package final class PostgresServer: Sendable {
    package let port: Int
    private let folder: TemporaryFolder
    private let programs: String
    /// PostgreSQL refuses to run as root.
    private let user: String?

    package static let programs = ProcessInfo.processInfo.environment["HEALTHBUS_TEST_POSTGRES"].flatMap {
        FileManager.default.isExecutableFile(atPath: $0 + "/initdb") ? $0 : nil
    }
    package static var isThere: Bool { programs != nil }
    package static let hint: String = "there is no PostgreSQL for tests: run 'make test-servers'"

    package struct Problem: Error, CustomStringConvertible {
        package var description: String
    }

    /// - Parameter settings: lines for its configuration.
    package init(settings: [String] = []) throws {
        guard let programs = Self.programs else { throw Problem(description: Self.hint) }
        self.programs = programs
        folder = try TemporaryFolder()
        port = try freePort()
        user = geteuid() == 0 ? (getpwnam("postgres") == nil ? "nobody" : "postgres") : nil
        if let user, let entry = getpwnam(user) {
            guard chown(folder.path, entry.pointee.pw_uid, entry.pointee.pw_gid) == 0 else {
                throw Problem(description: "chown: errno \(errno)")
            }
        }
        try run(
            "initdb", ["-D", data, "-U", "healthbus", "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync"])
        // The default settings, but with little memory, because many tests run at once.
        try run("pg_ctl", start(settings: ["shared_buffers=32MB", "listen_addresses=127.0.0.1"] + settings))
        try run("createdb", ["-h", "127.0.0.1", "-p", "\(port)", "-U", "healthbus", "health"])
    }

    deinit {
        do { try run("pg_ctl", ["-D", data, "-m", "immediate", "-w", "stop"]) } catch {
            print("PostgreSQL isn't stopped: \(error)")
        }
    }

    private var data: String { folder.path + "/data" }

    private func start(settings: [String]) -> [String] {
        let options = (["unix_socket_directories=\(folder.path)", "port=\(port)"] + settings).map { "-c \($0)" }
        return [
            "-D", data, "-l", folder.path + "/log", "-w", "-t", "60", "-o", options.joined(separator: " "), "start",
        ]
    }

    package func url(port: Int? = nil, user: String = "healthbus", database: String = "health") -> String {
        "postgresql://\(user)@127.0.0.1:\(port ?? self.port)/\(database)"
    }

    /// Stops it as a power failure would.
    package func kill() throws { try run("pg_ctl", ["-D", data, "-m", "immediate", "-w", "stop"]) }

    /// After `kill`.
    package func restart() throws {
        try run("pg_ctl", start(settings: ["shared_buffers=32MB", "listen_addresses=127.0.0.1"]))
    }

    /// The server stops answering, but connections to it can still be made.
    package func pause() { signalAll(SIGSTOP) }
    package func resume() { signalAll(SIGCONT) }

    /// Sends a signal to the server's first process and its children.
    private func signalAll(_ signal: Int32) {
        guard
            let first = String(
                decoding: FileManager.default.contents(atPath: data + "/postmaster.pid") ?? Data(), as: UTF8.self
            )
            .split(whereSeparator: \.isNewline).first.flatMap({ pid_t($0) })
        else { return }
        _ = Glibc.kill(first, signal)
    }

    /// What the server has logged about itself and its clients.
    package var log: String {
        String(decoding: FileManager.default.contents(atPath: folder.path + "/log") ?? Data(), as: UTF8.self)
    }

    /// Foundation's Process isn't used, because it waits for everything that inherits its pipes, and the server keeps
    /// running.
    private func run(_ program: String, _ arguments: [String]) throws {
        let command = [programs + "/" + program] + arguments
        // The server starts in a folder that its user can enter.
        let shell = ["/bin/sh", "-c", "cd / && exec \"$0\" \"$@\""]
        let whole = shell + (user.map { ["/usr/sbin/runuser", "-u", $0, "--"] + command } ?? command)
        let output = folder.path + "/output-\(program)"
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, 1, output, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        posix_spawn_file_actions_adddup2(&actions, 1, 2)
        var words = whole.map { strdup($0) } + [nil]
        defer { for word in words { free(word) } }
        var process = pid_t()
        let code = posix_spawn(&process, whole[0], &actions, nil, &words, environ)
        guard code == 0 else { throw Problem(description: "\(whole[0]): error \(code)") }
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0 {
            guard errno == EINTR else { throw Problem(description: "waitpid: errno \(errno)") }
        }
        guard status == 0 else {
            let said = String(decoding: FileManager.default.contents(atPath: output) ?? Data(), as: UTF8.self)
            throw Problem(description: "\(program): \(said.suffix(1000))")
        }
    }
}
