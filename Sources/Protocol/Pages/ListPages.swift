import HealthModel

/// A user's quarantine entries, by reason.
package struct QuarantinePage: PageContent, Equatable {
    package struct Reason: Codable, Sendable, Equatable {
        package var reason: String
        package var count: Int64

        package init(reason: String, count: Int64) {
            self.reason = reason
            self.count = count
        }
    }

    package var reasons: [Reason]

    package init(reasons: [Reason]) { self.reasons = reasons }
}

/// A page of the quarantine's entries, oldest first.
package struct QuarantinedPage: PageContent, Equatable {
    package var entries: [QuarantinedRow]
    /// Set on the last part if there is more: pass it in the next request.
    package var `continue`: Int64?

    package init(entries: [QuarantinedRow], continue number: Int64? = nil) {
        self.entries = entries
        `continue` = number
    }
}

/// Something that the observer can't accept as it is, and why.
package struct QuarantinedRow: Codable, Sendable, Equatable {
    /// A sample outside the limits, or input that wasn't understood.
    package enum Kind: String, Codable, Sendable { case sample, input }

    /// Rises with each entry in this store.
    package var number: Int64
    package var user: String
    @OrNull package var type: String?
    package var kind: Kind
    package var reason: String
    /// The file or request that contained it, and its line there; 0 if there is none.
    package var source: String
    package var line: Int64
    /// How many times it has been received.
    package var seen: Int64
    @OrNull package var start: Instant?
    @OrNull package var end: Instant?
    /// Its contents, if requested.
    package var record: Record?

    package enum Record: Sendable, Equatable {
        case sample(Sample)
        /// The text, for input that wasn't understood.
        case input(raw: String)
    }

    /// The sample, if it is outside the limits.
    package struct Sample: Codable, Sendable, Equatable {
        @OrNull package var id: String?
        @OrNull package var value: Double?
        package var unit: String
        package var sourceName: String
        package var sourceVersion: String
        package var device: String
        /// JSON.
        package var metadata: String
        package var payload: String
        @OrNull package var created: Instant?

        package init(
            id: String?, value: Double?, unit: String, sourceName: String, sourceVersion: String, device: String,
            metadata: String, payload: String, created: Instant?
        ) {
            self.id = id
            self.value = value
            self.unit = unit
            self.sourceName = sourceName
            self.sourceVersion = sourceVersion
            self.device = device
            self.metadata = metadata
            self.payload = payload
            self.created = created
        }
    }

    package init(
        number: Int64, user: String, type: String?, kind: Kind, reason: String, source: String, line: Int64,
        seen: Int64, start: Instant?, end: Instant?
    ) {
        self.number = number
        self.user = user
        self.type = type
        self.kind = kind
        self.reason = reason
        self.source = source
        self.line = line
        self.seen = seen
        self.start = start
        self.end = end
    }
}

extension QuarantinedRow.Record: Codable {
    private enum Member: CodingKey { case raw }

    package init(from decoder: any Decoder) throws {
        let raw = try decoder.container(keyedBy: Member.self).decodeIfPresent(String.self, forKey: .raw)
        self = try raw.map { .input(raw: $0) } ?? .sample(QuarantinedRow.Sample(from: decoder))
    }

    package func encode(to encoder: any Encoder) throws {
        switch self {
        case .sample(let sample): try sample.encode(to: encoder)
        case .input(let raw):
            var members = encoder.container(keyedBy: Member.self)
            try members.encode(raw, forKey: .raw)
        }
    }
}

/// A page of dead letters, oldest first.
package struct LettersPage: PageContent, Equatable {
    package var letters: [DeadLetter]
    /// Included only if requested, and then instead of the letters.
    package var dropped: [DroppedElement]?
    /// Set on the last part if there is more: pass it in the next request.
    package var `continue`: Int64?

    package init(letters: [DeadLetter], dropped: [DroppedElement]? = nil, continue number: Int64? = nil) {
        self.letters = letters
        self.dropped = dropped
        `continue` = number
    }
}

/// An element that the backend refused and that a person dropped in this version, so that it doesn't count as missing
/// at the backend.
package struct DroppedElement: Codable, Sendable, Equatable {
    /// Rises with each dropped element.
    package var number: Int64
    package var user: String
    /// The metric family that its path belongs to.
    package var metric: String
    package var id: String
    /// The sequence of its change.
    package var version: Int64

    package init(number: Int64, user: String, metric: String, id: String, version: Int64) {
        (self.number, self.user, self.metric) = (number, user, metric)
        (self.id, self.version) = (id, version)
    }
}

/// An element that the backend wouldn't accept: which one, which version, and why. Its content isn't kept; a retry
/// fetches it from its producer.
package struct DeadLetter: Codable, Sendable, Equatable {
    /// Rises with each dead letter.
    package var number: Int64
    package var user: String
    /// The metric family that its path belongs to.
    package var metric: String
    package var id: String
    /// The sequence of its change.
    package var version: Int64
    package var reason: String
    /// The path that it is sent to.
    package var path: String
    /// The HTTP status of the answer; nil if unknown.
    @OrNull package var status: Int?
    package var firstTried: Instant
    package var lastTried: Instant
    package var tries: Int64

    /// The sequence of its change.
    package var sequence: SequenceNumber { SequenceNumber(version) }

    package init(
        number: Int64, user: String, metric: String, id: String, version: Int64, reason: String, path: String,
        status: Int?, firstTried: Instant, lastTried: Instant, tries: Int64
    ) {
        self.number = number
        self.user = user
        self.metric = metric
        self.id = id
        self.version = version
        self.reason = reason
        self.path = path
        self.status = status
        self.firstTried = firstTried
        self.lastTried = lastTried
        self.tries = tries
    }
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
        self.imports = imports
        self.devices = devices
        self.doubles = doubles
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
        self.id = id
        self.path = path
        self.user = user
        self.state = state
        self.report = report
        self.problem = problem
        self.request = request
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
    package static func told(path: String, report: Value?, problem: String?) -> Value {
        var members =
            report?.object ?? [
                "path": .string(path), "read": 0, "added": 0, "known": 0, "deleted": 0, "quarantined": 0,
            ]
        if let problem { members["problem"] = .string(problem) }
        members["damaged"] = nil
        return .object(members)
    }
}

/// Bytes of a file, following those of the previous part.
package struct FilePage: PageContent, Equatable {
    package var offset: Int64
    /// At most 60 KiB; empty only at the file's end.
    package var bytes: [UInt8]
    /// Set with the last bytes: the size of the whole file, and in `hash` its XXH3-128, high word first.
    package var size: Int64?
    package var hash: [UInt8]?

    package init(offset: Int64, bytes: [UInt8], size: Int64? = nil, hash: [UInt8]? = nil) {
        self.offset = offset
        self.bytes = bytes
        self.size = size
        self.hash = hash
    }
}
