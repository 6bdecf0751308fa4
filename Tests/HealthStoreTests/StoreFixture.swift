import Foundation
import HealthModel
import HealthStore
import SQLite
import TestSupport

/// A store in its own folder, which is removed together with it.
final class StoreFixture {
    let folder: URL
    let database: Database
    var writer: HealthStoreWriter
    let reader: HealthStoreReader

    let sequences: CountingSequence

    /// - Parameter leastInBlock: with 2, a few records behave like thousands in an export; with `.max`, no records are
    ///   stored in blocks.
    init(user: String = "anna", firstSequence: SequenceNumber = 1000, leastInBlock: Int = 2) throws {
        sequences = CountingSequence(from: firstSequence)
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("health-store-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let database = try Database(path: folder.appendingPathComponent("store.sqlite").path)
        self.database = database
        try database.transaction { try HealthStoreSchema.create(in: database) }
        writer = try HealthStoreWriter(database: database, user: user, sequences: sequences, leastInBlock: leastInBlock)
        reader = try HealthStoreReader(database: database)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    var path: String { folder.appendingPathComponent("store.sqlite").path }

    /// Adds records in one transaction, by default in a session of their own.
    @discardableResult
    func add(_ records: [Record], _ session: ImportSession = ImportSession(source: "test")) throws -> IngestCounts.Tally
    {
        try database.transaction {
            try writer.ingest(Record.batch(records), session: session, plausibility: Record.plausibility).total
        }
    }

    func head() throws -> SequenceNumber { try reader.head() }

    /// Everything, including tombstones, in the order of the changes.
    func changes(_ limits: PullLimits = PullLimits(rows: 100_000, bytes: 100_000_000)) throws -> AnchoredPage {
        try reader.anchored(TypeFilter(types: .allExcept([])), PullWindow(SequenceWindow(after: 0)), limits: limits)
    }

    /// Everything that isn't deleted, without the versions.
    func alive() throws -> Set<Row> {
        let page = try changes()
        return Set(
            page.samples.rows(users: page.user.map { page.users[Int($0)] }).filter { !$0.flags.contains(.deleted) })
    }

    func slice(_ query: SliceQuery, limits: PullLimits = PullLimits(rows: 100_000, bytes: 100_000_000)) throws
        -> SamplePage
    {
        try reader.slice(query, limits: limits).samples
    }
}

/// A counter whose value isn't saved.
final class CountingSequence: SequenceSource {
    private(set) var sequence: SequenceNumber

    init(from first: SequenceNumber) { sequence = first }

    func nextSequence() -> SequenceNumber {
        sequence = sequence.next
        return sequence
    }

    /// Goes back to an earlier sequence number, as after a transaction that was rolled back.
    func begin(at sequence: SequenceNumber) { self.sequence = sequence }
}

/// One record, in short notation.
struct Record: Hashable {
    var type = "HKQuantityTypeIdentifierStepCount"
    var source = "Anna’s Apple Watch"
    var version = ""
    var product = ""
    var device = ""
    /// Seconds since 1970.
    var start = 1_700_000_000.0
    var length = 60.0
    var value = 10.0
    var unit = "count"
    var created: Int64 = 0
    var flags: UInt8 = 0
    var metadata = ""
    var payload = ""
    var uuid: SampleID?
    var line: Int64 = 1

    static func plausibility(_ type: String) -> (Double, Instant, Instant) -> String? {
        { value, _, _ in value < 0 ? "\(type) can't be negative" : nil }
    }

    static func batch(_ records: [Record]) -> RecordBatch {
        var batch = RecordBatch()
        func index<Name: Equatable>(_ name: Name, _ names: inout [Name]) -> Int32 {
            if let known = names.firstIndex(of: name) { return Int32(known) }
            names.append(name)
            return Int32(names.count - 1)
        }
        for record in records {
            batch.type.append(index(record.type, &batch.types))
            batch.unit.append(index(record.unit, &batch.units))
            let origin = Origin(
                sourceName: record.source, sourceVersion: record.version, productType: record.product,
                device: record.device)
            batch.origin.append(index(origin, &batch.origins))
            batch.start.append(Int64((record.start * 1e6).rounded()))
            batch.end.append(Int64(((record.start + record.length) * 1e6).rounded()))
            batch.value.append(record.value)
            batch.created.append(record.created)
            batch.flags.append(RecordFlags(rawValue: record.flags))
            batch.metadata.append(record.metadata)
            batch.payload.append(record.payload)
            batch.healthKitUUID.append(record.uuid)
            batch.line.append(record.line)
        }
        return batch
    }
}

/// A row of a page, without its version.
struct Row: Hashable {
    var user: String
    var id: SampleID
    var type: String
    var start: Instant
    var end: Instant
    var value: Double?
    var unit: String
    var origin: Origin
    var created: Int64
    var flags: SampleFlags
    var metadata: String
    var payload: String
    var uuid: SampleID?
}

extension SamplePage {
    func rows(users: [String]) -> [Row] {
        (0..<count).map { row in
            Row(
                user: users[row], id: ids[row], type: typeName(row), start: startOf(row), end: endOf(row),
                value: value[row].isNaN ? nil : value[row], unit: units[Int(unit[row])], origin: originOf(row),
                created: created[row], flags: flags[row], metadata: metadata[row], payload: payload[row],
                uuid: healthKitUUID[row])
        }
    }
}

func uuid(_ number: UInt64) -> SampleID { SampleID(high: 0xAAAA_0000_0000_4000, low: 0x8000_0000_0000_0000 | number) }

/// The same random numbers in every run.
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64
    init(seed: UInt64) { state = seed }
    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}
