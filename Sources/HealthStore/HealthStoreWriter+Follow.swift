import HealthModel
import SQLite

/// What became of a page received from another store.
package struct FollowCounts: Sendable, Equatable {
    /// Samples that are new, have different content now, or were deleted.
    package var changed = 0
    /// Samples that are unchanged, and deletions of samples that this store doesn't have or has deleted already.
    package var known = 0
    /// Samples that this store didn't take, because they are deleted here for good or were kept apart.
    package var refused = 0
    /// How many entries the quarantine has gained; negative if it has shrunk.
    package var quarantined = 0
    /// HealthKit UUIDs of samples that people have entered and whose content is different now.
    package var revised: [SampleID] = []

    package init() {}
}

// Another store's rows are taken as they are: that store has already decided which records are one sample, so nothing
// is compared or merged. Each row keeps its id. If a row arrives again unchanged, nothing is written.
extension HealthStoreWriter {
    /// Takes in a page of another store's changes.
    ///
    /// A sample that is deleted there disappears here, and comes back if it comes back there. A sample that was deleted
    /// here by id or HealthKit UUID stays deleted. A sample that can't be true here, or has names for which there is no
    /// room, is kept apart in quarantine, and its earlier version here no longer counts.
    /// - Parameters:
    ///   - page: a page with all columns, as returned by `HealthStoreReader.anchored`.
    ///   - source: the name used in the quarantine.
    ///   - plausibility: applied to each row that is new, changed or restored.
    /// - Throws: `HealthStoreError`, `SQLiteError`; in either case, roll the transaction back.
    package func follow(
        _ page: SamplePage, source: String, plausibility: PlausibilityRule
    ) throws -> FollowCounts {
        guard page.isEmpty || !page.unit.isEmpty else { throw HealthStoreError.malformedBatch("no units of samples") }
        return try change { user in
            var counts = FollowCounts()
            var (newTypes, newUnits): (Set<String>, Set<String>) = ([], [])
            let strange = RefusedNames(
                types: try types.refused(page.types, besides: &newTypes),
                units: try units.refused(page.units, besides: &newUnits))
            let mayBeKeptApart = try mayKeepApart(from: source, user: user)
            let uuids = Set(page.healthKitUUID.compactMap { $0 })
            for (number, rows) in page.rowsByTypeAndTime() {
                let name = page.types[number]
                let isStrange = strange.types.contains(name)
                let guest = FollowedRows(
                    page: page, uuids: uuids, type: isStrange ? BatchIngest.unknown : try types.id(name),
                    isStrange: isStrange,
                    strangeUnits: strange.units, user: user, source: source, mayBeKeptApart: mayBeKeptApart,
                    rule: plausibility(name))
                // Deletions come first, so that the rows that count are consecutive and fit into blocks.
                for row in rows where page.flags[row].contains(.deleted) { try delete(row, of: guest, &counts) }
                for row in rows where !page.flags[row].contains(.deleted) { try follow(row, of: guest, &counts) }
                try flushPending(user: user)
            }
            return counts
        }
    }

    private func follow(_ number: Int, of guest: FollowedRows, _ counts: inout FollowCounts) throws {
        let found = try counterpart(of: number, in: guest)
        if case .deletedHere = found {
            counts.refused += 1
            return
        }
        if let reason = guest.strangeness(number) {
            switch found {
            case .row(let old) where old.state == .alive: try leaveTombstone(old, as: .absent, user: guest.user)
            case .elsewhere(let old): try giveUp(old, in: guest, &counts)
            default: break
            }
            counts.refused += 1
            counts.quarantined += try keepApart(
                guest.page.ids[number], raw: guest.element(number), reason: reason, source: guest.source,
                user: guest.user)
            return
        }
        switch found {
        case .row(let old): try update(old, to: number, of: guest, &counts)
        case .elsewhere(let old):
            try giveUp(old, in: guest, &counts)
            try insert(number, of: guest, &counts)
            counts.noteRevised(guest.page.flags[number], guest.page.uuidOf(number))
        case .none, .deletedHere: try insert(number, of: guest, &counts)
        }
    }

    private func delete(_ number: Int, of guest: FollowedRows, _ counts: inout FollowCounts) throws {
        let found = try counterpart(of: number, in: guest)
        try forget(guest.page.ids[number], in: guest, &counts)
        var old: StoredRow?
        switch found {
        case .deletedHere: break
        case .row(let row):
            old = row
            if row.id != guest.page.ids[number] { try forget(row.id, in: guest, &counts) }
            // The row becomes absent rather than deleted: the sample may come back there, and a permanent deletion
            // would prevent that here.
            if row.state != .absent { try leaveTombstone(row, as: .absent, user: guest.user) }
        case .elsewhere(let row):
            old = row
            try giveUp(row, in: guest, &counts)
            try insertTombstone(number, of: guest)
        case .none: try insertTombstone(number, of: guest)
        }
        if let old, old.state != .absent { counts.changed += 1 } else { counts.known += 1 }
    }

    /// Another row has the sample now, and its UUID.
    private func giveUp(_ old: StoredRow, in guest: FollowedRows, _ counts: inout FollowCounts) throws {
        try forget(old.id, in: guest, &counts)
        var row = old
        row.state = .absent
        row.uuid = nil
        try rewrite(&row, was: old, user: guest.user)
    }

    private func forget(_ id: SampleID, in guest: FollowedRows, _ counts: inout FollowCounts) throws {
        counts.quarantined -= try forgetQuarantined(id, user: guest.user)
    }

    private enum Counterpart {
        case none
        case row(StoredRow)
        /// The sample came through another channel, with a time that was rounded differently.
        case elsewhere(StoredRow)
        case deletedHere
    }

    /// The row with the sample's id or, if the sample has already come through another channel, the row with its UUID.
    private func counterpart(of number: Int, in guest: FollowedRows) throws -> Counterpart {
        let second = guest.page.startOf(number).flooredSecond
        var row = try row(user: guest.user, type: guest.type, second: second, id: guest.page.ids[number])
        if let uuid = guest.page.uuidOf(number), uuid != row?.uuid {
            let (held, isDeleted) = try holder(of: uuid, type: guest.type, user: guest.user)
            if let old = row, let held, try areSiblings(old, held) {
                row = try trade(old, with: held, user: guest.user)
            } else if isDeleted {
                // The sample had come without its UUID, under which it was deleted here.
                if let old = row, old.uuid == nil, old.state != .deleted {
                    try leaveTombstone(old, as: .deleted, uuid: uuid, user: guest.user)
                }
                return .deletedHere
            } else {
                if let old = row, old.uuid != nil {
                    // It is another sample, which only this store has, or which follows.
                    try moveAside(old, user: guest.user)
                    row = nil
                }
                if row == nil, let held { return held.second == second ? .row(held) : .elsewhere(held) }
            }
        }
        guard let row else { return .none }
        return row.state == .deleted ? .deletedHere : .row(row)
    }

    /// The row of the given type that has a UUID, and whether the sample with that UUID was permanently deleted.
    private func holder(of uuid: SampleID, type: Int, user: Int) throws -> (row: StoredRow?, isDeleted: Bool) {
        statements.findUUID.bind(1, user)
        statements.findUUID.bind(2, uuid)
        let found = try statements.findUUID.firstRow { ($0.isNull(0) ? nil : $0.int64(0), $0.int64(1) != 0) }
        guard let (sequence, isDeleted) = found else { return (nil, false) }
        guard let sequence, let row = try row(at: SequenceNumber(sequence), user: user), row.type == type,
            row.uuid == uuid
        else { return (nil, isDeleted) }
        return (row, isDeleted || row.state == .deleted)
    }

    private func insert(_ number: Int, of guest: FollowedRows, _ counts: inout FollowCounts) throws {
        let reason = guest.reason(number)
        let row = try insert(number, of: guest, as: reason == nil ? .alive : .quarantined)
        if guest.mayBeKeptApart { try forget(row.id, in: guest, &counts) }
        guard let reason else {
            counts.changed += 1
            return
        }
        counts.refused += 1
        counts.quarantined += try note(
            row.id, reason: reason, line: 0, source: guest.source, user: guest.user)
    }

    /// Leaves no gap in the numbers of a key's rows, because a later import looks for them one after the other.
    private func insertTombstone(_ number: Int, of guest: FollowedRows) throws {
        guard guest.strangeness(number) == nil, guest.hasPossibleTimes(number) else { return }
        _ = try insert(number, of: guest, as: .absent)
    }

    private func insert(_ number: Int, of guest: FollowedRows, as state: SampleState) throws -> StoredRow {
        var row = StoredRow()
        row.sequence = nextSequence()
        row.born = row.sequence
        row.type = guest.type
        row.state = state
        row.second = guest.page.startOf(number).flooredSecond
        try fill(&row, from: number, of: guest)
        let (metadata, payload) = guest.texts(number)
        row.hasPayload = !payload.isEmpty
        try metadata.withUnsafeBytes { metadata in
            try payload.withUnsafeBytes { payload in
                try add(&row, metadata: metadata, payload: payload, user: guest.user)
            }
        }
        heads.enter(row)
        if !row.isSealed { heads.note(row) }
        if let uuid = row.uuid { try register(uuid, user: guest.user, sequence: row.sequence, deleted: false) }
        return row
    }

    private func update(
        _ old: StoredRow, to number: Int, of guest: FollowedRows, _ counts: inout FollowCounts
    ) throws {
        var row = old
        try fill(&row, from: number, of: guest)
        let (metadata, payload) = guest.texts(number)
        // Texts only grow: rows that are one sample are merged, and never split again.
        let changesMetadata = try !metadata.isEmpty && metadata != text(.metadata, of: old, user: guest.user)
        let changesPayload = try !payload.isEmpty && payload != text(.payload, of: old, user: guest.user)
        let isAsItWas = !row.isDifferent(from: old) && row.id == old.id && !changesMetadata && !changesPayload
        if isAsItWas, old.state == .alive {
            counts.known += 1
            return
        }
        // A sample in quarantine stays there as long as it is unchanged: `retry` checks it again.
        if isAsItWas, old.state == .quarantined {
            counts.refused += 1
            return
        }
        let reason = guest.reason(number)
        row.state = reason == nil ? .alive : old.state == .quarantined ? .quarantined : .absent
        if !isAsItWas || row.state != old.state {
            if let uuid = row.uuid, uuid != old.uuid,
                let other = try holder(of: uuid, type: row.type, user: guest.user).row, other.sequence != old.sequence,
                other.state != .deleted
            {
                try giveUp(other, in: guest, &counts)
            }
            try rewrite(&row, was: old, user: guest.user)
            if changesMetadata { try set(.metadata, of: row, metadata) }
            if changesPayload { try set(.payload, of: row, payload) }
        }
        if !isAsItWas { counts.noteRevised(guest.page.flags[number], row.uuid) }
        if old.state != .alive || guest.mayBeKeptApart, !isAsItWas || reason == nil {
            try forget(old.id, in: guest, &counts)
            if row.id != old.id { try forget(row.id, in: guest, &counts) }
        }
        guard let reason else {
            counts.changed += 1
            return
        }
        counts.refused += 1
        counts.quarantined += try note(row.id, reason: reason, line: 0, source: guest.source, user: guest.user)
    }

    /// Copies everything that a page has into a row, except its texts.
    private func fill(_ row: inout StoredRow, from number: Int, of guest: FollowedRows) throws {
        let page = guest.page
        let unit = try units.id(page.units[Int(page.unit[number])])
        if let uuid = guest.page.uuidOf(number) {
            row.uuid = uuid
        } else if let uuid = row.uuid {
            // An app may have given this store the UUID, which the other store doesn't know; a deletion will use it.
            // But if the UUID is in another row of the page, or the content differs, then the sample has moved, because
            // rows with the same key can trade places.
            let isItsOwn =
                unit == row.unit && StoredValue.agrees(page.value[number], row.value) && !guest.uuids.contains(uuid)
            row.uuid = isItsOwn ? uuid : nil
        }
        row.id = page.ids[number]
        row.startRemainder = page.start[number] &- row.second &* Instant.microsecondsPerSecond
        row.duration = page.end[number] &- page.start[number]
        row.value = page.value[number]
        row.unit = unit
        row.origin = try origins.id(page.originOf(number))
        row.flags = page.flags[number].intersection([.userEntered, .manual, .part]).rawValue
        row.created = page.created.isEmpty ? 0 : page.created[number]
    }
}

extension FollowCounts {
    fileprivate mutating func noteRevised(_ flags: SampleFlags, _ uuid: SampleID?) {
        if flags.contains(.manual), let uuid { revised.append(uuid) }
    }
}
