import HealthModel
import HealthStore
import SQLite
import TestSupport
import Testing

@Suite struct AnchoredTests {
    /// A few hundred rows of a few types and two users, some of them changed or deleted.
    private func life(_ seed: UInt64) throws -> StoreFixture {
        var random = SeededGenerator(seed: seed)
        let store = try StoreFixture()
        let ben = try HealthStoreWriter(database: store.database, user: "ben", sequences: store.sequences)
        var records = (0..<300).map { number in
            Record(
                type: ["A", "B", "C", "HKWorkoutTypeIdentifier"][Int.random(in: 0...3, using: &random)],
                start: Double(Int.random(in: 0...2_000_000, using: &random)),
                length: Double(Int.random(in: 0...200, using: &random)),
                value: Double(Int.random(in: -1...9, using: &random)),
                metadata: #"{"n":"\#(number)"}"#, uuid: number % 7 == 0 ? uuid(UInt64(number)) : nil)
        }
        for part in stride(from: 0, to: 300, by: 60) {
            let slice = Array(records[part..<part + 60])
            try store.add(slice)
            try store.database.transaction {
                _ = try ben.ingest(
                    Record.batch(Array(slice.prefix(9))), session: ImportSession(source: "ben"),
                    plausibility: Record.plausibility)
            }
        }
        records.shuffle(using: &random)
        for index in records.indices { records[index].device = "d" }
        try store.add(Array(records.prefix(40)))
        try store.database.transaction {
            _ = try store.writer.delete(uuids: (0..<20).map { uuid(UInt64($0 * 7)) })
        }
        return store
    }

    @Test(arguments: [
        PullLimits(rows: 1), PullLimits(rows: 7), PullLimits(bytes: 300), PullLimits(scanned: 1),
        PullLimits(scanned: 13),
    ])
    func anyPageSizeGivesTheSame(_ limits: PullLimits) throws {
        let store = try life(1)
        let whole = try store.changes()
        #expect(whole.isComplete)
        #expect(whole.covered == (try store.head()))
        #expect(zip(whole.samples.sequence, whole.samples.sequence.dropFirst()).allSatisfy { $0 < $1 })
        var rows: [Row] = []
        var covered = SequenceNumber.beginning
        var pages = 0
        while true {
            let page = try store.reader.anchored(
                TypeFilter(types: .allExcept([])), PullWindow(SequenceWindow(after: covered)), limits: limits)
            #expect(page.covered > covered)
            #expect(page.samples.sequence.allSatisfy { $0 > covered.value && $0 <= page.covered.value })
            rows += page.samples.rows(users: page.user.map { page.users[Int($0)] })
            covered = page.covered
            pages += 1
            if page.isComplete { break }
        }
        #expect(pages > 1)
        #expect(rows == whole.samples.rows(users: whole.user.map { whole.users[Int($0)] }))
    }

    @Test func aRowAppearsOnceAtItsNewestChange() throws {
        let store = try StoreFixture()
        try store.add([Record(), Record(start: 5)])
        let anchor = try store.head()
        try store.add([Record(device: "name:Apple Watch")])
        let page = try store.reader.anchored(.samples, PullWindow(SequenceWindow(after: anchor)))
        #expect(page.samples.count == 1)
        #expect(try store.changes().samples.count == 2)
    }

    @Test func filtersByUserAndType() throws {
        let store = try life(2)
        let all = try store.changes()
        for (filter, type, user) in [
            (TypeFilter(users: ["ben"], types: .only(["A", "B"])), ["A", "B"], ["ben"]),
            (TypeFilter.samples, ["A", "B", "C"], ["anna", "ben"]),
            (TypeFilter(users: ["nobody"], types: .allExcept([])), [], []),
            (TypeFilter(types: .only(["unknown"])), [], ["anna"]),
        ] {
            let page = try store.reader.anchored(
                filter, PullWindow(SequenceWindow(after: 0)), limits: PullLimits(rows: 10_000, bytes: 10_000_000))
            let expected = (0..<all.samples.count).filter {
                type.contains(all.samples.typeName($0)) && user.contains(all.users[Int(all.user[$0])])
            }
            #expect(page.samples.sequence == expected.map { all.samples.sequence[$0] })
            #expect(page.covered == all.covered)
        }
    }

    @Test func typesHaveWindowsOfTheirOwn() throws {
        let store = try life(3)
        let all = try store.changes()
        let middle = all.samples.sequence[all.samples.count / 2]
        let quarter = all.samples.sequence[all.samples.count / 4]
        let window = PullWindow(
            SequenceWindow(after: SequenceNumber(middle)),
            exceptions: [
                "A": SequenceWindow(after: SequenceNumber(quarter)),
                "B": SequenceWindow(after: SequenceNumber(middle), through: SequenceNumber(middle + 20)),
            ])
        let page = try store.reader.anchored(
            TypeFilter(types: .allExcept([])), window, limits: PullLimits(rows: 10_000, bytes: 10_000_000))
        let expected = (0..<all.samples.count).filter { row in
            let sequence = all.samples.sequence[row]
            return switch all.samples.typeName(row) {
            case "A": sequence > quarter
            case "B": sequence > middle && sequence <= middle + 20
            default: sequence > middle
            }
        }
        #expect(page.samples.sequence == expected.map { all.samples.sequence[$0] })
        #expect(page.covered == all.covered)
    }

    @Test func anEmptyStoreIsCoveredToo() throws {
        let store = try StoreFixture()
        let page = try store.reader.anchored(.samples, PullWindow(SequenceWindow(after: 12)))
        #expect(page.samples.isEmpty)
        #expect(page.covered == 12)
        #expect(page.isComplete)
    }

    @Test(arguments: [1, 3, 1000])
    func spansCoverEveryChange(_ rows: Int) throws {
        let store = try life(4)
        let all = try store.changes()
        var covered = SequenceNumber.beginning
        var spans: [TouchedSpan] = []
        var sizes: [Int] = []
        while true {
            let page = try store.reader.spans(
                TypeFilter(types: .allExcept([])), PullWindow(SequenceWindow(after: covered)),
                limits: PullLimits(rows: rows))
            spans += page.spans
            sizes.append(page.spans.count)
            covered = page.covered
            if page.isComplete { break }
        }
        #expect(covered == all.covered)
        #expect(sizes.allSatisfy { $0 <= rows })
        for row in 0..<all.samples.count {
            let start = all.samples.start[row]
            let end = max(all.samples.end[row], start + 1)
            #expect(
                spans.contains {
                    $0.type == all.samples.typeName(row) && $0.user == all.users[Int(all.user[row])]
                        && $0.start.microseconds <= start
                        && $0.end.microseconds >= end
                })
        }
    }

    @Test func neighboursWithinAnHourAreOneSpan() throws {
        let store = try StoreFixture()
        try store.add((0..<1000).map { Record(start: Double($0) * 1800, length: 0) })
        try store.add([Record(start: 3_000_000)])
        let page = try store.reader.spans(.samples, PullWindow(SequenceWindow(after: 0)))
        #expect(page.spans.map(\.start.microseconds) == [0, 3_000_000_000_000])
        let ends: [Int64] = [1_798_200_000_001, 3_000_060_000_000]
        #expect(page.spans.map(\.end.microseconds) == ends)
    }

    @Test func headsCountWhatIsThere() throws {
        let store = try life(5)
        let all = try store.changes()
        let types = try store.reader.heads()
        #expect(try store.head() == all.covered)
        for entry in types {
            let rows = (0..<all.samples.count).filter {
                all.samples.typeName($0) == entry.type && all.users[Int(all.user[$0])] == entry.user
            }
            let alive = rows.filter { !all.samples.flags[$0].contains(.deleted) }
            #expect(entry.alive == alive.count)
            #expect(entry.deleted == rows.count - alive.count)
            #expect(entry.firstStart == alive.map { all.samples.startOf($0) }.min())
            #expect(entry.lastStart == alive.map { all.samples.startOf($0) }.max())
            #expect(entry.lastEnd == alive.map { all.samples.endOf($0) }.max())
            #expect(entry.sequence.value >= rows.map { all.samples.sequence[$0] }.max() ?? 0)
        }
        #expect(try store.reader.heads(user: "ben").allSatisfy { $0.user == "ben" })
    }
}
