import HealthModel
import HealthStore
import SQLite
import TestSupport

/// A store that receives dated exports and pushes, as the observer stores them.
final class ExportedLife {
    let store: StoreFixture
    let user: String
    let writer: HealthStoreWriter
    private var imports = 0
    private(set) var renamings: [NameProgress.Renaming] = []
    private(set) var forms = FormCounts()

    init(_ store: StoreFixture, user: String = "anna", leastInBlock: Int = 2) throws {
        self.store = store
        self.user = user
        writer = try HealthStoreWriter(
            database: store.database, user: user, sequences: store.sequences, leastInBlock: leastInBlock)
    }

    convenience init(user: String = "anna") throws { try self.init(StoreFixture(), user: user) }

    static func day(_ number: Int64) -> Instant { Instant(seconds: 1_700_100_000 + number * 86_400) }

    /// Imports an export that was made on the given day.
    /// - Returns: the import's id.
    @discardableResult
    func export(_ day: Int64, _ records: [Record], parts: Int = 1) throws -> String {
        imports += 1
        let id = "import \(imports)"
        try read(id, day, records, parts: parts)
        return id
    }

    /// Imports an export; the first attempt ends after so many steps at the end of its file, as in a crash.
    func export(_ day: Int64, _ records: [Record], interruptedAfter steps: Int) throws {
        imports += 1
        try read("import \(imports)", day, records, parts: 2, steps: steps)
        try read("import \(imports)", day, records, parts: 2)
    }

    private func read(_ id: String, _ day: Int64, _ records: [Record], parts: Int, steps: Int = .max) throws {
        let session = ImportSession(source: id, bringer: .importing(id: id))
        session.exported = Self.day(day)
        let size = max(1, (records.count + parts - 1) / parts)
        for first in stride(from: 0, to: records.count, by: size) {
            try add(Array(records[first..<min(first + size, records.count)]), session)
        }
        try settle(session, steps: steps)
    }

    private func add(_ records: [Record], _ session: ImportSession) throws {
        try store.database.transaction {
            _ = try writer.ingest(Record.batch(records), session: session, plausibility: Record.plausibility)
        }
    }

    func settle(_ session: ImportSession, steps: Int = .max) throws {
        var steps = steps
        var progress = NameProgress()
        while !progress.isDone {
            steps -= 1
            if steps < 0 { return }
            _ = try store.database.transaction {
                try writer.settleNames(of: session, &progress, limit: 3)
            }
        }
        renamings = progress.renamings
        try store.database.transaction { _ = try writer.settleWorkouts(wholeExport: session.exported) }
        forms = FormCounts()
        var isDone = false
        while !isDone {
            steps -= 1
            if steps < 0 { return }
            let step = try store.database.transaction { try writer.settleForms(limit: 1) }
            forms += step.counts
            isDone = step.isDone
        }
    }

    func push(_ day: Int64, _ records: [Record], device: String = "phone") throws {
        let session = ImportSession(
            source: "push", bringer: .device(device, way: "samples"), pushed: Self.day(day), reportsOutcomes: true)
        try add(records, session)
    }

    func delete(_ uuids: [SampleID]) throws {
        try store.database.transaction { _ = try writer.delete(uuids: uuids) }
    }

    func undo(_ id: String) throws {
        var progress = try store.database.transaction { try writer.beginTakingBack(.importing(id: id)) }
        while progress?.isDone == false {
            if var step = progress {
                _ = try store.database.transaction { try writer.takeBack(&step, limit: 3) }
                progress = step
            }
        }
    }

    /// The user's samples that aren't deleted.
    func rows() throws -> Set<Row> { try store.alive().filter { $0.user == user } }

    func values(of type: String = Record().type) throws -> [Double] {
        try rows().filter { $0.type == type }.compactMap(\.value).sorted()
    }

    func ids() throws -> Set<SampleID> { Set(try rows().map(\.id)) }

    func sources() throws -> Set<String> { Set(try rows().map(\.origin.sourceName)) }
}
