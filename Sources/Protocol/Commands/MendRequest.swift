import HealthModel

/// What a person asks of a stage by hand: to compute again, to try again, to forget, to copy itself. Given again, it changes nothing: what has
/// been done for an id is done.
package struct MendRequest: BusCommand, Equatable {
    package static let name = "mend"

    package var id: String
    /// "replay", "retry", "drop", "reset", "backup", "undo", "cancel".
    package var action: String
    /// Replay: local dates, both included, and by user their instants.
    @IfReadable package var from: String? = nil
    @IfReadable package var through: String? = nil
    @IfReadable package var users: [String: [Instant]]? = nil
    /// Replay: a sequence of the observer's, instead of dates.
    @IfReadable package var since: SequenceNumber? = nil
    /// Replay, of the uploader: by producer parts of its changelog, (after, until] each.
    @IfReadable package var rows: [String: [[SequenceNumber]]]? = nil
    /// Backup: name of a folder below the state folder's "backup".
    @IfReadable package var folder: String? = nil
    /// Retry, drop: which entries.
    @IfReadable package var numbers: [Int64]? = nil
    @IfReadable package var reason: String? = nil
    @IfReadable package var type: String? = nil
    /// Undo, cancel: an import, by its id. Undo: or a device that pushes, by its name, for a user (nil: the observer's usual one).
    @IfReadable package var `import`: String? = nil
    @IfReadable package var device: String? = nil
    @IfReadable package var user: String? = nil
    /// Undo: count only.
    @IfReadable package var dryRun: Bool? = nil

    package init(id: String, action: String) {
        self.id = id
        self.action = action
    }

    /// nil when the body isn't a request.
    package init?(_ body: Value) {
        guard CommandName.of(body) == Self.name, let request = body.read(Self.self), !request.id.isEmpty else {
            return nil
        }
        self = request
    }

    /// As files and command lines have it.
    package var json: String { Value.object(body).json() }

    /// Days that are to be done once more; nil where it names none.
    package var days: Replay? {
        guard let from, let through else { return nil }
        return Replay(id: id, from: from, through: through, users: users ?? [:])
    }

    package var selection: MendSelection {
        get { MendSelection(numbers: numbers, reason: reason, type: type) }
        set { (numbers, reason, type) = (newValue.numbers, newValue.reason, newValue.type) }
    }
}

/// Entries of a list, of the quarantine or of dead letters, that somebody means.
package struct MendSelection: Codable, Sendable, Equatable {
    /// By their numbers; nil: all that the rest allows.
    @IfReadable package var numbers: [Int64]? = nil
    /// The entry's reason has this in it.
    @IfReadable package var reason: String? = nil
    /// A sample type, with or without its prefix; of letters the metric.
    @IfReadable package var type: String? = nil

    package init(numbers: [Int64]? = nil, reason: String? = nil, type: String? = nil) {
        self.numbers = numbers
        self.reason = reason
        self.type = type
    }

    /// Whether an entry is among them.
    package func takes(number: Int64, reason: String, type: String) -> Bool {
        if let numbers, !numbers.contains(number) { return false }
        if let wanted = self.reason, !reason.lowercased().contains(wanted.lowercased()) { return false }
        if let wanted = self.type, type != wanted, !type.hasSuffix("Identifier" + wanted) { return false }
        return true
    }
}

/// What an undo took back, or would.
package struct UndoReport: Codable, Sendable, Equatable {
    package var dryRun: Bool?
    /// Samples that nothing else brought, by type: they are deleted.
    package var taken: [String: Int64]
    /// Samples that something else brought too, or may have: they stay.
    package var kept: [String: Int64]

    package init(dryRun: Bool? = nil, taken: [String: Int64], kept: [String: Int64]) {
        self.dryRun = dryRun
        self.taken = taken
        self.kept = kept
    }
}
