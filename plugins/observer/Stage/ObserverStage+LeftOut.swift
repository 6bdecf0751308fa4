import Changelog
import HealthModel
import HealthStore
import ObserverReading
import Protocol
import StageKit

/// Leaving sources out, and taking them back. A rule applies at once; whoever has read the samples concerned learns of
/// it by their new versions.
extension ObserverStage {
    func leaveOut(_ request: RepairRequest, _ turn: Turn) throws -> RepairOutcome {
        guard let rule = request.leftOut, !rule.source.isEmpty else {
            return .refused("the request doesn't say which source is meant")
        }
        guard attempt == nil, imports.firstOpen == nil else {
            return .refused("an import is under way; 'healthbus imports list' shows when it is over, try again then")
        }
        let names = try Self.names(of: rule, HealthStoreReader(database: turn.database))
        let held = leftOut.firstIndex {
            $0.rule.user == rule.user && $0.rule.type == rule.type && !$0.names.isDisjoint(with: names)
        }
        // A restart repeats the request.
        let isDone = held.map { leftOut[$0].rule == rule } ?? false
        if request.revert == true {
            guard let held else { return renewing(of: rule) }
            try LeftOutTable.table.remove(leftOut.remove(at: held).key, turn)
        } else if !isDone {
            if let held { try LeftOutTable.table.remove(leftOut.remove(at: held).key, turn) }
            try keep(LeftOutTable.Entry(rule, names: names), turn)
        }
        if request.revert == true || !isDone {
            try renew(PendingRenewal(user: rule.user, type: rule.type, sources: names), turn)
        }
        return renewing(of: rule)
    }

    /// One step of a request.
    func goOnLeavingOut(for request: RepairRequest, _ turn: Turn) throws -> RepairOutcome? {
        guard request.action == "leaveOut", let rule = request.leftOut else { return nil }
        _ = try goOnRenewing(turn)
        return renewing(of: rule)
    }

    private func renewing(of rule: LeftOutSource) -> RepairOutcome {
        let open = renewals.filter { $0.user == rule.user && $0.type == rule.type && $0.sources != nil }
        return open.isEmpty ? .done([:]) : .underWay(left: open.reduce(0) { $0 + max(1, $1.left) }, goesOn: true)
    }

    private func keep(_ entry: LeftOutTable.Entry, _ turn: Turn) throws {
        leftOut.removeAll { $0.key == entry.key }
        leftOut.append(entry)
        try LeftOutTable.table.set(entry.key, to: Value(entry), turn)
    }

    /// A source may turn out to have yet another name.
    func learnNames(_ turn: Turn) throws {
        guard !leftOut.isEmpty else { return }
        let reader = try HealthStoreReader(database: turn.database)
        for entry in leftOut {
            let names = try Self.names(of: entry.rule, reader)
            guard !names.isSubset(of: entry.names) else { continue }
            var entry = entry
            entry.names.formUnion(names)
            try keep(entry, turn)
            try renew(PendingRenewal(user: entry.rule.user, type: entry.rule.type, sources: entry.names), turn)
        }
    }

    private static func names(of rule: LeftOutSource, _ reader: HealthStoreReader) throws -> Set<String> {
        let group = try reader.sourceNames(of: rule.user).first { $0.contains(rule.source) }
        return Set(group ?? []).union([rule.source])
    }
}
