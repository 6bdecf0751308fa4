import HealthModel
import HealthStore
import Testing

/// Which samples are the two of a blood pressure, however they came.
@Suite struct BloodPressurePartTests {
    private static let types = ["Systolic", "Diastolic"].map { "HKQuantityTypeIdentifierBloodPressure" + $0 }

    private func records(parts: Bool) -> [Record] {
        Self.types.map { type in
            var record = Record(type: type, value: 80, unit: "mmHg")
            if parts { record.flags = RecordFlags.correlationChild.rawValue }
            return record
        }
    }

    private func parts(_ store: StoreFixture) throws -> [Bool] {
        let page = try store.changes().samples
        return page.flags.map { $0.contains(.part) }
    }

    /// Exports repeat a correlation's parts at top level, and may do so before or after it. A store that didn't know
    /// yet learns it from the next import, as a new version.
    @Test(arguments: [2, Int.max])
    func aPartShowsThatItIsOne(_ leastInBlock: Int) throws {
        let store = try StoreFixture(leastInBlock: leastInBlock)
        try store.add(records(parts: false))
        #expect(try parts(store) == [false, false])
        let before = try store.head()
        let again = try store.add(records(parts: false) + records(parts: true))
        #expect(again.added == 0 && again.joined == 0 && again.known == 4)
        #expect(try parts(store) == [true, true] && store.head() > before)
        let after = try store.head()
        try store.add(records(parts: true) + records(parts: false))
        #expect(try store.head() == after)
        let other = try StoreFixture(leastInBlock: leastInBlock)
        try other.add(records(parts: true))
        #expect(try parts(other) == [true, true])
    }

    /// Whatever is in a meal is a resource of its own, so its version doesn't change.
    @Test func onlyBloodPressuresHaveParts() throws {
        let store = try StoreFixture()
        var record = Record(type: "HKQuantityTypeIdentifierDietaryEnergyConsumed", value: 300, unit: "kcal")
        try store.add([record])
        let before = try store.head()
        record.flags = RecordFlags.correlationChild.rawValue
        try store.add([record])
        #expect(try parts(store) == [false] && store.head() == before)
    }
}
