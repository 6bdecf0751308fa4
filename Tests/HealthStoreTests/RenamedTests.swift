import HealthModel
import HealthStore
import SQLite
import TestSupport
import Testing

/// A device or an app may be renamed; from then on, exports and pushes have all its samples under the new name.
@Suite struct RenamedTests {
    private let life: ExportedLife
    private static let water = "HKQuantityTypeIdentifierDietaryWater"

    init() throws { life = try ExportedLife() }

    static func record(_ number: Int, _ source: String, type: String = water, device: String = "") -> Record {
        Record(
            type: type, source: source, device: device, start: 1_700_000_000 + Double(number) * 100, length: 0,
            value: 300 + Double(number), unit: "mL")
    }

    static func records(_ numbers: Range<Int>, _ source: String, device: String = "") -> [Record] {
        numbers.map { record($0, source, device: device) } + [
            Record(
                type: HealthType.workoutIdentifier, source: source, device: device, start: 1_700_050_000, length: 1800,
                value: .nan, unit: "", payload: #"{"activity":"HKWorkoutActivityTypeRunning"}"#)
        ]
    }

    /// The ids of a life in which nothing is ever renamed.
    private func ids(_ numbers: Range<Int>, _ source: String, user: String = "anna") throws -> Set<SampleID> {
        let clean = try ExportedLife(user: user)
        try clean.export(1, Self.records(numbers, source))
        return try clean.ids()
    }

    @Test(arguments: [[1, 2], [2, 1], [1, 2, 1], [2, 1, 2]]) func aRenamedSourceIsTheSame(_ days: [Int64]) throws {
        for day in days { try life.export(day, Self.records(0..<(day == 1 ? 5 : 8), day == 1 ? "Old" : "New")) }
        #expect(try life.ids() == ids(0..<8, "Old"))
        #expect(try life.sources() == ["New"])
    }

    @Test func theRenamingIsReported() throws {
        try life.export(1, Self.records(0..<5, "Old"))
        try life.export(2, Self.records(0..<8, "New"))
        #expect(life.renamings.map { [$0.from, $0.to, "\($0.samples)"] } == [["Old", "New", "6"]])
        try life.export(3, Self.records(0..<9, "New"))
        #expect(life.renamings.isEmpty)
    }

    @Test(arguments: [[1, 2, 3], [1, 3, 2], [2, 1, 3], [2, 3, 1], [3, 1, 2], [3, 2, 1]])
    func itMayBeRenamedTwiceOrBack(_ days: [Int64]) throws {
        for names in [["A", "B", "C"], ["A", "B", "A"], ["B", "A", "C"]] {
            let life = try ExportedLife()
            for day in days { try life.export(day, Self.records(0..<(3 + Int(day)), names[Int(day) - 1])) }
            #expect(try life.ids() == ids(0..<6, names[0]), "\(names)")
            #expect(try life.sources() == [names[2]], "\(names)")
        }
    }

    /// Two sources of an export that have equal samples are two.
    @Test(arguments: [[1, 2], [2, 1]]) func twoSourcesWithEqualSamplesAreTwo(_ days: [Int64]) throws {
        for day in days {
            try life.export(
                day, Self.records(0..<5, "App") + (day == 1 ? [] : Self.records(0..<5, "Other App")))
        }
        #expect(try life.store.alive().count == 12)
        #expect(try life.sources() == ["App", "Other App"])
    }

    /// The new phone takes the name that the old one had, and the old one gets another.
    @Test(arguments: [[1, 2], [2, 1], [1, 2, 3], [3, 2, 1], [2, 3, 1]]) func aNewPhoneMayTakeTheName(_ days: [Int64])
        throws
    {
        let exports = [
            Self.records(0..<5, "iPhone"),
            Self.records(0..<5, "Old iPhone") + (20..<25).map { Self.record($0, "iPhone") },
            Self.records(0..<5, "Old iPhone") + (20..<28).map { Self.record($0, "iPhone") },
        ]
        for day in days { try life.export(day, exports[Int(day) - 1]) }
        let rows = try life.store.alive()
        #expect(rows.filter { $0.origin.sourceName == "Old iPhone" }.count == 6)
        #expect(rows.count == (days.contains(3) ? 14 : 11))
    }

    @Test func modelsDistinguishDevices() throws {
        try life.export(1, Self.records(0..<5, "iPhone", device: "name:iPhone, hardware:iPhone12,1"))
        try life.export(2, Self.records(0..<5, "New", device: "name:iPhone, hardware:iPhone16,1"))
        #expect(try life.store.alive().count == 12)
    }

    @Test func eachUserHasTheirOwnSources() throws {
        try life.export(1, Self.records(0..<5, "Old"))
        try life.export(2, Self.records(0..<5, "New"))
        let other = try ExportedLife(life.store, user: "ben")
        for day in [1, 2] { try other.export(Int64(day), Self.records(0..<5, "New")) }
        #expect(try other.ids() == ids(0..<5, "New", user: "ben") && other.sources() == ["New"])
        #expect(try life.ids() == ids(0..<5, "Old") && life.sources() == ["New"])
    }

    @Test(arguments: [true, false]) func pushesKnowItToo(hasUUIDs: Bool) throws {
        func records(_ numbers: Range<Int>, _ source: String) -> [Record] {
            numbers.map { number in
                var record = Self.record(number, source)
                if hasUUIDs { record.uuid = uuid(UInt64(number)) }
                return record
            }
        }
        try life.push(1, records(0..<5, "Old"))
        try life.push(2, records(0..<8, "New"))
        #expect(try life.store.alive().count == 8 && life.sources() == ["New"])
        // An export that follows joins them.
        try life.export(3, Self.records(0..<8, "New"))
        #expect(try life.store.alive().count == 9)
    }

    @Test(arguments: 0..<6) func pushedInBetween(_ order: Int) throws {
        let steps: [(ExportedLife) throws -> Void] = [
            { try $0.export(1, Self.records(0..<5, "Old")) },
            { try $0.push(2, [Self.record(5, "New"), Self.record(6, "New")]) },
            { try $0.export(3, Self.records(0..<8, "New")) },
        ]
        let orders = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]]
        for step in orders[order] { try steps[step](life) }
        #expect(try life.ids() == ids(0..<8, "Old"))
        #expect(try life.sources() == ["New"])
    }

    @Test func undoingTakesTheNameBack() throws {
        let first = try life.export(1, Self.records(0..<5, "Old"))
        let second = try life.export(2, Self.records(0..<8, "New"))
        try life.undo(second)
        #expect(try life.ids() == ids(0..<5, "Old") && life.sources() == ["Old"])
        let third = try life.export(2, Self.records(0..<8, "New"))
        #expect(try life.ids() == ids(0..<8, "Old") && life.sources() == ["New"])
        try life.undo(first)
        #expect(try life.sources() == ["New"] && life.store.alive().count == 9)
        try life.undo(third)
        #expect(try life.store.alive().isEmpty)
    }

    /// The older export has shown that both names are one source; what it calls it is what is left.
    @Test func undoingTheNewestTakesItsNameBack() throws {
        let newest = try life.export(2, Self.records(0..<8, "New"))
        try life.export(1, Self.records(0..<5, "Old"))
        try life.undo(newest)
        #expect(try life.ids() == ids(0..<5, "Old") && life.sources() == ["Old"])
    }

    @Test(arguments: [[1, 2], [2, 1]]) func renamedAndCondensedAtOnce(_ days: [Int64]) throws {
        let run = Self.records(0..<0, "Old")
        for day in days {
            try life.export(
                day,
                (day == 1
                    ? CondensedTests.steps([20, 20]) + CondensedTests.steps([7], from: 100)
                    : CondensedTests.steps([40], length: 20) + CondensedTests.steps([7], from: 100)).map {
                        var record = $0
                        record.source = day == 1 ? "Old" : "New"
                        return record
                    } + (day == 1 ? run : Self.records(0..<0, "New")))
        }
        #expect(try life.values() == [7, 40] && life.sources() == ["New"])
    }

    @Test(arguments: [2, Int.max]) func manySamplesStayInBlocks(leastInBlock: Int) throws {
        let life = try ExportedLife(StoreFixture(), leastInBlock: leastInBlock)
        try life.export(1, Self.records(0..<700, "Old"), parts: 3)
        try life.export(2, Self.records(0..<900, "New"), parts: 5)
        #expect(try life.ids() == ids(0..<900, "Old") && life.sources() == ["New"])
        try life.export(3, Self.records(0..<900, "New"), parts: 2)
        #expect(try life.ids().count == 901 && life.renamings.isEmpty)
        let slice = try life.store.slice(
            SliceQuery(user: "anna", types: .only([Self.water]), ranges: [.distantPast ..< .distantFuture]))
        #expect(slice.count == 900)
        #expect(slice.origins.map(\.otherNames) == [["Old"]])
    }

    @Test func editedWorkoutsOfARenamedSource() throws {
        try life.export(1, [EditedWorkoutTests.run(1800, source: "Old"), Self.record(1, "Old")])
        try life.export(2, [EditedWorkoutTests.run(1800, source: "New"), Self.record(1, "New")])
        try life.export(3, [EditedWorkoutTests.run(1900, source: "New"), Self.record(1, "New")])
        let workouts = try life.store.alive().filter { $0.type == HealthType.workoutIdentifier }
        #expect(workouts.map { ($0.end - $0.start).seconds } == [1900])
    }

    @Test(arguments: 0..<24) func aCrashChangesNothing(steps: Int) throws {
        func named(_ records: [Record], _ name: String) -> [Record] {
            records.map { record in
                var record = record
                record.source = name
                return record
            }
        }
        let old = named(CondensedTests.steps([20, 20, 7, 7]), "Old") + Self.records(0..<20, "Old")
        let new =
            named(CondensedTests.steps([40], length: 20) + CondensedTests.steps([14], from: 20, length: 20), "New")
            + Self.records(0..<30, "New")
        for (day, first, second) in [(Int64(2), old, new), (0, new, old)] {
            let (life, whole) = (try ExportedLife(), try ExportedLife())
            for other in [life, whole] { try other.export(1, first) }
            try life.export(day, second, interruptedAfter: steps)
            try whole.export(day, second)
            #expect(try life.rows() == whole.rows(), "\(day)")
        }
    }

    /// Exports repeat the parts of a correlation as records of their own.
    @Test func partsOfCorrelationsStayOne() throws {
        func pressure(_ source: String) -> [Record] {
            [120.0, 80].enumerated().flatMap { number, value in
                let type = "HKQuantityTypeIdentifierBloodPressure" + (number == 0 ? "Systolic" : "Diastolic")
                return [RecordFlags.correlationChild.rawValue, 0].map {
                    Record(type: type, source: source, length: 0, value: value, unit: "mmHg", flags: $0)
                }
            }
        }
        try life.export(1, pressure("Cuff"))
        try life.export(2, pressure("New Cuff"))
        #expect(try life.rows().count == 2 && life.sources() == ["New Cuff"])
    }

    /// A person enters something in another app, and deletes it in the first.
    @Test func oneEntryElsewhereIsNoNewName() throws {
        func samples(_ source: String) -> [Record] {
            (0..<20).map { Record(source: source, start: 1_700_200_000 + Double($0) * 60 + (source == "A" ? 0 : 7)) }
        }
        try life.export(1, samples("A") + samples("B") + [Self.record(1, "A")])
        let before = try life.rows().filter { $0.type != Self.water }
        try life.export(2, samples("A") + samples("B") + [Self.record(1, "B")])
        #expect(try life.rows().filter { $0.type != Self.water } == before)
        #expect(try life.values(of: Self.water) == [301])
        #expect(try life.rows().first { $0.type == Self.water }?.origin.sourceName == "B")
        #expect(life.renamings.isEmpty)
    }

    /// Known pieces refer to rows; samples with new ids have other rows.
    @Test func piecesOfSamplesWithNewIDsAreReadAgain() throws {
        func read(_ day: Int64, _ source: String, piece: UInt64) throws {
            let session = ImportSession(source: "export", bringer: .importing(id: "\(day)"))
            session.exported = ExportedLife.day(day)
            var batch = Record.batch(Self.records(0..<5, source))
            batch.pieceEnds = [PieceEnd(rows: batch.count, hash: PieceHash(high: piece, low: 1))]
            try life.store.database.transaction {
                _ = try life.writer.ingest(batch, session: session, plausibility: Record.plausibility)
            }
            try life.settle(session)
        }
        try read(2, "New", piece: 2)
        #expect(try life.writer.knownPieces().count == 1)
        // Its records call the source by another name, so this piece isn't known yet; the other no longer is.
        try read(1, "Old", piece: 1)
        #expect(try life.writer.knownPieces().isEmpty)
        #expect(try life.ids() == ids(0..<5, "Old"))
        try read(3, "New", piece: 2)
        #expect(try life.writer.knownPieces().count == 1 && life.rows().count == 6)
    }

    /// A stack that follows another gets tombstones under the ids that samples had before.
    @Test func aTombstoneUnderTheOtherNameRestoresNothing() throws {
        try life.export(2, Self.records(0..<5, "New"))
        try life.export(1, Self.records(0..<5, "Old"))
        // As in the following stack: without links, and without a mark on the tombstones.
        for table in ["source_links", "source_mentions", "source_work", "pieces"] {
            try life.store.database.execute("DELETE FROM \(table)")
        }
        try life.store.database.execute("UPDATE samples SET flags = 0 WHERE state = 1")
        let follower = try ExportedLife(life.store)
        try follower.export(3, Self.records(0..<5, "New"))
        #expect(try follower.rows().count == 6)
    }
}
