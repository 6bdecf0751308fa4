import HealthModel
import HealthStore
import SQLite
import TestSupport
import Testing

/// Elements without a number, many of which have the same type, source and second: each is matched to its row by its
/// content.
@Suite struct ElementIdentityTests {
    private func element(_ payload: String) -> Record {
        var record = Record(type: "Observation", value: .nan, unit: "")
        record.payload = payload
        return record
    }

    private func result(_ identifier: String, _ path: String = "/a.json") -> Record {
        element("{\"element\":\"ClinicalRecord\",\"identifier\":\"\(identifier)\",\"resourceFilePath\":\"\(path)\"}")
    }

    private func payloads(_ store: StoreFixture) throws -> [String] { try store.alive().map(\.payload).sorted() }

    @Test(arguments: [2, Int.max]) func aNewOneBeforeTheOthersTakesNobodysPlace(leastInBlock: Int) throws {
        let store = try StoreFixture(leastInBlock: leastInBlock)
        #expect(try store.add([result("1"), result("2"), result("3")]).added == 3)
        let before = try payloads(store)
        let again = try store.add([result("0"), result("3"), result("2"), result("1")])
        #expect(again.added == 1 && again.known == 3)
        #expect(try payloads(store) == (before + [result("0").payload]).sorted())
        // The name of a file may differ from export to export.
        let renamed = try store.add([result("1", "/z.json")])
        #expect(renamed.joined == 1 && renamed.added == 0)
        #expect(try payloads(store).count == 4)
    }

    @Test func withoutIdentifiersTheirAttributesDistinguishThem() throws {
        let store = try StoreFixture()
        let doses = ["a", "b"].map { element("{\"element\":\"Dose\",\"medication\":\"\($0)\"}") }
        #expect(try store.add(doses).added == 2)
        #expect(try store.add(doses.reversed()).known == 2)
        #expect(try store.add([element("{\"element\":\"Dose\",\"medication\":\"c\"}")]).added == 1)
        // A later export has more detail.
        let more = try store.add([element("{\"element\":\"Dose\",\"medication\":\"b\",\"status\":\"taken\"}")])
        #expect(more.joined == 1 && more.added == 0)
        #expect(try payloads(store).filter { $0.contains("taken") }.count == 1)
    }

    @Test func whatACompleteExportLackedComesBackAsItself() throws {
        let store = try StoreFixture()
        let session = ImportSession(source: "first")
        try store.add([result("1"), result("2")], session)
        let ids = Set(try store.alive().map(\.id))
        let newer = ImportSession(source: "second")
        let before = store.sequences.sequence
        try store.add([result("2")], newer)
        var progress = AbsenceProgress()
        let export = CompleteExport(session: newer, date: Instant(seconds: 1_900_000_000), before: before)
        while !progress.isDone {
            _ = try store.database.transaction { try store.writer.deleteAbsent(from: export, &progress) }
        }
        #expect(try payloads(store) == [result("2").payload])
        #expect(try store.add([result("1"), result("2")]).revived == 1)
        #expect(try Set(store.alive().map(\.id)) == ids)
    }
}
