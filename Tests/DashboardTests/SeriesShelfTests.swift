import DashboardStage
import Figures
import HealthModel
import Inspection
import Testing

/// Which people's columns the dashboard keeps.
struct SeriesShelfTests {
    private static let paths = [["steps"]]
    private static let day = LocalDay(number: 20_000)

    private func shelf(people: Int) -> SeriesShelf {
        var shelf = SeriesShelf(Self.paths)
        for number in 1...people { shelf.take("user-\(number)", Self.day, ["steps": .integer(Int64(number))]) }
        return shelf
    }

    private func text(_ user: String, _ shelf: inout SeriesShelf) -> String? {
        shelf.withSeries(of: user) { String(decoding: $0.json([0], DateRange()), as: UTF8.self) }
    }

    @Test func allOfAHouseholdAreKept() {
        var shelf = shelf(people: SeriesShelf.room)
        for number in 1...SeriesShelf.room {
            #expect(text("user-\(number)", &shelf)?.contains("[\(number)]") == true)
        }
        #expect(shelf.missing.isEmpty)
    }

    @Test func somebodyWithoutDaysHasEmptyColumns() {
        var shelf = shelf(people: 3)
        #expect(text("nobody", &shelf)?.contains("\"dates\":[]") == true)
        #expect(shelf.missing.isEmpty)
    }

    /// If there is no room, the requested person replaces the one requested least recently.
    @Test func whoIsAskedAboutIsReadAgain() {
        let last = "user-\(SeriesShelf.room + 1)"
        var shelf = shelf(people: SeriesShelf.room + 1)
        for number in 2...SeriesShelf.room { _ = text("user-\(number)", &shelf) }
        #expect(text(last, &shelf) == nil)
        #expect(shelf.missing == [last])
        // While the columns are being read, new days are added but not shown.
        shelf.take(last, Self.day, ["steps": 5])
        #expect(text(last, &shelf) == nil)
        shelf.complete([last])
        #expect(text(last, &shelf)?.contains("[5]") == true)
        #expect(shelf.missing.isEmpty)
        // Only the first person lost their place.
        #expect(text("user-2", &shelf)?.contains("[2]") == true)
        #expect(text("user-1", &shelf) == nil)
    }

    @Test func changesOfOthersArePassedOver() {
        var shelf = shelf(people: SeriesShelf.room + 1)
        let last = "user-\(SeriesShelf.room + 1)"
        shelf.take(last, Self.day, ["steps": 7])
        #expect(shelf.missing.isEmpty)
        #expect(text(last, &shelf) == nil && shelf.missing == [last])
    }
}
