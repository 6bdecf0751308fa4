import HealthModel
import HealthStore
import SQLite
import TestSupport
import Testing

/// Stores of earlier releases may hold samples twice, because their sources were renamed, or because HealthKit condensed
/// them.
@Suite struct DoublesTests {
    /// A store as the release before left it: it recorded which import brought which rows, but no dates and no names.
    private func oldStore(_ exports: [[Record]]) throws -> ExportedLife {
        let store = try StoreFixture()
        for (index, records) in exports.enumerated() {
            let number = index + 1
            // Records that come neither from a file nor from a device aren't compared with other sources' rows.
            try store.add(records)
            try store.database.execute("UPDATE samples SET state = 0 WHERE state = 4")
            try store.database.execute(
                """
                INSERT INTO bringers VALUES (\(number), 1, 'import', 'import \(number)', '');
                UPDATE brought SET bringer = \(number) WHERE bringer = 0
                """)
        }
        return try ExportedLife(store)
    }

    private static let dates: [String: Instant] = ["import 1": ExportedLife.day(1), "import 2": ExportedLife.day(2)]

    private func repair(_ life: ExportedLife, isTrial: Bool = false) throws -> DoublesCounts {
        var progress = DoublesProgress(id: "repair", isTrial: isTrial)
        while !progress.isDone {
            try life.store.database.transaction {
                _ = try life.writer.settleDoubles(&progress, dates: Self.dates, limit: 5)
            }
        }
        return progress.counts
    }

    @discardableResult
    private func undo(_ life: ExportedLife) throws -> DoublesCounts {
        let id = try #require(try life.writer.lastRepair())
        var undo = RepairUndo(id: id)
        while !undo.isDone { try life.store.database.transaction { try life.writer.undoRepair(&undo, limit: 3) } }
        return undo.counts
    }

    private let raw = CondensedTests.steps([20, 20]) + CondensedTests.steps([7], from: 100)
    private let condensed = CondensedTests.steps([40], length: 20) + CondensedTests.steps([7], from: 100)

    @Test func condensedSamplesCountOnceAndTwiceAgain() throws {
        let life = try oldStore([raw, condensed])
        #expect(try life.values() == [7, 20, 20, 40])
        let head = try life.store.head()
        let tried = try repair(life, isTrial: true)
        #expect(tried.replaced == [Record().type: 2] && tried.samples == 2 && tried.renamed.isEmpty)
        #expect(try life.store.head() == head)
        #expect(try repair(life) == tried)
        #expect(try life.values() == [7, 40])
        #expect(try repair(life, isTrial: true).samples == 0)
        #expect(try undo(life) == tried)
        #expect(try life.values() == [7, 20, 20, 40])
        #expect(try life.writer.lastRepair() == nil)
    }

    @Test(arguments: [true, false]) func renamedSourcesAreOneAndTwoAgain(isCondensed: Bool) throws {
        func named(_ records: [Record], _ name: String) -> [Record] {
            records.map { record in
                var record = record
                record.source = name
                return record
            }
        }
        let old = named(raw, "Old") + RenamedTests.records(0..<5, "Old")
        let new = named(isCondensed ? condensed : raw, "New") + RenamedTests.records(0..<8, "New")
        let clean = try ExportedLife()
        try clean.export(1, old)
        try clean.export(2, new)
        let life = try oldStore([old, new])
        let before = try life.rows()
        #expect(try before.count > clean.rows().count)
        let tried = try repair(life, isTrial: true)
        #expect(tried.renamed.map { [$0.from, $0.to] } == [["Old", "New"]])
        #expect(try tried.samples == before.count - clean.rows().count)
        #expect(try repair(life) == tried)
        #expect(try life.ids() == clean.ids() && life.sources() == ["New"])
        // Further exports find everything.
        try life.export(3, new)
        #expect(try life.ids() == clean.ids())
        let head = try life.store.head()
        #expect(try repair(life, isTrial: true).samples == 0 && life.store.head() == head)
    }

    @Test func aRepairOfNamesCanBeUndone() throws {
        let life = try oldStore([RenamedTests.records(0..<5, "Old"), RenamedTests.records(0..<8, "New")])
        let before = try life.rows()
        let repaired = try repair(life)
        #expect(try life.rows().count == 9)
        #expect(try undo(life) == repaired)
        #expect(try life.rows() == before)
        // The imports are as they were, too.
        try life.undo("import 2")
        #expect(try life.sources() == ["Old"] && life.rows().count == 6)
    }

    @Test func whatOneImportHasTogetherIsLeftAlone() throws {
        let life = try oldStore([RenamedTests.records(0..<5, "App") + RenamedTests.records(0..<5, "Other")])
        #expect(try repair(life).samples == 0)
        #expect(try life.rows().count == 12)
    }
}
