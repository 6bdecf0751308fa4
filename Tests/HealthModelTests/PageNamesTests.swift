import HealthModel
import Testing

/// The lists of names that columns point to.
@Suite struct PageNamesTests {
    @Test func namesAreNumberedInOrderOfAppearance() {
        struct Unknown: Error {}
        func nameless() throws -> String { throw Unknown() }
        var places: [String: Int32] = [:]
        var names = ["before"]
        #expect(["b", "a", "b"].map { places.place(of: $0, in: &names, adding: $0.uppercased()) } == [1, 2, 1])
        #expect(names == ["before", "B", "A"])
        // A name that can't be found leaves no trace.
        #expect(throws: Unknown.self) { try places.place(of: "c", in: &names, adding: nameless()) }
        #expect(names.count == 3 && places["c"] == nil)
    }
}
