import HealthModel

/// The observer: the state of one file that was handed over, or of the last hundred.
package struct ImportsQuery: Query {
    package typealias Answer = ImportsPage
    package static let name = "imports"

    @IfReadable package var `import`: String?
}

extension Query where Self == ImportsQuery {
    package static func imports(id: String? = nil) -> Self { Self(import: id) }
}

/// The state of files handed over, newest first.
package struct ImportsPage: PageContent, Equatable {
    package var imports: [ImportRow]
    /// The devices that push; only if no single import was asked for.
    package var devices: [PushingDevice]?
    /// What the last search for samples stored twice found, or the last repair or its undo changed; only if no single
    /// import was asked for.
    package var doubles: DoublesReport?

    package init(imports: [ImportRow], devices: [PushingDevice]? = nil, doubles: DoublesReport? = nil) {
        (self.imports, self.devices, self.doubles) = (imports, devices, doubles)
    }
}

/// A device that has pushed something that can be taken back.
package struct PushingDevice: Codable, Sendable, Equatable {
    package var user: String
    /// The device's name in its token.
    package var device: String
    /// Its ways in: "/v1/samples", "/v1/health-auto-export", "live".
    package var ways: [String]

    package init(user: String, device: String, ways: [String]) {
        (self.user, self.device, self.ways) = (user, device, ways)
    }
}

/// The state of one file.
package struct ImportRow: Codable, Sendable, Equatable {
    package enum State: String, Codable, Sendable { case announced, receiving, open, closed, failed }

    package var id: String
    package var path: String
    package var user: String
    package var state: State
    /// The report as `import --json` prints it.
    @OrNull package var report: Value?
    @OrNull package var problem: String?
    /// The request from a command that can send the bytes, without its id and sender; kept until the file is in the
    /// inbox.
    @OrNull package var request: ImportFile?
    /// When it was handed over.
    package var submitted: Instant?
    /// When its samples were taken back.
    package var undone: Instant?

    package init(
        id: String, path: String, user: String, state: State, report: Value?, problem: String?, request: ImportFile?
    ) {
        (self.id, self.path, self.user, self.state, self.report) = (id, path, user, state, report)
        (self.problem, self.request) = (problem, request)
    }
}

extension ImportRow {
    /// The problem reported for an import that a person has cancelled.
    package static let cancelled = "it was cancelled; what it had added by then stays"

    /// Whether handing over the same file again makes a new import.
    package var isSpent: Bool { state == .failed || (state == .closed && problem != nil) || undone != nil }

    /// One element of `files` in the output of `import --json`.
    /// - Parameters:
    ///   - path: the file's path as the reader knows it.
    ///   - report: nil when it couldn't be read.
    package static func reported(path: String, report: Value?, problem: String?) -> Value {
        var members =
            report?.object ?? [
                "path": .string(path), "read": 0, "added": 0, "known": 0, "deleted": 0, "quarantined": 0,
            ]
        if let problem { members["problem"] = .string(problem) }
        members["damaged"] = nil
        return .object(members)
    }
}
