import HealthModel
import HealthStore
import SQLite
import TestSupport
import Testing

@Suite struct SliceTests {
    private func store(_ seed: UInt64) throws -> StoreFixture {
        var random = SeededGenerator(seed: seed)
        let store = try StoreFixture()
        let records = (0..<400).map { number in
            // Lengths in whole seconds, including zero; a few samples last days or a year.
            let length =
                number % 50 == 0
                ? Double(Int.random(in: 80_000...31_536_000, using: &random))
                : Double.random(in: 0...900, using: &random).rounded()
            return Record(
                type: ["A", "B", "C"][number % 3], start: Double(Int.random(in: -20_000...400_000, using: &random)) / 2,
                length: number % 4 == 0 ? 0 : length, value: Double(number), metadata: #"{"n":"\#(number)"}"#,
                uuid: uuid(UInt64(number)))
        }
        for part in stride(from: 0, to: 400, by: 100) { try store.add(Array(records[part..<part + 100])) }
        try store.database.transaction { _ = try store.writer.delete(uuids: (0..<40).map { uuid(UInt64($0 * 9)) }) }
        return store
    }

    private func expected(_ store: StoreFixture, _ query: SliceQuery) throws -> [SampleID] {
        let all = try store.changes().samples
        let rows = (0..<all.count).filter { row in
            let start = all.startOf(row)
            let end = all.endOf(row)
            let wanted: Bool =
                switch query.types {
                case .only(let names): names.contains(all.typeName(row))
                case .allExcept(let names): !names.contains(all.typeName(row))
                }
            return wanted && !all.flags[row].contains(.deleted)
                && query.ranges.contains { $0.contains(start) || (start < $0.lowerBound && end > $0.lowerBound) }
        }
        return rows.sorted { (all.start[$0], all.ids[$0]) < (all.start[$1], all.ids[$1]) }.map { all.ids[$0] }
    }

    @Test(arguments: 0..<20)
    func aSliceHoldsWhatOverlaps(_ seed: UInt64) throws {
        let store = try store(seed % 3)
        var random = SeededGenerator(seed: seed &+ 99)
        for _ in 0..<12 {
            let ranges = (0..<Int.random(in: 1...2, using: &random)).map { _ in
                let lower = Int64.random(in: -12_000...210_000, using: &random) * 500_000 * 2
                return Range(microseconds: lower..<(lower + Int64.random(in: 1...90_000_000_000, using: &random)))
            }
            let types: TypeFilter.Types = Bool.random(using: &random) ? .only(["A", "C"]) : .allExcept(["B"])
            let query = SliceQuery(user: "anna", types: types, ranges: ranges)
            let ids = try expected(store, query)
            #expect(try store.slice(query).ids == ids)
            var paged: [SampleID] = []
            var position: SlicePosition?
            let size = Int.random(in: 1...9, using: &random)
            repeat {
                let page = try store.reader.slice(query, after: position, limits: PullLimits(rows: size))
                #expect(page.samples.count <= size)
                paged += page.samples.ids
                position = page.next
            } while position != nil
            #expect(paged == ids)
        }
    }

    @Test func edgesBelongToWhatBeginsThere() throws {
        let store = try StoreFixture()
        try store.add([
            Record(start: 100, length: 0, value: 1), Record(start: 200, length: 0, value: 2),
            Record(start: 50, length: 50, value: 3),
            Record(start: 50, length: 51, value: 4), Record(start: 199, length: 9, value: 5),
        ])
        let query = SliceQuery(user: "anna", types: .allExcept([]), ranges: [100_000_000..<200_000_000])
        #expect(Set(try store.slice(query).value) == [1, 4, 5])
        #expect(try store.slice(SliceQuery(user: "ben", types: .allExcept([]), ranges: query.ranges)).isEmpty)
        #expect(try store.slice(SliceQuery(user: "anna", types: .allExcept([]), ranges: [])).isEmpty)
    }

    @Test func asOfLeavesOutWhatCameLater() throws {
        let store = try StoreFixture()
        try store.add([Record(value: 1)])
        let head = try store.head()
        // A new version of the first sample, and a new sample.
        try store.add([Record(device: "d", value: 1), Record(value: 2)])
        let range = Instant.epoch..<Instant(seconds: 2_000_000_000)
        let early = SliceQuery(user: "anna", types: .allExcept([]), ranges: [range], asOf: head)
        #expect(try store.slice(early).value == [1])
        #expect(try store.slice(early).origins.map(\.device) == ["d"])
        #expect(try store.slice(SliceQuery(user: "anna", types: .allExcept([]), ranges: [range])).count == 2)
    }

    @Test func aFullSliceHasEveryColumn() throws {
        let store = try StoreFixture()
        try store.add([Record(created: 7, metadata: #"{"a":"1"}"#, payload: #"{"b":2}"#, uuid: uuid(5))])
        let range = Instant.epoch..<Instant(seconds: 2_000_000_000)
        let full = try store.slice(
            SliceQuery(user: "anna", types: .allExcept([]), ranges: [range], detailed: .allExcept([])))
        #expect(full.metadata[0] == #"{"a":"1"}"#)
        #expect(full.payload[0] == #"{"b":2}"#)
        #expect(full.healthKitUUID == [uuid(5)])
        #expect(full.created == [7])
        #expect(full.units[Int(full.unit[0])] == "count")
        let plain = try store.slice(SliceQuery(user: "anna", types: .allExcept([]), ranges: [range]))
        #expect(plain.metadata.count == 0)
        #expect(plain.created.isEmpty)
        #expect(plain.units[Int(plain.unit[0])] == "count")
    }

    @Test func onlySomeTypesHaveDetails() throws {
        let store = try StoreFixture()
        let records = (0..<10).map { (number: Int) -> Record in
            let text = #"{"n":"\#(number)"}"#
            return Record(
                type: number == 4 ? "B" : "A", start: Double(number) * 100, value: Double(number), created: 7,
                metadata: text, uuid: uuid(UInt64(number)))
        }
        try store.add(records)
        let query = SliceQuery(
            user: "anna", types: .allExcept([]), ranges: [0..<2_000_000_000], detailed: .only(["B"]))
        var whole = SamplePage()
        var position: SlicePosition?
        var hasDetails: [Bool] = []
        repeat {
            let page = try store.reader.slice(query, after: position, limits: PullLimits(rows: 3))
            position = page.next
            hasDetails.append(page.samples.metadata.count > 0)
            whole.append(page.samples)
        } while position != nil
        // A page without detailed rows lacks these columns; in the combined pages, every row has its own values.
        #expect(hasDetails == [false, true, false, false])
        #expect(whole.metadata.count == 10 && whole.payload.count == 10 && whole.created.count == 10)
        for row in 0..<10 {
            let isDetailed = row == 4
            #expect(whole.metadata[row] == (isDetailed ? #"{"n":"4"}"# : ""))
            #expect(whole.healthKitUUID[row] == (isDetailed ? uuid(4) : nil))
            #expect(whole.created[row] == (isDetailed ? 7 : 0))
        }
        #expect(try store.slice(query).metadata == whole.metadata)
    }

    /// A type that is requested only during the samples of another type: its part of a slice is compared with
    /// everything that the slice would contain otherwise.
    @Test(arguments: 0..<20)
    func duringAnotherType(_ seed: UInt64) throws {
        let store = try store(seed % 3)
        var random = SeededGenerator(seed: seed &+ 7)
        for _ in 0..<8 {
            let lower = Instant(seconds: Int64.random(in: -12_000...210_000, using: &random))
            let range = lower..<(lower + .microseconds(Int64.random(in: 1...90_000_000_000, using: &random)))
            var query = SliceQuery(user: "anna", types: .only(["A", "B"]), ranges: [range])
            let all = try store.slice(query)
            let others = try store.slice(SliceQuery(user: "anna", types: .only(["C"]), ranges: [range]))
            let during = others.start.indices.map { row in
                (others.start[row]..<max(others.end[row], others.start[row] + 1)).clamped(to: range.microseconds)
            }
            let expected = (0..<all.count).filter { row in
                let (start, end) = (all.start[row], max(all.end[row], all.start[row] + 1))
                return all.typeName(row) == "B" || during.contains { start < $0.upperBound && end > $0.lowerBound }
            }
            query.during = ["A": "C"]
            #expect(try store.slice(query).ids == expected.map { all.ids[$0] })
            var paged: [SampleID] = []
            var position: SlicePosition?
            repeat {
                let page = try store.reader.slice(query, after: position, limits: PullLimits(rows: 3))
                paged += page.samples.ids
                position = page.next
            } while position != nil
            #expect(paged == expected.map { all.ids[$0] })
        }
    }

    @Test func oneReadTransactionShowsOneMoment() throws {
        let store = try StoreFixture()
        try store.add((0..<10).map { Record(start: Double($0), value: Double($0)) })
        let connection = try Database(path: store.path, mode: .readOnly)
        let reader = try HealthStoreReader(database: connection)
        let query = SliceQuery(user: "anna", types: .allExcept([]), ranges: [0..<1_000_000_000])
        try connection.readTransaction {
            var page = try reader.slice(query, after: nil, limits: PullLimits(rows: 4))
            var values = page.samples.value
            try store.add((0..<10).map { Record(start: Double($0) + 0.5, length: 1, value: 99) })
            while let next = page.next {
                page = try reader.slice(query, after: next, limits: PullLimits(rows: 4))
                values += page.samples.value
            }
            #expect(values == (0..<10).map(Double.init))
        }
        #expect(try reader.slice(query, after: nil, limits: PullLimits()).samples.count == 20)
    }

    @Test func aSecondWithMoreRowsThanAPageIsPaged() throws {
        let store = try StoreFixture()
        try store.add(
            (0..<3000).map { Record(start: 100 + Double($0 % 7) / 10, length: 1 + Double($0), value: Double($0)) })
        let query = SliceQuery(user: "anna", types: .allExcept([]), ranges: [0..<1_000_000_000])
        let ids = try expected(store, query)
        #expect(ids.count == 3000)
        var paged: [SampleID] = []
        var position: SlicePosition?
        repeat {
            let page = try store.reader.slice(query, after: position, limits: PullLimits(rows: 11 * 20))
            paged += page.samples.ids
            position = page.next
        } while position != nil
        #expect(paged == ids)
    }
}
