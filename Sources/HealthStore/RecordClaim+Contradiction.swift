import HealthModel

// A sample in HealthKit never changes, so two different contents under one UUID contradict each other. Only HealthKit's
// own sync version shows which one is right. Unless the new content has a higher version and can be true, the sample
// stays as it is, and the new content is set aside for a person to look at.
extension RecordClaim {
    enum Contradiction {
        /// An earlier version of the sample.
        case isOutdated
        /// A later version.
        case replaces
        /// Neither content is known to be the later version, or the later one can't be true.
        case isConflict
    }

    /// Compares a record with the sample that has the same UUID. Times whose whole seconds differ by at most
    /// `tolerance`, and values that differ only by conversion, don't contradict each other; workouts and similar
    /// samples are merged instead.
    func contradiction(of record: IncomingRecord, with row: StoredRow) throws -> Contradiction? {
        guard let uuid = record.uuid, uuid == row.uuid, row.state == .alive, !row.hasPayload, record.payload.isEmpty
        else { return nil }
        if record.isCoarse || row.isCoarse, isSameSample(record, row) { return nil }
        let rowEnd = row.endSecond
        let isElsewhere =
            abs(record.second - row.second) > Self.tolerance || abs(record.endSecond - rowEnd) > Self.tolerance
        let isOther = record.unit != row.unit || !StoredValue.agrees(row.value, record.value)
        guard isElsewhere || isOther else { return nil }
        let other = Self.syncVersion(record.metadata)
        let held = try writer.rows.text(.metadata, of: row, user: user).withUnsafeBytes(Self.syncVersion)
        if other < held { return .isOutdated }
        // A row keeps its key: with a different time it would be a different sample.
        return other > held && !isElsewhere && implausible(record) == nil ? .replaces : .isConflict
    }

    /// Keeps a content that the sample had from being added by an export that was made before it was changed.
    func leaveFormer(of sample: StoredRow, value: Double, unit: Int, _ record: IncomingRecord) throws {
        // Otherwise the sample has another key than the record.
        guard record.second == sample.second, record.endSecond == sample.endSecond else {
            return
        }
        var former = sample
        (former.value, former.unit) = (value, unit)
        let left = try writer.leaveFormer(of: former, user: user) { ordinal in
            (record.id(ordinal), try slot(record, ordinal).map { writer.window.rows[$0] })
        }
        guard let left else { return }
        if let slot = writer.window.slot(of: left.id) {
            writer.window.update(slot, left)
        } else {
            writer.window.append(left)
        }
    }

    /// The number of seconds by which times from different channels may differ because of rounding.
    static let tolerance: Int64 = 1

    /// 0 if there is no sync version, or if the metadata can't be read.
    static func syncVersion(_ metadata: UnsafeRawBufferPointer) -> Int64 {
        guard !metadata.isEmpty, let members = try? Value(json: Array(metadata)) else { return 0 }
        let version = members["HKMetadataKeySyncVersion"]
        return version.int ?? version.string.flatMap { Int64($0) } ?? 0
    }

    /// Sets the record's content aside. Content that a person has decided against changes nothing.
    func setAside(_ record: IncomingRecord, against row: StoredRow?, _ tally: inout IngestCounts.Tally) throws {
        let conflict = try conflict(record, against: row)
        if let conflict, try writer.quarantined.isDropped(conflict, user: user) {
            tally.known += 1
            return
        }
        tally.quarantined += 1
        tally.conflicts += 1
        guard let conflict, !isTrial else { return }
        tally.newlyQuarantined += try writer.quarantined.add(
            conflict, line: record.line, from: session.source, user: user)
    }

    /// Nil in a trial run if a name is new, in which case nobody has decided anything. A trial run also leaves out the
    /// source and the present content, which don't belong to a conflict's key.
    private func conflict(_ record: IncomingRecord, against row: StoredRow?) throws -> RecordConflict? {
        guard type != BatchIngest.unknown, record.unit != BatchIngest.unknown else { return nil }
        return RecordConflict(
            type: try writer.types.name(type), uuid: record.uuid?.description ?? "",
            source: isTrial ? "" : try writer.origins.origin(record.origin).sourceName,
            other: try content(start: record.start, end: record.end, value: record.value, unit: record.unit),
            kept: isTrial
                ? nil : try row.map { try content(start: $0.start, end: $0.end, value: $0.value, unit: $0.unit) })
    }

    private func content(start: Int64, end: Int64, value: Double, unit: Int) throws -> RecordConflict.Content {
        RecordConflict.Content(
            start: Instant(microseconds: start), end: Instant(microseconds: end), value: value.isFinite ? value : nil,
            unit: try writer.units.name(unit))
    }
}
