import Foundation
import Glibc
import HTTP
import HealthModel
import Processes
import Synchronization
import TestSupport

/// One test's stack: a state folder with a short path, its own ports for the backend and the ingest, and the programs
/// started with them.
final class TestStack: Sendable {
    let folder: String
    let port: Int
    let ingestPort: Int
    private let environment: [String: String]
    private let started = Mutex(0)

    var state: String { folder + "/s" }

    private static let count = Mutex(0)

    fileprivate init() throws {
        let number = Self.count.withLock { count in
            count += 1
            return count
        }
        // A short path, because the bus's sockets are in this folder.
        folder = "/tmp/hbe-\(getpid())-\(number)"
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        port = try freePort()
        ingestPort = try freePort()
        environment = [
            "HEALTHBUS_BACKEND_PORT": "\(port)", "HEALTHBUS_INGEST_PORT": "\(ingestPort)",
            "HEALTHBUS_DASHBOARD_PORT": "0", "HEALTHBUS_AUDIT": "1",
            "HEALTHBUS_BACKEND_TOKEN": "",
            "HEALTHBUS_ZONE": "", "HEALTHBUS_STATE": "",
        ]
    }

    func path(_ name: String) -> String { folder + "/" + name }

    /// Starts a program and returns at once.
    func start(
        program: String = Programs.healthbus, _ words: [String], environment more: [String: String] = [:]
    ) async throws -> Command {
        let number = started.withLock { count in
            count += 1
            return count
        }
        return try await Command(
            program, words, environment: environment.merging(more) { _, new in new }, log: path("run-\(number)"))
    }

    /// Runs `healthbus` with these arguments until it ends.
    @discardableResult
    func run(
        _ words: String..., environment more: [String: String] = [:], within seconds: Double = Patience.seconds
    ) async throws -> Command.Ended {
        try await start(words, environment: more).ended(within: seconds)
    }

    /// The same, for a command that takes `--state`.
    @discardableResult
    func onState(
        _ words: String..., environment more: [String: String] = [:], within seconds: Double = Patience.seconds
    ) async throws -> Command.Ended {
        try await start(words + ["--state", state], environment: more).ended(within: seconds)
    }

    /// Writes a small file to this stack's folder.
    func write(_ name: String, _ text: String) throws -> String {
        try Data(text.utf8).write(to: URL(fileURLWithPath: path(name)))
        return path(name)
    }

    /// A made-up export in this stack's folder. It isn't marked as made up, because tests import other data into the
    /// same store.
    func generate(_ name: String, _ words: String...) async throws -> String {
        let file = path(name)
        let ended = try await start(["generate", "--unmarked", "-o", file] + words).ended(within: 120)
        guard ended.exit.isSuccess else { throw HarnessError("generate: \(ended.error)") }
        return file
    }

    /// Makes a state folder that an earlier release left behind this stack's own.
    /// - Parameter fixture: an archive in `Tests/Fixtures`.
    func unpack(_ fixture: String) async throws {
        let archive = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "Fixtures/\(fixture)").path
        try FileManager.default.createDirectory(
            atPath: state, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        let unpacked = try await start(
            program: "/bin/tar", ["-xzf", archive, "--strip-components", "1", "-C", state]
        ).ended()
        guard unpacked.exit == .code(0) else { throw HarnessError("tar: \(unpacked.error)") }
    }

    /// Starts `up` in Berlin's zone.
    func up(_ words: String..., environment more: [String: String] = [:]) async throws -> Command {
        try await start(["up", "--state", state, "--zone", "Europe/Berlin"] + words, environment: more)
    }

    /// Starts `up` in the background, and waits until all processes are ready.
    func upAndReady(_ words: String..., environment more: [String: String] = [:]) async throws -> Command {
        let up = try await start(["up", "--state", state, "--zone", "Europe/Berlin"] + words, environment: more)
        try await until("all ready: \(up.error.suffix(2000))") { up.error.contains("processes are ready") }
        return up
    }

    /// Ends a stack the way Ctrl-C would.
    @discardableResult
    func interrupt(_ up: Command) async throws -> Command.Ended {
        up.child.signal(SIGINT)
        return try await up.ended(within: 20)
    }

    /// The process that holds an instance's lock; nil if none is running, and also while the lock file is being
    /// written.
    func pid(of instance: String) throws -> pid_t? {
        guard let data = FileManager.default.contents(atPath: "\(state)/\(instance)/lock"), !data.isEmpty,
            let pid = try? Value(json: data)["pid"].int.map({ pid_t($0) })
        else { return nil }
        return processes.contains(pid) ? pid : nil
    }

    /// Whether the state folder records that an instance was swapped.
    var recordsSwap: Bool {
        (try? String(contentsOfFile: state + "/stack.json", encoding: .utf8))?.contains("\"instances\"") == true
    }

    /// All running processes of this stack.
    var processes: [pid_t] { EndToEndTests.processes(naming: state) }

    /// Asks the backend.
    func get(_ path: String, _ query: [String: String] = [:]) throws -> Value {
        let token = try String(contentsOfFile: state + "/secrets/backend-token", encoding: .utf8)
        let answer = try HTTPClient(base: "http://127.0.0.1:\(port)").send(
            HTTPRequest(
                method: "GET", path: "/api/v1/" + path, query: query,
                headers: ["Authorization": "Bearer \(token.trimmingCharacters(in: .whitespacesAndNewlines))"]))
        guard answer.status == 200 else { throw HarnessError("GET \(path): \(answer.status)") }
        return try Value(json: answer.body)
    }

    /// Kills those of the stack's processes that are still running, and removes its folder.
    fileprivate func remove() async throws {
        var left = processes
        while !left.isEmpty {
            for pid in left { kill(pid, SIGKILL) }
            try await Task.sleep(for: .milliseconds(10))
            left = processes
        }
        try FileManager.default.removeItem(atPath: folder)
    }
}

/// A stack for one test, removed when the test ends, however it ends.
func withStack<Result>(_ body: (TestStack) async throws -> Result) async throws -> Result {
    let stack = try TestStack()
    do {
        let result = try await body(stack)
        try await stack.remove()
        return result
    } catch {
        try await stack.remove()
        throw error
    }
}
