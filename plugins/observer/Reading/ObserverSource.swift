import BackgroundDelivery
import Changelog
import HealthModel
import HealthStore
import Protocol
import SQLite
import StageKit

/// What the observer answers: anchored queries (`samples`, `spans`), ranges as of a sequence (`slice`), zones and a timeline's
/// origins, imports, types, completeness, Apple's summaries, what is quarantined.
package final class ObserverSource: PullSource {
    let database: Database
    let store: HealthStoreReader
    let completeness: CompletenessReader
    /// What one answer about completeness may cost.
    let budget: CompletenessReader.Budget
    private let access: ReadAccess

    /// Parts of one slice's answer: well within every socket's high-water mark. A longer slice goes on in another request.
    static let partsPerSlice = 24
    private static let pagesPerRequest = ChangelogSource.pagesPerRequest
    private static let limits = PullLimits(rows: 4096, bytes: 56 * 1024, scanned: 50_000)

    /// - Parameter isShared: whether others wait for their answers meanwhile, so that long work must be asked for in steps.
    package init(database: Database, isShared: Bool = true) throws {
        self.database = database
        store = try HealthStoreReader(database: database)
        completeness = try CompletenessReader(store)
        budget = isShared ? .step : .unlimited
        access = try ReadAccess(database)
    }

    /// Makes what this reads, where it is absent; an earlier release's file is brought up to date.
    package static func createTables(in database: Database) throws {
        try HealthStoreSchema.create(in: database)
        try ImportTables.createTables(in: database)
        try ZoneTables.create(in: database)
        try CharacteristicsTable.createTables(in: database)
        try DeliveryTable.createTables(in: database)
    }

    package func answer(_ request: Value, head: StoreHead, page: ([String: Value], Bool) -> Void) throws {
        try access.refresh(for: request)
        switch request["query"].string {
        case "samples":
            let predicate = try SamplePredicate(request["predicate"])
            try windowed(request, head, page) { filter, window in
                var found = try store.anchored(filter, window, limits: Self.limits)
                if let rows = try predicate?.filter(found.samples) {
                    found.user = rows.map { found.user[$0] }
                    found.samples = found.samples.select(rows)
                }
                return (
                    found.covered, found.isComplete,
                    [
                        "samples": found.samples.wireValue, "users": .array(found.users.map { .string($0) }),
                        "user": .column(.int32(found.user)),
                    ]
                )
            }
        case "spans":
            try windowed(request, head, page) { filter, window in
                let found = try store.spans(
                    filter, window, limits: PullLimits(rows: 2000, bytes: .max, scanned: 100_000))
                return (found.covered, found.isComplete, try Self.columns(found, database, window))
            }
        case "zones":
            guard let after = request["after"].read(AnchorVector.self),
                let until = request["until"].read(AnchorVector.self)
            else {
                throw PullRefusal("a 'zones' request needs 'after' and 'until'")
            }
            let through = min(until.base, head.sequence)
            page(
                [
                    "zones": try ZoneTables.timelines(
                        in: database, after: after.base, through: through, users: []),
                    "from": .integer(after.base), "through": .integer(max(through, after.base)),
                ], true)
        case "slice": try slice(request, page)
        case "timeline":
            guard let user = request["user"].string else { throw PullRefusal("a 'timeline' request needs 'user'") }
            page(
                [
                    "user": .string(user), "timeline": try ZoneTables.parts(of: user, in: database),
                    "users": .array(try ZoneTables.users(in: database).map { .string($0) }),
                ], true)
        case "sample": try sample(request, head, page)
        case "changes", "day", "moments":
            try ChangelogSource(database: database).answer(request, head: head, page: page)
        case "delivery":
            page(
                [
                    "device": try DeliveryTable.table.value("device", in: database) ?? Value(DeviceState()),
                    "registrations": try DeliveryTable.table.value("registrations", in: database) ?? [:],
                ], true)
        case "imports": page(["imports": try ImportTables.answer(id: request["import"].string, in: database)], true)
        case "types": page(["types": try types(), "quarantined": .integer(Int64(try store.quarantineCount()))], true)
        case "completeness": try completeness(request, page)
        case "summaries": try summaries(request, page)
        case "quarantine": try quarantine(request, page)
        case "quarantined": try quarantined(request, page)
        case let other:
            throw PullRefusal(
                "unknown query '\(other ?? "")'; the observer answers samples, spans, slice, zones, timeline, imports, types, "
                    + "changes, day, moments, sample, delivery, completeness, summaries, quarantine, quarantined")
        }
    }

    /// Pages of a window, oldest change first.
    private func windowed(
        _ request: Value, _ head: StoreHead, _ page: ([String: Value], Bool) -> Void,
        _ read: (TypeFilter, PullWindow) throws -> (covered: Int64, isComplete: Bool, members: [String: Value])
    ) throws {
        guard var after = request["after"].read(AnchorVector.self),
            let until = request["until"].read(AnchorVector.self),
            let types = Self.types(request["types"])
        else { throw PullRefusal("the request needs 'after', 'until' and 'types'") }
        // Everything from the beginning, or what was left behind: nothing that a person is to be told of.
        let isBulk = request["bulk"].bool == true || (request["store"].isNull && after.minimum < head.first)
        let firstReads = try FirstReads(database)
        for index in 1...Self.pagesPerRequest {
            let found = try read(TypeFilter(types: access.allowed(types)), Self.window(after, until, head))
            let from = after.minimum
            // A walk that is complete has covered the whole window, whatever its last row.
            let through = found.isComplete ? max(until.maximum, after.maximum) : found.covered
            var members = found.members
            members["from"] = .integer(from)
            let reached = min(through, max(head.sequence, after.maximum))
            if isBulk || firstReads.touches(after: from, through: reached) { members["bulk"] = true }
            members["through"] = .integer(reached)
            let last = found.isComplete || index == Self.pagesPerRequest
            page(members, last)
            if last { return }
            after = after.advanced(to: through, within: until)
        }
    }

    private static func window(_ after: AnchorVector, _ until: AnchorVector, _ head: StoreHead) -> PullWindow {
        func window(_ from: Int64, _ to: Int64) -> SequenceWindow {
            SequenceWindow(after: from, through: max(from, min(to, head.sequence)))
        }
        let names = Set(after.exceptions.keys).union(until.exceptions.keys)
        return PullWindow(
            window(after.base, until.base),
            exceptions: Dictionary(uniqueKeysWithValues: names.map { ($0, window(after[$0], until[$0])) }))
    }

    private static func types(_ value: Value) -> TypeFilter.Types? {
        if let names = value["include"].array { return .only(Set(names.compactMap(\.string))) }
        if let names = value["exclude"].array { return .allExcept(Set(names.compactMap(\.string))) }
        return nil
    }

    private static func columns(
        _ page: SpanPage, _ database: Database, _ window: PullWindow
    ) throws -> [String: Value] {
        let (spans, covered) = (page.spans, page.covered)
        let users = Array(Set(spans.map(\.user))).sorted()
        let index = Dictionary(uniqueKeysWithValues: users.enumerated().map { ($1, Int32($0)) })
        return [
            "users": .array(users.map { .string($0) }), "user": .column(.int32(spans.map { index[$0.user] ?? 0 })),
            "start": .column(.int64(spans.map(\.start))), "end": .column(.int64(spans.map(\.end))),
            "zones": try ZoneTables.timelines(
                in: database, after: window.base.after, through: covered, users: Set(users)),
            "characteristics": try CharacteristicsTable.read(
                database, after: window.base.after, through: covered, users: Set(users)),
            "added": .integer(Int64(page.added)), "deleted": .integer(Int64(page.deleted)),
        ]
    }

    private func slice(_ request: Value, _ page: ([String: Value], Bool) -> Void) throws {
        guard let user = request["user"].string, let types = Self.types(request["types"]),
            let from = request["from"].int,
            let to = request["to"].int, from <= to, let asOf = request["asOf"].read(AnchorVector.self)
        else { throw PullRefusal("a 'slice' request needs 'user', 'types', 'from', 'to' and 'asOf'") }
        let predicate = try SamplePredicate(request["predicate"])
        var query = SliceQuery(
            user: user, types: access.allowed(types), ranges: [from..<to], asOf: asOf.base,
            detailed: predicate?.needsPayload == true
                ? types
                : Self.types(request["detailed"])
                    ?? .only(Set((request["detailed"].array ?? []).compactMap(\.string))))
        query.asOfByType = asOf.exceptions
        query.payloads = Set((request["payloads"].array ?? []).compactMap(\.string))
        query.during = (request["during"].object ?? [:]).compactMapValues(\.string)
        var position: SlicePosition?
        if let start = request["continue"]["start"].int, let text = request["continue"]["id"].string,
            let id = SampleID(text)
        {
            position = SlicePosition(start: start, id: id)
        }
        for part in 1...Self.partsPerSlice {
            let found = try store.slice(query, after: position, limits: Self.limits)
            position = found.next
            let samples = try predicate.map { found.samples.select(try $0.filter(found.samples)) } ?? found.samples
            var members: [String: Value] = ["samples": samples.wireValue]
            let last = position == nil || part == Self.partsPerSlice
            if last, let position {
                members["continue"] = ["start": .integer(position.start), "id": .string(position.id.description)]
            }
            page(members, last)
            if last { return }
        }
    }

    private func types() throws -> Value {
        .array(
            try store.heads().map { head in
                [
                    "user": .string(head.user), "type": .string(head.type), "sequence": .integer(head.sequence),
                    "alive": .integer(Int64(head.alive)), "deleted": .integer(Int64(head.deleted)),
                    "quarantined": .integer(Int64(head.quarantined)),
                    "firstStart": head.firstStart.map { .integer($0) } ?? .null,
                    "lastStart": head.lastStart.map { .integer($0) } ?? .null,
                    "lastEnd": head.lastEnd.map { .integer($0) } ?? .null,
                ]
            })
    }
}
