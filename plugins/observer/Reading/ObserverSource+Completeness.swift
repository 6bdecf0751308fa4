import HealthModel
import HealthStore
import Protocol
import StageKit

/// What `check` and `status` ask: how complete the samples are, what Apple counted, what is quarantined. Nothing follows from these.
extension ObserverSource {
    /// Numbers in the columns of one page: well within 64 KiB.
    private static let numbersPerPage = 9000
    private static let summariesPerPage = 150

    /// By type the dates with samples, and late arrivals; a type whose columns are long goes on in the next page.
    func completeness(_ request: Value, _ page: ([String: Value], Bool) -> Void) throws {
        let user = request["user"].string
        let nightHours = (request["nights"].object ?? [:]).compactMapValues(\.int)
        guard nightHours.values.allSatisfy({ (1...24).contains($0) }) else {
            throw PullRefusal("'nights' must be hours from 1 to 24, by type")
        }
        let zones = try ZoneTables.timelines(in: database)
        let found = try completeness.types(
            zones: zones, nightHours: nightHours.mapValues { Int($0) }, budget: budget)
        guard let found else { return page(["types": [], "continue": ["user": "", "type": ""]], true) }
        let after = (request["continue"]["user"].string ?? "", request["continue"]["type"].string ?? "")
        let asked = found.filter { (user == nil || $0.head.user == user) && ($0.head.user, $0.head.type) > after }

        var rows: [Value] = []
        var room = Self.numbersPerPage
        var parts = 1
        func flush(then position: TypeHead?) {
            var members: [String: Value] = ["types": .array(rows)]
            if let position { members["continue"] = ["user": .string(position.user), "type": .string(position.type)] }
            page(members, position != nil)
            rows = []
            room = Self.numbersPerPage
            parts += 1
        }
        for (index, type) in asked.enumerated() {
            for row in Self.rows(type) {
                if room < row.numbers, !rows.isEmpty { flush(then: nil) }
                rows.append(row.value)
                room -= row.numbers
            }
            // Of one type all pages are of one answer.
            if budget.isBounded, parts >= Self.partsPerSlice / 2, index + 1 < asked.count {
                return flush(then: type.head)
            }
        }
        page(["types": .array(rows)], true)
    }

    /// A type's row, or several of parts of its columns.
    private static func rows(_ type: TypeCompleteness) -> [(value: Value, numbers: Int)] {
        let head = type.head
        let step = numbersPerPage / 6
        // Runs are pairs.
        let pieces = max(1, (type.runs.count / 2 + step - 1) / step, (type.late.count + step - 1) / step)
        return (0..<pieces).map { piece in
            let runs = Array(type.runs.dropFirst(piece * step * 2).prefix(step * 2))
            let late = Array(type.late.dropFirst(piece * step).prefix(step))
            let value: Value = [
                "user": .string(head.user), "type": .string(head.type), "sequence": .integer(head.sequence),
                "samples": .integer(Int64(head.alive)),
                "firstStart": head.firstStart.map { .integer($0) } ?? .null,
                "lastEnd": head.lastEnd.map { .integer($0) } ?? .null,
                "runs": .column(.int32(runs)), "lateDay": .column(.int32(late.map(\.day))),
                "lateCount": .column(.int32(late.map(\.arrivals.count))),
                "lateLongest": .column(.int64(late.map(\.arrivals.longest))),
            ]
            return (value, 60 + runs.count + 4 * late.count)
        }
    }

    /// Apple's own figures of a user's days.
    func summaries(_ request: Value, _ page: ([String: Value], Bool) -> Void) throws {
        guard let user = request["user"].string, let from = request["from"].string.flatMap({ LocalDay($0) }),
            let to = request["to"].string.flatMap({ LocalDay($0) })
        else { throw PullRefusal("a 'summaries' request needs 'user', 'from' and 'to'") }
        var first = from
        for part in 1...Self.partsPerSlice {
            let rows = try store.activitySummaries(user: user, from: first, through: to, limit: Self.summariesPerPage)
            var members: [String: Value] = [
                "summaries": .array(
                    try rows.map { ["date": .string($0.date), "figures": try Value(json: Array($0.payload.utf8))] })
            ]
            let next = rows.count == Self.summariesPerPage ? rows.last.flatMap { LocalDay($0.date) } : nil
            let isLast = next == nil || part == Self.partsPerSlice
            if isLast, let next { members["continue"] = .string(next.adding(days: 1).description) }
            page(members, isLast)
            guard !isLast, let next else { return }
            first = next.adding(days: 1)
        }
    }

    func quarantine(_ request: Value, _ page: ([String: Value], Bool) -> Void) throws {
        guard let user = request["user"].string else { throw PullRefusal("a 'quarantine' request needs 'user'") }
        let reasons = try store.quarantineReasons(user: user)
        page(
            [
                "reasons": .array(
                    reasons.map { ["reason": .string($0.reason), "count": .integer(Int64($0.count))] })
            ], true)
    }

    /// The entries of the quarantine, oldest first; what they hold only with `record`, and only of one.
    func quarantined(_ request: Value, _ page: ([String: Value], Bool) -> Void) throws {
        let selection = MendSelection(request)
        let single = request["record"].bool == true ? selection.numbers?.first : nil
        var after = single.map { $0 - 1 } ?? request["continue"].int ?? 0
        for part in 1...Self.partsPerSlice {
            let found = try store.quarantinedRecords(
                user: request["user"].string, after: after, limit: single == nil ? Self.entriesPerPage : 1)
            let isWhole = single != nil || found.count < Self.entriesPerPage
            let isLast = isWhole || part == Self.partsPerSlice
            after = found.last?.entry.number ?? after
            let rows = found.filter {
                selection.takes(number: $0.entry.number, reason: $0.entry.reason, type: $0.type ?? "")
            }
            var members: [String: Value] = ["entries": .array(rows.map { $0.wireValue(isWhole: single != nil) })]
            if isLast, !isWhole { members["continue"] = .integer(after) }
            page(members, isLast)
            if isLast { return }
        }
    }

    private static let entriesPerPage = 100
}

extension QuarantinedRecord {
    /// - Parameter isWhole: with what the record holds.
    func wireValue(isWhole: Bool) -> Value {
        var members: [String: Value] = [
            "number": .integer(entry.number), "user": .string(entry.user),
            "type": Value(type ?? (entry.sample == nil ? HealthStoreReader.typeOrElement(of: entry.raw) : nil)),
            "kind": .string(entry.sample == nil ? "input" : "sample"), "reason": .string(entry.reason),
            "source": .string(entry.source), "line": .integer(entry.line), "seen": .integer(entry.seen),
            "start": sample.map { .integer($0.start) } ?? .null, "end": sample.map { .integer($0.end) } ?? .null,
        ]
        guard isWhole else { return .object(members) }
        if let sample {
            members["record"] = [
                "id": Value(entry.sample?.description), "value": Value(sample.value), "unit": .string(sample.unit),
                "sourceName": .string(sample.origin.sourceName), "sourceVersion": .string(sample.origin.sourceVersion),
                "device": .string(sample.origin.device), "metadata": .string(sample.metadata),
                "payload": .string(sample.payload),
                "created": sample.created == 0 ? .null : .integer(sample.created * Instant.second),
            ]
        } else {
            members["record"] = ["raw": .string(entry.raw)]
        }
        return .object(members)
    }
}
