import HealthModel
import SQLite

/// What became of a page that was followed.
package struct FollowCounts: Sendable, Equatable {
    /// Samples that are new, differ now, or were deleted.
    package var changed = 0
    /// Samples that are as they were, and deletions of samples that aren't here.
    package var known = 0
    /// Samples that this store didn't take: deleted here for good, or outside its limits.
    package var refused = 0
    /// Those of them that came into the quarantine now.
    package var newlyQuarantined = 0

    package init() {}
}

// Another store's rows are taken as they are there: that store has already decided which records are one sample, so
// nothing is compared or merged. Each keeps its id; a repeat finds the row as it should be and writes nothing.
extension HealthStoreWriter {
    /// Takes in a page of another store's changes.
    ///
    /// A sample that is deleted there disappears here, and comes back if it does there. A sample that was deleted here
    /// by id or HealthKit UUID stays deleted.
    /// - Parameters:
    ///   - page: with all columns, as `HealthStoreReader.anchored` returns it.
    ///   - source: as the quarantine names it.
    ///   - plausibility: applied to each row that isn't deleted.
    /// - Throws: `HealthStoreError`, `SQLiteError`; roll the transaction back then.
    package func follow(
        _ page: SamplePage, source: String, plausibility: PlausibilityRule
    ) throws -> FollowCounts {
        guard page.isEmpty || !page.unit.isEmpty else { throw HealthStoreError.malformedBatch("no units of samples") }
        return try change { user in
            var counts = FollowCounts()
            var (newTypes, newUnits): (Set<String>, Set<String>) = ([], [])
            let (strangeTypes, strangeUnits) = (
                try types.refused(page.types, besides: &newTypes), try units.refused(page.units, besides: &newUnits)
            )
            for (number, rows) in page.rowsByTypeAndTime() {
                let name = page.types[number]
                guard !strangeTypes.contains(name) else {
                    counts.refused += rows.count
                    continue
                }
                let guest = FollowedRows(
                    page: page, type: try types.id(name), user: user, source: source, rule: plausibility(name))
                for row in rows {
                    guard !strangeUnits.contains(page.units[Int(page.unit[row])]) else {
                        counts.refused += 1
                        continue
                    }
                    try follow(row, of: guest, &counts)
                }
                try flushPending(user: user)
            }
            return counts
        }
    }

    private func follow(_ number: Int, of guest: FollowedRows, _ counts: inout FollowCounts) throws {
        let (page, user) = (guest.page, guest.user)
        let found = try counterpart(of: number, in: guest)
        if page.flags[number].contains(.deleted) {
            guard case .row(let old) = found, old.state == .alive else {
                counts.known += 1
                return
            }
            // Absent rather than deleted: there it may come back, which a deletion for good would prevent here.
            try leaveTombstone(old, as: .absent, user: user)
            counts.changed += 1
            return
        }
        switch found {
        case .deletedHere: counts.refused += 1
        case .none: try insert(number, of: guest, &counts)
        case .row(let old): try update(old, to: number, of: guest, &counts)
        }
    }

    private enum Counterpart {
        case none
        case row(StoredRow)
        case deletedHere
    }

    /// The row with the sample's id; else, if the sample had already come another way, the row with its UUID.
    private func counterpart(of number: Int, in guest: FollowedRows) throws -> Counterpart {
        let (page, user) = (guest.page, guest.user)
        let second = page.startOf(number).flooredSecond
        if let row = try row(user: user, type: guest.type, second: second, id: page.ids[number]) {
            return row.state == .deleted ? .deletedHere : .row(row)
        }
        guard let uuid = guest.uuid(number) else { return .none }
        statements.findUUID.bind(1, user)
        statements.findUUID.bind(2, uuid)
        let found = try statements.findUUID.firstRow { ($0.isNull(0) ? nil : $0.int64(0), $0.int64(1) != 0) }
        guard let (sequence, isDeleted) = found else { return .none }
        if isDeleted { return .deletedHere }
        guard let sequence, let row = try row(at: SequenceNumber(sequence), user: user), row.type == guest.type,
            row.second == second, row.uuid == uuid
        else { return .none }
        return row.state == .deleted ? .deletedHere : .row(row)
    }

    private func insert(_ number: Int, of guest: FollowedRows, _ counts: inout FollowCounts) throws {
        var row = StoredRow()
        row.sequence = nextSequence()
        row.born = row.sequence
        row.type = guest.type
        row.second = guest.page.startOf(number).flooredSecond
        try fill(&row, from: number, of: guest)
        let (metadata, payload) = guest.texts(number)
        row.hasPayload = !payload.isEmpty
        let reason = guest.reason(number)
        if reason != nil { row.state = .quarantined }
        try metadata.withUnsafeBytes { metadata in
            try payload.withUnsafeBytes { payload in
                try add(&row, metadata: metadata, payload: payload, user: guest.user)
            }
        }
        heads.enter(row)
        if !row.isSealed { heads.note(row) }
        if let uuid = row.uuid { try register(uuid, user: guest.user, sequence: row.sequence, deleted: false) }
        guard let reason else {
            counts.changed += 1
            return
        }
        try note(row.id, reason: reason, line: 0, source: guest.source, user: guest.user)
        counts.refused += 1
        counts.newlyQuarantined += 1
    }

    private func update(
        _ old: StoredRow, to number: Int, of guest: FollowedRows, _ counts: inout FollowCounts
    ) throws {
        // What a person found fit for the quarantine here stays there.
        guard old.state != .quarantined, guest.reason(number) == nil else {
            counts.refused += 1
            return
        }
        var row = old
        row.state = .alive
        try fill(&row, from: number, of: guest)
        let (metadata, payload) = guest.texts(number)
        // Texts only grow: rows that are one sample are joined, and never come apart.
        let changesMetadata = try !metadata.isEmpty && metadata != text(.metadata, of: old, user: guest.user)
        let changesPayload = try !payload.isEmpty && payload != text(.payload, of: old, user: guest.user)
        guard row.isDifferent(from: old) || row.id != old.id || changesMetadata || changesPayload else {
            counts.known += 1
            return
        }
        try rewrite(&row, was: old, user: guest.user)
        if changesMetadata { try set(.metadata, of: row, metadata) }
        if changesPayload { try set(.payload, of: row, payload) }
        counts.changed += 1
    }

    /// Everything in a row that a page has, except its texts.
    private func fill(_ row: inout StoredRow, from number: Int, of guest: FollowedRows) throws {
        let page = guest.page
        row.id = page.ids[number]
        row.startRemainder = page.start[number] &- row.second &* Instant.microsecondsPerSecond
        row.duration = page.end[number] &- page.start[number]
        row.value = page.value[number]
        row.unit = try units.id(page.units[Int(page.unit[number])])
        row.origin = try origins.id(page.originOf(number))
        row.flags = page.flags[number].intersection([.userEntered, .manual]).rawValue
        row.created = page.created.isEmpty ? 0 : page.created[number]
        // Another row of the page may have the one that was here: rows with the same key can change places.
        row.uuid = guest.uuid(number)
    }
}

/// Rows of one type on their way from another store.
private struct FollowedRows {
    let page: SamplePage
    /// The number of the type here.
    let type: Int
    let user: Int
    let source: String
    let rule: (Double, Instant, Instant) -> String?

    func uuid(_ row: Int) -> SampleID? { page.healthKitUUID.isEmpty ? nil : page.healthKitUUID[row] }

    /// Why a row can't be true, without its value.
    func reason(_ row: Int) -> String? {
        SampleGuard.reason(start: page.start[row], end: page.end[row], value: page.value[row], rule: rule)
    }

    func texts(_ row: Int) -> (metadata: [UInt8], payload: [UInt8]) {
        (text(page.metadata, row), text(page.payload, row))
    }

    private func text(_ column: TextColumn, _ row: Int) -> [UInt8] {
        column.count == 0 ? [] : [UInt8](column.bytes[column.range(row)])
    }
}

extension SamplePage {
    /// Row numbers by type (an index into `types`), each in the order of start, so that they fit into blocks. An id
    /// that occurs twice counts once.
    fileprivate func rowsByTypeAndTime() -> [(type: Int, rows: [Int])] {
        var groups: [Int: [Int]] = [:]
        var seen: Set<SampleID> = []
        for row in 0..<count where seen.insert(ids[row]).inserted { groups[Int(type[row]), default: []].append(row) }
        return groups.keys.sorted().map { type in
            (type, (groups[type] ?? []).sorted { (start[$0], ids[$0]) < (start[$1], ids[$1]) })
        }
    }
}
