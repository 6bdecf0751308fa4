import Console
import Foundation
import HealthModel
import MessageBus
import PluginKit

/// Hands files over to a running observer and watches what becomes of them. Whoever runs it may die: the observer goes on.
public final class ImportClient {
    public struct Outcome: Sendable {
        public var path: String
        /// As the observer reports it; nil when it couldn't read the file.
        public var report: Value?
        public var problem: String?
        /// The observer's head once it had ended.
        public var head: Int64

        public var isDamaged: Bool { report != nil && problem != nil }
        /// Why a complete import deleted nothing.
        public var refused: String? { report?["refused"].string }

        /// One of `files` in what `import --json` prints.
        public var value: Value {
            var members =
                report?.object ?? [
                    "path": .string(path), "read": 0, "added": 0, "known": 0, "deleted": 0, "quarantined": 0,
                ]
            if let problem { members["problem"] = .string(problem) }
            members["damaged"] = nil
            return .object(members)
        }
    }

    /// What an import may do beyond taking its file in.
    public struct Options: Sendable {
        /// The export is the whole truth for the types and the time that it covers: what it lacks is deleted.
        public var isComplete = false
        /// Read everything, change nothing, say what would be.
        public var isTrial = false
        /// Percent of the covered samples that may be deleted; nil: the usual limit.
        public var deleteUpTo: Double?

        public init(isComplete: Bool = false, isTrial: Bool = false, deleteUpTo: Double? = nil) {
            self.isComplete = isComplete
            self.isTrial = isTrial
            self.deleteUpTo = deleteUpTo
        }

        var members: [String: Value] {
            var members: [String: Value] = [:]
            if isComplete { members["complete"] = true }
            if isTrial { members["dryRun"] = true }
            if let deleteUpTo { members["deleteUpTo"] = .number(deleteUpTo) }
            return members
        }
    }

    private let client: StackClient
    private let observer: String

    public init(client: StackClient, observer: String) {
        self.client = client
        self.observer = observer
    }

    /// A name for one handing-over, so that repeating the command does nothing more.
    public static func newID() -> String { UUID().uuidString.lowercased() }

    /// Tells the observer of a file until it knows of it.
    /// - Throws: `Failure` when the observer doesn't answer within `seconds`.
    public func submit(
        _ path: String, id: String, user: String?, options: Options = Options(), within seconds: Double = 20
    ) throws {
        let absolute = URL(fileURLWithPath: path).standardizedFileURL.path
        let deadline = MonotonicClock.now + Instant(seconds * 1e6)
        while MonotonicClock.now < deadline {
            var command: [String: Value] = ["command": "import", "id": .string(id), "path": .string(absolute)]
            if let user { command["user"] = .string(user) }
            command.merge(options.members) { $1 }
            client.command(observer, command)
            if try state(id, within: 0.3) != nil { return }
        }
        throw Failure(
            "the observer doesn't take '\(path)'",
            hint: "is the stack running? 'healthbus status' tells; 'healthbus up' starts it")
    }

    /// The observer's row of an import (id, path, state, report, problem) and its head; nil when it has none or doesn't answer.
    public func state(_ id: String, within seconds: Double) throws -> (row: Value, head: Int64)? {
        guard let page = try client.ask(observer, ["query": "imports", "import": .string(id)], within: seconds)?.first,
            let row = page["imports"].array?.first
        else { return nil }
        return (row, page["head"]["sequence"].int ?? 0)
    }

    /// What became of it; nil while it is under way.
    public func outcome(_ id: String, path: String) throws -> Outcome? {
        guard let (row, head) = try state(id, within: 1), let state = row["state"].string else { return nil }
        switch state {
        case "closed": return Outcome(path: path, report: row["report"], problem: row["problem"].string, head: head)
        case "failed":
            return Outcome(path: path, report: nil, problem: row["problem"].string ?? "it couldn't be read", head: head)
        default: return nil
        }
    }

    /// How far the file that is being read has come, from the last heartbeat.
    public func progress(_ id: String) -> (bytesRead: Int, bytesTotal: Int, records: Int)? {
        guard let details = client.heartbeats[observer]?.beat.details["import"], details["id"].string == id else {
            return nil
        }
        return (
            Int(details["bytesRead"].int ?? 0), Int(details["bytesTotal"].int ?? 0), Int(details["records"].int ?? 0)
        )
    }

    /// Hands a file over and waits for its end, with a progress bar on a terminal.
    public func run(_ path: String, user: String?, options: Options = Options()) throws -> Outcome {
        let id = Self.newID()
        try submit(path, id: id, user: user, options: options)
        return try watch(id, path: path)
    }

    public func watch(_ id: String, path: String) throws -> Outcome {
        var bar: ProgressBar?
        while true {
            client.wait(until: Date(timeIntervalSinceNow: 0.1))
            // Before the file's first block its size isn't known, and a bar keeps the size that it began with.
            if let now = progress(id), now.bytesTotal > 0 {
                if bar == nil { bar = ProgressBar((path as NSString).lastPathComponent, totalBytes: now.bytesTotal) }
                bar?.update(bytes: now.bytesRead, records: now.records)
            }
            if let outcome = try outcome(id, path: path) {
                if let report = outcome.report, let total = bar?.totalBytes {
                    bar?.update(bytes: total, records: Int(report["read"].int ?? 0))
                }
                bar?.finish()
                return outcome
            }
        }
    }
}
