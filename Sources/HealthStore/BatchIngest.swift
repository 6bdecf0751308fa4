import HealthModel
import SQLite

/// One batch being stored, with its dictionaries translated to the store's numbers.
struct BatchIngest {
    let batch: RecordBatch
    let metadata: UnsafeRawBufferPointer
    let payload: UnsafeRawBufferPointer
    let writer: HealthStoreWriter
    let session: ImportSession
    let user: Int
    let units: [Int]
    let origins: [Int]
    /// For each origin, whether it lacks a source name.
    let isUnnamed: [Bool]
    /// Whether rows are only claimed, and nothing is written.
    let isTrial: Bool
    /// What is known about the names of the user's sources.
    let names: SourceNames.Known
    /// The items that were deleted before they arrived, under a UUID that only one of their rows has.
    let deletedItems: Set<Int64>

    /// Stands for a name that isn't in the store; no row has this number.
    static let unknown = -1

    init(
        _ batch: RecordBatch, metadata: UnsafeRawBufferPointer, payload: UnsafeRawBufferPointer,
        writer: HealthStoreWriter, session: ImportSession, user: Int, isTrial: Bool, refusedUnits: Set<String>
    ) throws {
        (self.batch, self.metadata, self.payload, self.writer) = (batch, metadata, payload, writer)
        (self.session, self.user, self.isTrial) = (session, user, isTrial)
        names = try writer.names.known(of: user)
        deletedItems = try Self.deletedItems(of: batch, writer, user: user)
        units = try batch.units.map {
            isTrial || refusedUnits.contains($0)
                ? try writer.units.existing($0) ?? Self.unknown : try writer.units.id($0)
        }
        isUnnamed = batch.origins.map { Origin.unnamedSources.contains($0.sourceName) }
        // The device that made a record doesn't affect which row it belongs to.
        origins = try batch.origins.map { isTrial ? Self.unknown : try writer.origins.id($0) }
    }

    private static func deletedItems(
        of batch: RecordBatch, _ writer: HealthStoreWriter, user: Int
    ) throws -> Set<Int64> {
        guard !batch.healthKitUUID.isEmpty, !batch.line.isEmpty else { return [] }
        var items: Set<Int64> = []
        for row in 0..<batch.count where batch.flags[row].isSuperset(of: [.coarse, .correlationChild]) {
            guard let uuid = batch.healthKitUUID[row] else { continue }
            if try writer.uuids.entry(uuid, user: user)?.isDeleted == true { items.insert(batch.line[row]) }
        }
        return items
    }

    /// Stores the rows of one type, sorted by start.
    func run(
        type name: String, rows: [Int], plausibility: @escaping (Double, Instant, Instant) -> String?
    ) throws -> IngestCounts.Tally {
        let type = isTrial ? try writer.types.existing(name) ?? Self.unknown : try writer.types.id(name)
        try load(type: type, rows: rows)
        writer.window.endLoading()
        if let first = rows.first { session.cover(name, from: batch.startOf(first).flooredSecond) }
        var prefixes = [SampleKeyPrefix?](repeating: nil, count: origins.count)
        let seesWorkouts = name == HealthType.workoutIdentifier && session.moment != nil && !isTrial
        session.keepsLastClaimed = seesWorkouts || session.isRewriting
        let claim = RecordClaim(
            writer: writer, session: session, user: user, type: type,
            isStatistics: HealthType.base(ofStatistics: name) != nil, isTrial: isTrial,
            keepsTried: isTrial && HealthType.mayBePart(name),
            replaced: name == HealthType.workoutIdentifier && !session.isPushed
                ? try writer.sightings.replaced(user: user) : [],
            unnamedOrigins: try writer.origins.unnamed(),
            workouts: name == HealthType.workoutIdentifier ? type : Self.unknown - 1, origins: batch.origins,
            names: names, hasRenamed: !names.keys.isEmpty || !session.names.keys.isEmpty,
            oldTimes: try oldTimes(name, type), typeName: name, coarseness: HealthType.named(name).coarseness,
            plausibility: plausibility)
        var tally = IngestCounts.Tally()
        func take(_ row: Int, _ asking: RecordClaim.Asking) throws {
            let origin = Int(batch.origin[row])
            let prefix: SampleKeyPrefix
            if let known = prefixes[origin] {
                prefix = known
            } else {
                let source = batch.origins[origin].sourceName
                prefix = SampleKeyPrefix(
                    user: writer.user, type: name, sourceName: session.names.keys[source] ?? names.key(source))
                prefixes[origin] = prefix
            }
            let record = record(row, prefix: prefix)
            var single = IngestCounts.Tally()
            guard let claimed = try claim.take(record, asking, &single) else { return }
            session.claimed[row] = claimed
            if session.reportsOutcomes {
                session.outcomes[row] = single.outcome
                if single.quarantined > 0 {
                    session.reasons[row] = single.conflicts > 0 ? RecordConflict.reason : claim.implausible(record)
                }
            }
            tally += single
            if session.keepsLastClaimed, let claimed = session.lastClaimed {
                if session.isRewriting || claimed.state == .alive || claimed.state == .absent {
                    session.claimedRows[row] = claimed
                }
                session.lastClaimed = nil
            }
        }
        for row in rows { try take(row, .waiting(row: row)) }
        let waiting = session.names.waiting
        if !waiting.isEmpty {
            session.names.waiting = []
            let pairs = try claim.renamings(waiting)
            learn(pairs)
            for entry in waiting { try take(entry.row, .decided(pairs)) }
        }
        session.keepsLastClaimed = false
        try writer.rows.flush(user: user)
        return tally
    }

    /// New samples of a renamed source are identified by the name that was seen first.
    private func learn(_ pairs: Set<SessionNames.Pair>) {
        guard session.isFile else { return }
        for pair in pairs.sorted(by: { ($0.stored, $0.given) < ($1.stored, $1.given) }) {
            let key = session.names.keys[pair.stored] ?? names.key(pair.stored)
            if key != pair.given, names.first(key) <= names.first(pair.given) { session.names.keys[pair.given] = key }
        }
    }

    /// The time that a type's samples covered when the session began.
    private func oldTimes(_ name: String, _ type: Int) throws -> ClosedRange<Int64>? {
        guard CondensedForms.Style(HealthType.named(name)) != nil else { return nil }
        if let known = session.oldTimes[type] { return known }
        let times = try writer.heads.times(user: user, type: type)
        session.oldTimes[type] = .some(times)
        return times
    }

    private func record(_ row: Int, prefix: SampleKeyPrefix) -> IncomingRecord {
        let start = batch.start[row]
        let end = batch.end[row]
        let flags = batch.flags[row]
        return IncomingRecord(
            prefix: prefix, start: start, end: end, second: batch.startOf(row).flooredSecond,
            endSecond: batch.endOf(row).flooredSecond,
            value: batch.value[row], unit: units[Int(batch.unit[row])], origin: origins[Int(batch.origin[row])],
            batchOrigin: Int(batch.origin[row]),
            isUnnamed: isUnnamed[Int(batch.origin[row])],
            created: batch.created[row], flags: stored(flags, row),
            isChild: flags.contains(.correlationChild), isCoarse: flags.contains(.coarse),
            isDeleted: !deletedItems.isEmpty && !batch.line.isEmpty && deletedItems.contains(batch.line[row]),
            uuid: batch.healthKitUUID.isEmpty ? nil : batch.healthKitUUID[row],
            line: batch.line.isEmpty ? 0 : batch.line[row],
            metadata: text(batch.metadata, metadata, row), payload: text(batch.payload, payload, row))
    }

    private func stored(_ flags: RecordFlags, _ row: Int) -> UInt8 {
        let own = flags.subtracting(.correlationChild).rawValue
        let isPart =
            flags.contains(.correlationChild)
            && HealthType.bloodPressureParts.contains(batch.types[Int(batch.type[row])])
        return isPart ? own | SampleFlags.part.rawValue : own
    }

    private func text(_ column: TextColumn, _ bytes: UnsafeRawBufferPointer, _ row: Int) -> UnsafeRawBufferPointer {
        column.ends.isEmpty
            ? UnsafeRawBufferPointer(start: nil, count: 0) : UnsafeRawBufferPointer(rebasing: bytes[column.range(row)])
    }

    /// Loads the rows that start in the same seconds as the records, by walking the index and skipping stretches
    /// without records.
    private func load(type: Int, rows: [Int]) throws {
        writer.window.reset(expected: rows.count)
        guard let last = rows.last else { return }
        let lastSecond = batch.startOf(last).flooredSecond
        try loadBlocks(type: type, rows: rows, through: lastSecond)
        let query = writer.rows.bySecond
        query.reset()
        defer { query.reset() }
        query.bind(1, user)
        query.bind(2, type)
        query.bind(4, lastSecond)
        var next = 0
        while next < rows.count {
            var wanted = batch.startOf(rows[next]).flooredSecond
            query.rewind()
            query.bind(3, wanted)
            var wasted = 0
            var second = Int64.min
            var inSecond = 0
            var atEnd = true
            while try query.step() {
                let row = StoredRow(query)
                if row.second > wanted {
                    // Advances to the first record that doesn't start before this row.
                    while next < rows.count, batch.startOf(rows[next]).flooredSecond < row.second { next += 1 }
                    guard next < rows.count else { return }
                    wanted = batch.startOf(rows[next]).flooredSecond
                }
                guard row.second == wanted else {
                    wasted += 1
                    if wasted < 24 { continue }
                    atEnd = false
                    break
                }
                wasted = 0
                inSecond = row.second == second ? inSecond + 1 : 1
                second = row.second
                if inSecond > RowWindow.crowd || writer.window.rows.count >= RowWindow.rowLimit {
                    writer.window.giveUp(second)
                    if writer.window.rows.count > RowWindow.rowLimit - RowWindow.crowd {
                        for row in rows[next...] { writer.window.leaveOut(batch.startOf(row).flooredSecond) }
                        return
                    }
                    while next < rows.count, batch.startOf(rows[next]).flooredSecond <= second { next += 1 }
                    atEnd = false
                    break
                }
                query.withBytes(StoredRow.metadataColumn) { writer.window.append(row, metadata: $0) }
            }
            if atEnd { return }
        }
    }

    /// Loads the rows that are in blocks.
    private func loadBlocks(type: Int, rows: [Int], through last: Int64) throws {
        guard let first = rows.first.map({ batch.startOf($0).flooredSecond }) else { return }
        for place in try writer.blocks.places(user: user, type: type, seconds: first...last) {
            // Records may be far apart, in which case a block between them needn't be read.
            var next = firstRecord(from: place.firstSecond, among: rows)
            guard next < rows.count, batch.startOf(rows[next]).flooredSecond <= place.lastSecond else { continue }
            let view = try writer.blocks.view(place)
            let block = view.block
            var row = block.firstRow(from: batch.startOf(rows[next]).flooredSecond)
            while row < block.second.count, next < rows.count {
                let (wanted, held) = (batch.startOf(rows[next]).flooredSecond, block.second[row])
                if wanted < held {
                    next += 1
                } else if held < wanted {
                    row += 1
                } else {
                    // This leaves room for rows from the other table. Blocks found later may contain rows in any of
                    // these seconds.
                    if writer.window.rows.count >= RowWindow.rowLimit / 2 {
                        for row in rows { writer.window.leaveOut(batch.startOf(row).flooredSecond) }
                        return
                    }
                    if view.isHere(row) {
                        block.metadata.withText(row) { writer.window.append(block.row(row), metadata: $0) }
                    }
                    row += 1
                }
            }
        }
    }

    /// The index in `rows` of the first record that starts in the given second or later.
    private func firstRecord(from second: Int64, among rows: [Int]) -> Int {
        rows.firstPlace(behind: { batch.startOf($0).flooredSecond < second })
    }
}
