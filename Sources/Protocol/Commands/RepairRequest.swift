import HealthModel

/// A person's request to a stage, such as to replay, retry, forget or back up. Repeating it changes nothing: each id is
/// carried out once.
package struct RepairRequest: BusCommand, Equatable {
    package static let name = "mend"

    package var id: String
    /// "replay", "retry", "drop", "reset", "backup", "undo", "cancel", "watch", "own", "settle", "doubles", "leaveOut",
    /// "verify".
    package var action: String
    /// For replay: the first and the last local date, and the corresponding instants for each user.
    @IfReadable package var from: String? = nil
    @IfReadable package var through: String? = nil
    @IfReadable package var users: [String: [Instant]]? = nil
    /// For replay: one of the observer's sequences, instead of dates.
    @IfReadable package var since: SequenceNumber? = nil
    /// For replay by the uploader: for each producer, parts of its changelog, each (after, until].
    @IfReadable package var rows: [String: [[SequenceNumber]]]? = nil
    /// For backup: the name of a folder below the state folder's "backup".
    @IfReadable package var folder: String? = nil
    /// For retry and drop: which entries are meant; for settle, `numbers` names the conflict.
    @IfReadable package var numbers: [Int64]? = nil
    @IfReadable package var reason: String? = nil
    @IfReadable package var type: String? = nil
    /// For undo and cancel: an import, by its id. For undo, `device` may name a pushing device of `user` (nil: the
    /// observer's default) instead.
    @IfReadable package var `import`: String? = nil
    @IfReadable package var device: String? = nil
    /// For watch and own: the person concerned. For undo: whose `device` it is. For doubles: whose samples, nil for
    /// everybody's.
    @IfReadable package var user: String? = nil
    /// For watch: conditions to keep, by name; null removes one.
    @IfReadable package var conditions: [String: Value]? = nil
    /// For own: what a person wants done with their own event or type.
    @IfReadable package var own: OwnRequest? = nil
    /// For settle: which content counts in the numbered conflicts, "stored" or "other".
    @IfReadable package var keep: String? = nil
    /// For undo, doubles and verify: whether to count only, and change nothing.
    @IfReadable package var dryRun: Bool? = nil
    /// For doubles: whether to undo the last repair. For leaveOut: whether to take a source back.
    @IfReadable package var revert: Bool? = nil
    /// For leaveOut: which source, and of what.
    @IfReadable package var leftOut: LeftOutSource? = nil

    package init(id: String, action: String) { (self.id, self.action) = (id, action) }

    /// nil when the body isn't a request.
    package init?(_ body: Value) {
        guard CommandName.of(body) == Self.name, let request = body.read(Self.self), !request.id.isEmpty else {
            return nil
        }
        self = request
    }

    /// The request in the form used in files and on command lines.
    package var json: String { Value.object(body).json() }

    /// The days to replay; nil if the request names none.
    package var days: Replay? {
        guard let from, let through else { return nil }
        return Replay(id: id, from: from, through: through, users: users ?? [:])
    }

    package var selection: RepairSelection {
        get { RepairSelection(numbers: numbers, reason: reason, type: type) }
        set { (numbers, reason, type) = (newValue.numbers, newValue.reason, newValue.type) }
    }
}

/// A selection of entries from the quarantine or the dead letters.
package struct RepairSelection: Codable, Sendable, Equatable {
    /// The entries' numbers; nil for all entries that match the other criteria.
    @IfReadable package var numbers: [Int64]? = nil
    /// Only entries whose reason contains this.
    @IfReadable package var reason: String? = nil
    /// A sample type, with or without its prefix; for dead letters, the metric.
    @IfReadable package var type: String? = nil

    package init(numbers: [Int64]? = nil, reason: String? = nil, type: String? = nil) {
        (self.numbers, self.reason, self.type) = (numbers, reason, type)
    }

    /// Whether an entry is selected.
    package func takes(number: Int64, reason: String, type: String) -> Bool {
        if let numbers, !numbers.contains(number) { return false }
        if let wanted = self.reason, !reason.lowercased().contains(wanted.lowercased()) { return false }
        if let wanted = self.type, type != wanted, !type.hasSuffix("Identifier" + wanted) { return false }
        return true
    }
}

/// What a handler did for a replay.
package struct ReplayReport: Codable, Sendable, Equatable {
    /// The days whose figures or events differ from before.
    package var revised: Int64
    /// Local dates that couldn't be computed, in order, at most `listed`; nil if there are none.
    package var failed: [String]?
    /// The total number of such dates; nil if there are none.
    package var failedDays: Int64?

    /// Heartbeats carry the report, so it stays small.
    package static let listed = 100

    /// - Parameter failed: all dates that couldn't be computed, in order.
    package init(revised: Int64, failed: [String] = []) {
        self.revised = revised
        guard !failed.isEmpty else { return }
        self.failed = Array(failed.prefix(Self.listed))
        failedDays = Int64(failed.count)
    }
}

/// What an undo took back, or would take back.
package struct UndoReport: Codable, Sendable, Equatable {
    package var dryRun: Bool?
    /// By type, the samples that came from nothing else, and are therefore deleted.
    package var taken: [String: Int64]
    /// By type, the samples that also came, or may also have come, from something else, and are therefore kept.
    package var kept: [String: Int64]

    package init(dryRun: Bool? = nil, taken: [String: Int64], kept: [String: Int64]) {
        (self.dryRun, self.taken, self.kept) = (dryRun, taken, kept)
    }
}
