import Changelog
import HealthModel
import HealthStore
import ObserverReading
import Protocol
import StageKit

/// Leaving sources out, and taking them back. A rule applies at once; then, in steps, the samples concerned get new
/// versions, by which everybody who has read them learns of it.
extension ObserverStage {
    func leaveOut(_ request: MendRequest, _ turn: Turn) throws -> Mended {
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
        if request.revert == true {
            guard let held else {
                return .refused("'\(rule.source)' isn't left out; 'healthbus sources' shows which are")
            }
            if !leftOut[held].isTakenBack {
                leftOut[held].isTakenBack = true
                try begin(held, turn)
            }
            return leavingOut(leftOut[held])
        }
        if let held, leftOut[held].rule == rule, !leftOut[held].isTakenBack { return leavingOut(leftOut[held]) }
        if let held { try LeftOutTable.table.remove(leftOut.remove(at: held).key, turn) }
        leftOut.append(LeftOutTable.Entry(rule, names: names, through: turn.head.sequence))
        try begin(leftOut.count - 1, turn)
        return leavingOut(leftOut[leftOut.count - 1])
    }

    /// One step of a request.
    func goOnLeavingOut(for request: MendRequest, _ turn: Turn) throws -> Mended? {
        guard request.action == "leaveOut" else { return nil }
        _ = try goOnLeavingOut(turn)
        let open = leftOut.first { !$0.isDone && $0.rule.user == request.leftOut?.user }
        return open.map(leavingOut) ?? .done([:])
    }

    /// One step, between imports.
    /// - Returns: whether there is more to do.
    func goOnLeavingOut(_ turn: Turn) throws -> Bool {
        guard attempt == nil, imports.firstOpen == nil else { return false }
        if !changedTypes.isEmpty { try learnNames(turn) }
        guard let index = leftOut.firstIndex(where: { !$0.isDone }) else { return false }
        _ = try turn.write()
        let entry = leftOut[index]
        let step = try writer(for: entry.rule.user, turn).renew(
            SequenceWindow(after: entry.after, through: entry.through), ofSources: entry.names, type: entry.rule.type,
            limit: rowsPerStep)
        if step.renewed > 0 { try refreshHeads() }
        leftOut[index].after = step.through
        if leftOut[index].isDone, entry.isTakenBack {
            leftOut.remove(at: index)
            try LeftOutTable.table.remove(entry.key, turn)
        } else {
            try LeftOutTable.table.set(entry.key, to: Value(leftOut[index]), turn)
        }
        return leftOut.contains { !$0.isDone }
    }

    private func leavingOut(_ entry: LeftOutTable.Entry) -> Mended {
        entry.isDone
            ? .done([:]) : .underWay(left: max(1, entry.through.value - entry.after.value), goesOn: true)
    }

    private func begin(_ index: Int, _ turn: Turn) throws {
        leftOut[index].after = .beginning
        leftOut[index].through = turn.head.sequence
        try LeftOutTable.table.set(leftOut[index].key, to: Value(leftOut[index]), turn)
    }

    /// A source may turn out to have yet another name.
    private func learnNames(_ turn: Turn) throws {
        guard !leftOut.isEmpty else { return }
        let reader = try HealthStoreReader(database: turn.database)
        for index in leftOut.indices {
            let names = try Self.names(of: leftOut[index].rule, reader)
            guard !names.isSubset(of: leftOut[index].names) else { continue }
            leftOut[index].names.formUnion(names)
            try begin(index, turn)
        }
    }

    private static func names(of rule: LeftOutSource, _ reader: HealthStoreReader) throws -> Set<String> {
        let group = try reader.sourceNames(of: rule.user).first { $0.contains(rule.source) }
        return Set(group ?? []).union([rule.source])
    }
}
