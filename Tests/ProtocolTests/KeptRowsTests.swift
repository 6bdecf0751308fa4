import HealthModel
import Protocol
import TestSupport
import Testing

/// Which rows of a page go to a consumer that asked for only some of them.
@Suite struct KeptRowsTests {
    /// Rows of two users, types, units and origins in turn.
    private func page(_ count: Int = 600) -> SamplesPage {
        SamplesPage(
            samples: PageFixture.samples(count, isFull: true), users: ["anna", "bob"],
            user: (0..<count).map { Int32($0 % 2) }, from: 1, through: 9, bulk: true)
    }

    @Test func namesOfOtherRowsStayBehind() {
        let page = page()
        // Odd rows with the second origin; they are the second user's and have the second type.
        let rows = (0..<page.samples.count).filter { $0 % 2 == 1 && $0 / 3 % 2 == 1 }
        let kept = page.keeping(rows)
        #expect(kept.users == ["bob"] && kept.samples.types == [page.samples.types[1]])
        #expect(kept.samples.units == [page.samples.units[1]] && kept.samples.origins == [page.samples.origins[1]])
        #expect(kept.isOwned && kept.from == 1 && kept.through == 9 && kept.bulk == true)
    }

    @Test func rowsStayAsTheyWere() {
        let page = page()
        let rows = (0..<page.samples.count).filter { $0 % 5 != 0 }
        let (old, kept) = (page.samples, page.keeping(rows))
        #expect(kept.samples.count == rows.count && kept.isOwned)
        for (row, before) in zip(kept.samples.ids.indices, rows) {
            let new = kept.samples
            #expect(new.ids[row] == old.ids[before] && new.sequence[row] == old.sequence[before])
            #expect(new.typeName(row) == old.typeName(before) && new.originOf(row) == old.originOf(before))
            #expect(new.units[Int(new.unit[row])] == old.units[Int(old.unit[before])])
            #expect(new.metadata[row] == old.metadata[before])
            #expect(kept.users[Int(kept.user[row])] == page.users[Int(page.user[before])])
        }
    }

    @Test func noRowsAreNoNames() throws {
        let kept = page().keeping([])
        #expect(kept.users.isEmpty && kept.user.isEmpty)
        #expect(kept.samples.types.isEmpty && kept.samples.units.isEmpty && kept.samples.origins.isEmpty)
        #expect(try SamplePage(wireValue: kept.samples.wireValue).isEmpty)
    }

    /// Most pages are wanted whole: none of their columns is copied, and no name is looked at.
    @Test func aWholePageIsHandedOutAsItLies() {
        func places(_ page: SamplesPage) -> [UnsafeRawPointer?] {
            func place<Element>(_ column: [Element]) -> UnsafeRawPointer? {
                column.withUnsafeBytes { $0.baseAddress }
            }
            let samples = page.samples
            return [
                place(samples.types), place(samples.units), place(samples.origins), place(samples.ids),
                place(samples.sequence), place(samples.type), place(samples.start), place(samples.value),
                place(samples.origin), place(samples.unit), place(samples.metadata.bytes),
                place(samples.metadata.ends), place(samples.healthKitUUID), place(page.users), place(page.user),
            ]
        }
        var page = page()
        // A name that no row uses proves that names aren't renumbered.
        page.samples.units.append("nobody's")
        let whole = Array(0..<page.samples.count)
        #expect(places(page.keeping(whole)) == places(page))
        #expect(page.samples.keeping(whole).units.last == "nobody's")
        let fewer = places(page.keeping(Array(whole.dropLast())))
        #expect(!zip(fewer, places(page)).contains { $0 == $1 }, "the comparison sees copies")
    }
}
