import HealthModel
import HealthStore
import SQLite
import TestSupport
import Testing

/// HealthKit condenses the samples of workouts some months later: exports made after that have other records for the
/// same time.
@Suite struct CondensedTests {
    private let life: ExportedLife
    private static let heartRate = "HKQuantityTypeIdentifierHeartRate"

    init() throws { life = try ExportedLife() }

    /// Neighbouring samples of ten seconds each.
    static func steps(_ values: [Double], from start: Double = 0, length: Double = 10) -> [Record] {
        values.enumerated().map {
            Record(start: 1_700_000_000 + start + Double($0) * length, length: length, value: $1)
        }
    }

    static func rates(_ values: [Double], length: Double = 0) -> [Record] {
        values.enumerated().map {
            Record(
                type: heartRate, start: 1_700_000_000 + Double($0) * 5, length: length, value: $1, unit: "count/min")
        }
    }

    private let fine = steps([20, 20])
    private let whole = steps([40], length: 20)

    @Test(arguments: [[1, 2], [2, 1], [1, 2, 1], [2, 1, 1], [1, 2, 2, 1]]) func theNewerFormCounts(_ days: [Int64])
        throws
    {
        for day in days { try life.export(day, day == 1 ? fine : whole) }
        #expect(try life.values() == [40])
    }

    /// If the source divided a sample, its parts count.
    @Test(arguments: [[1, 2], [2, 1]]) func theNewerFormMayBeTheFinerOne(_ days: [Int64]) throws {
        for day in days { try life.export(day, day == 1 ? whole : fine) }
        #expect(try life.values() == [20, 20])
    }

    @Test func theFormThatComesBackCounts() throws {
        for (day, records) in [(1, fine), (2, whole), (3, fine)] { try life.export(Int64(day), records) }
        #expect(try life.values() == [20, 20])
        try life.export(4, whole)
        #expect(try life.values() == [40])
    }

    @Test(arguments: [[1, 2, 3], [1, 3, 2], [2, 1, 3], [2, 3, 1], [3, 1, 2], [3, 2, 1]])
    func itMayHappenTwice(_ days: [Int64]) throws {
        let forms = [
            Self.steps([5, 5, 7, 7, 3]),
            Self.steps([10], length: 20) + Self.steps([14], from: 20, length: 20)
                + Self.steps([3], from: 40), Self.steps([24], length: 40) + Self.steps([3], from: 40),
        ]
        for day in days { try life.export(day, forms[Int(day) - 1]) }
        #expect(try life.values() == [3, 24])
    }

    @Test(arguments: [0.0, 2]) func ratesOfEqualValueBecomeOne(length: Double) throws {
        let raw = Self.rates([120, 120, 120, 121, 121, 90], length: length)
        func joined(_ value: Double, _ first: Int, _ last: Int) -> Record {
            Record(
                type: Self.heartRate, start: raw[first].start, length: raw[last].start + length - raw[first].start,
                value: value, unit: "count/min")
        }
        try life.export(1, raw)
        try life.export(2, [joined(120, 0, 2), joined(121, 3, 4), raw[5]])
        #expect(try life.values(of: Self.heartRate) == [90, 120, 121])
    }

    @Test func otherSumsValuesTimesAndSourcesStay() throws {
        try life.export(1, fine)
        try life.export(2, Self.steps([41], length: 20))
        #expect(try life.values() == [20, 20, 41])
        let other = try ExportedLife()
        let more = Self.steps([9], from: 100)
        try other.export(1, fine + more)
        try other.export(
            2,
            more
                + whole.map {
                    var record = $0; record.source = "Phone"; return record
                })
        #expect(try other.values() == [9, 20, 20, 40])
        let longer = try ExportedLife()
        try longer.export(1, fine)
        try longer.export(2, Self.steps([40], length: 21))
        #expect(try longer.values() == [20, 20, 40])
        let rates = try ExportedLife()
        try rates.export(1, Self.rates([120, 121, 120]))
        try rates.export(
            2, [Record(type: Self.heartRate, length: 10, value: 120, unit: "count/min")])
        #expect(try rates.values(of: Self.heartRate) == [120, 120, 120, 121])
    }

    /// A source that keeps a total beside its parts has both.
    @Test(arguments: [[1, 2], [2, 1]]) func whatOneExportHasTogetherStays(_ days: [Int64]) throws {
        for day in days { try life.export(day, day == 1 ? fine : fine + whole) }
        #expect(try life.values() == [20, 20, 40])
    }

    @Test func whatIsLeftOfThemCounts() throws {
        for (day, records) in [(1, fine), (2, fine + whole), (3, whole)] { try life.export(Int64(day), records) }
        #expect(try life.values() == [40])
    }

    @Test func noPushOlderExportOrRepeatRestoresIt() throws {
        try life.export(1, fine)
        try life.export(2, whole)
        try life.push(3, fine)
        try life.push(3, [Record(start: fine[0].start, length: 10, value: 20, uuid: uuid(1))])
        try life.export(0, fine)
        #expect(try life.values() == [40])
    }

    /// Whatever a push brings, what an export brought after it was made counts.
    @Test(arguments: [true, false]) func whatWasPushedRawMayBeExportedCondensed(hasUUIDs: Bool) throws {
        var raw = fine
        if hasUUIDs { for index in raw.indices { raw[index].uuid = uuid(UInt64(index)) } }
        try life.push(1, raw)
        try life.export(2, whole)
        #expect(try life.values() == [40])
        let late = try ExportedLife()
        try late.export(2, whole)
        try late.push(3, raw)
        #expect(try late.values() == [40])
        // In pushes alone there are no dates: HealthKit joins samples, and never divides them.
        let pushed = try ExportedLife()
        for records in [whole, raw] { try pushed.push(1, records) }
        #expect(try pushed.values() == [40])
    }

    /// The parts may come one by one.
    @Test func partsOfARequestComeLater() throws {
        try life.export(2, whole)
        try life.push(3, [fine[0]])
        try life.push(3, [fine[1]])
        #expect(try life.values() == [40])
    }

    @Test func creationDecidesWhereNoExportDoes() throws {
        try life.push(
            1,
            fine.map {
                var record = $0; record.created = 1_700_050_000; return record
            })
        try life.push(
            1,
            whole.map {
                var record = $0; record.created = 1_700_040_000; return record
            })
        #expect(try life.values() == [20, 20])
    }

    @Test func aDeletedFormStaysDeletedWithItsParts() throws {
        try life.export(1, fine)
        try life.export(2, whole)
        let id = try #require(try life.store.alive().first?.id)
        try life.store.database.transaction { _ = try life.writer.delete(ids: [id]) }
        try life.export(1, fine)
        try life.export(2, whole)
        #expect(try life.values().isEmpty)
    }

    @Test func undoingRestoresTheOtherForm() throws {
        let first = try life.export(1, fine)
        let second = try life.export(2, whole)
        #expect(life.forms.replaced == [Record().type: 2])
        try life.undo(second)
        #expect(try life.values() == [20, 20])
        let third = try life.export(2, whole)
        #expect(try life.values() == [40])
        try life.undo(first)
        #expect(try life.values() == [40])
        try life.undo(third)
        #expect(try life.values().isEmpty)
    }

    @Test func aCompleteExportReplacesAndDeletesNothing() throws {
        try life.export(1, fine + Self.steps([9], from: 100))
        let session = ImportSession(source: "trial", bringer: .importing(id: "complete"))
        session.exported = ExportedLife.day(2)
        let new = whole + Self.steps([9], from: 100)
        _ = try life.writer.tryOut(Record.batch(new), session: session, plausibility: Record.plausibility)
        var progress = AbsenceProgress()
        var counts = AbsenceCounts()
        let export = CompleteExport(session: session, date: ExportedLife.day(2), before: life.store.sequences.sequence)
        while !progress.isDone { counts += try life.writer.countAbsent(from: export, &progress, limit: 2) }
        #expect(counts.absent.isEmpty && counts.replaced == [Record().type: 2])
        #expect(try life.values() == [9, 20, 20])
    }

    @Test func unitsAndPrintedSumsAgree() throws {
        let miles = Self.steps([0.0123457, 0.0456789, 0.0333333])
        let sum = Self.steps([0.0913579], length: 30)
        try life.export(1, miles)
        try life.export(2, sum)
        #expect(try life.values() == [0.0913579])
    }

    @Test(arguments: [2, Int.max]) func blocksAndRowsGiveTheSame(leastInBlock: Int) throws {
        let life = try ExportedLife(StoreFixture(), leastInBlock: leastInBlock)
        let raw = Self.steps((0..<300).map { Double($0 % 7 + 1) })
        let joined = stride(from: 0, to: 300, by: 3).flatMap { first in
            Self.steps([raw[first..<first + 3].reduce(0) { $0 + $1.value }], from: Double(first) * 10, length: 30)
        }
        try life.export(1, raw, parts: 3)
        try life.export(2, joined, parts: 4)
        #expect(try life.values() == joined.map(\.value).sorted())
        #expect(try life.store.reader.heads().first?.alive == 100)
    }

    /// Whoever sends thousands of samples that contain each other gets no further than that.
    @Test func nestedSamplesAreLeftAlone() throws {
        try life.export(1, Self.steps([1], from: 10_000))
        let nested = (1..<4000).flatMap { number in
            Self.steps([1], from: Double(number - 1), length: 1) + Self.steps([Double(number)], length: Double(number))
        }
        try life.push(2, nested)
        #expect(try life.rows().count > 4000)
    }

    /// What was replaced stays so when a place gets more samples than can be compared.
    @Test func inACrowdedPlaceAllStaysAsItIs() throws {
        try life.export(1, fine)
        try life.export(2, whole)
        #expect(try life.values() == [40])
        let crowd = (0..<51_000).map { Record(start: 1_700_000_100 + Double($0 % 5000), length: 0, value: Double($0)) }
        try life.push(3, crowd)
        #expect(try life.rows().count { $0.value == 20 && $0.end > $0.start } == 0)
    }
}
