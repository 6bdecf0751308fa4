import HealthModel
import SQLite

// Another store's rows are taken as they are: that store has already decided which records are one sample, so nothing
// is compared or merged. Each row keeps its id. If a row arrives again unchanged, nothing is written.
extension FollowedRows {
    mutating func take(_ number: Int) throws {
        let found = try counterpart(of: number)
        if case .deletedHere = found {
            counts.refused += 1
            return
        }
        if let reason = strangeness(number) {
            switch found {
            case .row(let old) where old.state == .alive: try writer.leaveTombstone(old, as: .absent, user: user)
            case .elsewhere(let old): try giveUp(old)
            default: break
            }
            counts.refused += 1
            counts.quarantined += try writer.quarantined.add(
                followed: page.ids[number], raw: element(number), reason: reason, source: source, user: user)
            return
        }
        switch found {
        case .row(let old): try update(old, to: number)
        case .elsewhere(let old):
            try giveUp(old)
            try insert(number)
            counts.noteRevised(page.flags[number], page.uuidOf(number))
        case .none, .deletedHere: try insert(number)
        }
    }

    mutating func delete(_ number: Int) throws {
        let found = try counterpart(of: number)
        try forget(page.ids[number])
        var old: StoredRow?
        switch found {
        case .deletedHere: break
        case .row(let row):
            old = row
            if row.id != page.ids[number] { try forget(row.id) }
            // The row becomes absent rather than deleted: the sample may come back there, and a permanent deletion
            // would prevent that here.
            if row.state != .absent { try writer.leaveTombstone(row, as: .absent, user: user) }
        case .elsewhere(let row):
            old = row
            try giveUp(row)
            try insertTombstone(number)
        case .none: try insertTombstone(number)
        }
        if let old, old.state != .absent { counts.changed += 1 } else { counts.known += 1 }
    }

    /// Another row has the sample now, and its UUID.
    private mutating func giveUp(_ old: StoredRow) throws {
        try forget(old.id)
        try writer.rewrite(old, user: user) { ($0.state, $0.uuid) = (.absent, nil) }
    }

    private mutating func forget(_ id: SampleID) throws {
        counts.quarantined -= try writer.quarantined.forget(id, user: user)
    }

    /// A row is in quarantine now, or still is.
    private mutating func setAside(_ id: SampleID, _ reason: String) throws {
        counts.refused += 1
        counts.quarantined += try writer.quarantined.add(id, reason: reason, line: 0, source: source, user: user)
    }

    private enum Counterpart {
        case none
        case row(StoredRow)
        /// The sample came through another channel, with a time that was rounded differently.
        case elsewhere(StoredRow)
        case deletedHere
    }

    /// The row with the sample's id or, if the sample has already come through another channel, the row with its UUID.
    private func counterpart(of number: Int) throws -> Counterpart {
        let second = page.startOf(number).flooredSecond
        var row = try writer.rows.row(user: user, type: type, second: second, id: page.ids[number])
        if let uuid = page.uuidOf(number), uuid != row?.uuid {
            let (held, isDeleted) = try holder(of: uuid)
            if let old = row, let held, try writer.areSiblings(old, held) {
                row = try writer.trade(old, with: held, user: user)
            } else if isDeleted {
                // The sample had come without its UUID, under which it was deleted here.
                if let old = row, old.uuid == nil, old.state != .deleted {
                    try writer.leaveTombstone(old, as: .deleted, uuid: uuid, user: user)
                }
                return .deletedHere
            } else {
                if let old = row, old.uuid != nil {
                    // It is another sample, which only this store has, or which follows.
                    try writer.moveAside(old, user: user)
                    row = nil
                }
                if row == nil, let held { return held.second == second ? .row(held) : .elsewhere(held) }
            }
        }
        guard let row else { return .none }
        return row.state == .deleted ? .deletedHere : .row(row)
    }

    /// The row of the given type that has a UUID, and whether the sample with that UUID was permanently deleted.
    private func holder(of uuid: SampleID) throws -> (row: StoredRow?, isDeleted: Bool) {
        guard let entry = try writer.uuids.entry(uuid, user: user) else { return (nil, false) }
        guard let sequence = entry.sequence, let row = try writer.rows.row(at: sequence, user: user), row.type == type,
            row.uuid == uuid
        else { return (nil, entry.isDeleted) }
        return (row, entry.isDeleted || row.state == .deleted)
    }

    private mutating func insert(_ number: Int) throws {
        let reason = reason(number)
        let row = try insert(number, as: reason == nil ? .alive : .quarantined)
        if mayBeKeptApart { try forget(row.id) }
        guard let reason else {
            counts.changed += 1
            return
        }
        try setAside(row.id, reason)
    }

    /// Leaves no gap in the numbers of a key's rows, because a later import looks for them one after the other.
    private func insertTombstone(_ number: Int) throws {
        guard strangeness(number) == nil, hasPossibleTimes(number) else { return }
        _ = try insert(number, as: .absent)
    }

    private func insert(_ number: Int, as state: SampleState) throws -> StoredRow {
        var row = StoredRow()
        row.type = type
        row.state = state
        row.second = page.startOf(number).flooredSecond
        try fill(&row, from: number)
        let (metadata, payload) = texts(number)
        row.hasPayload = !payload.isEmpty
        try metadata.withUnsafeBytes { metadata in
            try payload.withUnsafeBytes { payload in
                try writer.add(&row, metadata: metadata, payload: payload, user: user)
            }
        }
        return row
    }

    private mutating func update(_ old: StoredRow, to number: Int) throws {
        var row = old
        try fill(&row, from: number)
        let (metadata, payload) = texts(number)
        // Texts only grow: rows that are one sample are merged, and never split again.
        let changesMetadata = try !metadata.isEmpty && metadata != writer.rows.text(.metadata, of: old, user: user)
        let changesPayload = try !payload.isEmpty && payload != writer.rows.text(.payload, of: old, user: user)
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
        let reason = reason(number)
        row.state = reason == nil ? .alive : old.state == .quarantined ? .quarantined : .absent
        if !isAsItWas || row.state != old.state {
            if let uuid = row.uuid, uuid != old.uuid,
                let other = try holder(of: uuid).row, other.sequence != old.sequence,
                other.state != .deleted
            {
                try giveUp(other)
            }
            try writer.rewrite(&row, was: old, user: user)
            if changesMetadata { try writer.rows.set(.metadata, of: row, metadata) }
            if changesPayload { try writer.rows.set(.payload, of: row, payload) }
        }
        if !isAsItWas { counts.noteRevised(page.flags[number], row.uuid) }
        if old.state != .alive || mayBeKeptApart, !isAsItWas || reason == nil {
            try forget(old.id)
            if row.id != old.id { try forget(row.id) }
        }
        guard let reason else {
            counts.changed += 1
            return
        }
        try setAside(row.id, reason)
    }

    /// Copies everything that a page has into a row, except its texts.
    private func fill(_ row: inout StoredRow, from number: Int) throws {
        let page = page
        let unit = try writer.units.id(page.units[Int(page.unit[number])])
        if let uuid = page.uuidOf(number) {
            row.uuid = uuid
        } else if let uuid = row.uuid {
            // An app may have given this store the UUID, which the other store doesn't know; a deletion will use it.
            // But if the UUID is in another row of the page, or the content differs, then the sample has moved, because
            // rows with the same key can trade places.
            let isItsOwn =
                unit == row.unit && StoredValue.agrees(page.value[number], row.value) && !uuids.contains(uuid)
            row.uuid = isItsOwn ? uuid : nil
        }
        row.id = page.ids[number]
        row.startRemainder = page.start[number] &- row.second &* Instant.microsecondsPerSecond
        row.duration = page.end[number] &- page.start[number]
        row.value = page.value[number]
        row.unit = unit
        row.origin = try writer.origins.id(page.originOf(number))
        row.flags = page.flags[number].intersection([.userEntered, .manual, .part]).rawValue
        row.created = page.created.isEmpty ? 0 : page.created[number]
    }
}

extension FollowCounts {
    fileprivate mutating func noteRevised(_ flags: SampleFlags, _ uuid: SampleID?) {
        if flags.contains(.manual), let uuid { revised.append(uuid) }
    }
}
