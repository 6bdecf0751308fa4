import DeliveryKit
import HealthModel
import Protocol
import TestSupport
import Testing
import UploaderReading

/// A request in columns includes the names of its own samples, and no others: not even those of other people on the
/// same page.
struct ColumnsNamesTests {
    /// One row per user and letter, each a second after the previous one, with a type, a unit and a source named after
    /// both.
    private static func page(_ rows: [(user: String, letter: String)], flags: [SampleFlags]? = nil) -> SamplesPage {
        var page = SamplePage()
        let users = Array(Set(rows.map(\.user))).sorted()
        for (row, name) in rows.enumerated() {
            let own = "\(name.user)-\(name.letter)"
            page.types.append("type-\(own)")
            page.units.append("unit-\(own)")
            page.origins.append(Origin(sourceName: "source-\(own)", device: "device-\(own)"))
            page.ids.append(SampleID(high: 5, low: UInt64(row)))
            page.sequence.append(Int64(row + 1))
            page.start.append(Int64(row) * 1_000_000)
            page.value.append(Double(row))
            for column in [\SamplePage.type, \.unit, \.origin] { page[keyPath: column].append(Int32(row)) }
        }
        page.end = page.start
        page.flags = flags ?? rows.map { _ in [] }
        return SamplesPage(
            samples: page, users: users, user: rows.map { row in Int32(users.firstIndex(of: row.user) ?? 0) })
    }

    private static func groups(_ pages: [SamplesPage]) throws -> [DeliveryGroup] {
        try DeliveryGroup.groups(samples: pages, from: "observer", family: { _ in .other })
    }

    private static func body(_ group: DeliveryGroup, _ part: Range<Int>? = nil) throws -> [UInt8] {
        try #require(group.columns(part ?? 0..<group.count, deviceId: "phone", syncedAt: 5))
    }

    /// The names of these users ("user-letter") that occur anywhere in a body.
    private static func named(_ body: [UInt8], of all: [String]) -> [String] {
        let text = String(decoding: body, as: UTF8.self)
        return all.filter { text.contains($0) }
    }

    @Test func aPersonsRequestHasNoNameOfAnothers() throws {
        let first = Self.page([("anna", "a"), ("ben", "b"), ("anna", "c"), ("ben", "d")])
        let second = Self.page([("ben", "e"), ("anna", "f"), ("anna", "g")])
        let groups = try Self.groups([first, second])
        try #require(groups.map(\.user) == ["anna", "ben"])
        for (group, others) in zip(groups, ["ben", "anna"]) {
            let body = try Self.body(group)
            #expect(Self.named(body, of: [others]) == [])
            let samples = try SampleDelivery(body: body).samples
            try #require(samples.count == group.count)
            for row in 0..<samples.count {
                let own = samples.typeName(row).dropFirst("type-".count)
                #expect(own.hasPrefix(group.user) && samples.originOf(row).sourceName == "source-\(own)")
                #expect(samples.units[Int(samples.unit[row])] == "unit-\(own)")
            }
        }
    }

    @Test func aPartHasNoNameOfTheRest() throws {
        let pages = [["a", "b"], ["c", "d"], ["e"]].map { letters in Self.page(letters.map { ("anna", $0) }) }
        let group = try #require(try Self.groups(pages).first)
        let all = ["a", "b", "c", "d", "e"].map { "anna-\($0)" }
        #expect(try Self.named(Self.body(group), of: all) == all)
        #expect(try Self.named(Self.body(group, 1..<3), of: all) == ["anna-b", "anna-c"])
        #expect(try SampleDelivery(body: Self.body(group, 1..<3)).samples.value == [1, 0])
        // Samples that are too old for a destination stay here, and so do their names.
        var later = pages[0]
        later.samples.end = [1, 5]
        let first = DeliverSince(Instant(microseconds: 2))
        let recent = try #require(try Self.groups([later, pages[1]]).first?.recent(since: first).group)
        #expect(try Self.named(Self.body(recent), of: all) == ["anna-b", "anna-d"])
    }

    @Test func whatIsDeletedOrQuarantinedIsntNamed() throws {
        let page = Self.page(
            ["a", "b", "c", "d"].map { ("anna", $0) }, flags: [[], .deleted, .quarantined, []])
        let body = try Self.body(try #require(try Self.groups([page]).first))
        #expect(Self.named(body, of: ["anna-a", "anna-b", "anna-c", "anna-d"]) == ["anna-a", "anna-d"])
        #expect(try SampleDelivery(body: body).deleted == [SampleID(high: 5, low: 1)])
    }

    /// Most pages belong to one person and are sent whole, so that no column is copied, and no name is looked up.
    @Test func aWholePageIsTakenAsItLies() throws {
        var page = Self.page([("anna", "a"), ("anna", "b")])
        page.samples.units.append("nobodys")
        let group = try #require(try Self.groups([page]).first)
        guard case .samples(let taken) = group.content else {
            Issue.record("no samples")
            return
        }
        func place<Element>(_ column: [Element]) -> UnsafeRawPointer? { column.withUnsafeBytes { $0.baseAddress } }
        #expect(place(taken.ids) == place(page.samples.ids) && place(taken.origin) == place(page.samples.origin))
        #expect(place(taken.types) == place(page.samples.types))
        #expect(try Self.named(Self.body(group), of: ["nobodys"]) == ["nobodys"])
    }
}
