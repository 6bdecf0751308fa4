import Changelog
import HealthModel
import HealthStore
import Protocol
import StageKit

/// Samples that get new versions, in steps, since they are to be read otherwise than before: a person leaves their source
/// out or takes it back, or allows their type to be read again.
struct PendingRenewal: Codable, Sendable, Equatable {
    static let table = ValueTable("renewals", key: "what", value: "renewal")

    var user: String
    /// HealthKit's identifier; nil for all types.
    var type: String?
    /// All names of a source; nil for all sources.
    var sources: Set<String>?
    /// Samples in this part of the store still need new versions; what comes later has one.
    var after = SequenceNumber.beginning
    var through = SequenceNumber.beginning

    var left: Int64 { through.value - after.value }

    fileprivate var key: String { "\(user) \(type ?? "") \(sources?.sorted().joined(separator: " ") ?? "")" }
}

extension ObserverStage {
    func openRenewals(_ turn: Turn) throws {
        try PendingRenewal.table.create(in: turn.write().database)
        renewals = []
        try PendingRenewal.table.forEach(in: turn.database) {
            if let renewal = $1.read(PendingRenewal.self) { renewals.append(renewal) }
        }
    }

    func renew(_ renewal: PendingRenewal, _ turn: Turn) throws {
        var renewal = renewal
        renewal.through = turn.head.sequence
        renewals.removeAll { $0.key == renewal.key }
        renewals.append(renewal)
        try PendingRenewal.table.set(renewal.key, to: Value(renewal), turn)
    }

    /// Everybody's samples of a type: whoever asked for changes while it couldn't be read has passed them.
    func renew(type: String, _ turn: Turn) throws {
        for user in try HealthStoreReader(database: turn.database).userNames() {
            try renew(PendingRenewal(user: user, type: type), turn)
        }
    }

    /// One step, between imports.
    /// - Returns: whether there is more to do.
    func goOnRenewing(_ turn: Turn) throws -> Bool {
        guard attempt == nil, imports.firstOpen == nil else { return false }
        if !changedTypes.isEmpty { try learnNames(turn) }
        guard var renewal = renewals.first else { return false }
        _ = try turn.write()
        let step = try writer(for: renewal.user, turn).renew(
            SequenceWindow(after: renewal.after, through: renewal.through), ofSources: renewal.sources,
            type: renewal.type, limit: rowsPerStep)
        if step.renewed > 0 { try refreshHeads() }
        renewal.after = step.through
        if renewal.left > 0 {
            renewals[0] = renewal
            try PendingRenewal.table.set(renewal.key, to: Value(renewal), turn)
        } else {
            renewals.removeFirst()
            try PendingRenewal.table.remove(renewal.key, turn)
        }
        return !renewals.isEmpty
    }
}
