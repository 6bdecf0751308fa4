import Configuration
import Figures
import HealthModel
import HealthViews
import Protocol
import Testing

/// Compares how the manifests describe figures with the code that depends on these descriptions.
@Suite struct ShippedFiguresTests {
    /// A person's own type can't have the name of a figure.
    @Test func allNamesOfFiguresAreTaken() {
        let views = HealthViews(figures: ShippedFigures.all)
        let own: Set = ["user_id", "date", "zone", "final", "revision", "version", "hour", "start_date"]
        let columns = [views[.days], views[.hours]].compactMap { $0 }.flatMap(\.columns).map(\.name)
        let names = ShippedFigures.all.flatMap { figure in
            [figure.path[0], figure.hourly, figure.column?.title].compactMap { $0 } + (figure.explanation?.names ?? [])
        }
        let allowed = Set("abcdefghijklmnopqrstuvwxyz0123456789-_")
        let words = (names + columns).filter { !own.contains($0) }.map { $0.lowercased() }
            .filter { allowed.isSuperset(of: $0) }
        #expect(words.count > 50)
        for word in words { #expect(OwnTypeNames.meaning(of: word) != nil, "\(word)") }
        for free in ["coffee", "my-headache", "tea", "pages-read"] { #expect(OwnTypeNames.meaning(of: free) == nil) }
    }

    @Test func columnsStandAsTheyAlwaysStood() {
        let titles = [
            "Steps", "km", "Floors", "Active kcal", "Basal kcal", "Exercise", "Stand", "HR avg", "Rest HR", "HRV",
            "Asleep", "Workouts", "kg",
        ]
        // There may be columns in between from handlers that were added later.
        #expect(ShippedFigures.all.compactMap(\.column?.title).filter(titles.contains) == titles)
    }

    /// In human-readable form, `days --columns` is exactly as precise as the plain table.
    @Test func numbersForPeopleAreRounded() throws {
        func shown(_ path: [String], _ number: Double) throws -> Double {
            DaysReport.rounded(number, as: try #require(ShippedFigures.all.first { $0.path == path }).column)
        }
        #expect(try shown(["steps"], 11640.647317753142) == 11641)
        #expect(try shown(["distanceMeters"], 8123.6) == 8124)
        #expect(try shown(["bodyMassKilograms"], 71.26) == 71.3)
        #expect(DaysReport.rounded(0.12345, as: nil) == 0.12)
    }

    @Test func unitsAreTheirTypes() throws {
        for figure in ShippedFigures.all {
            guard let how = figure.explanation else { continue }
            #expect(!how.names.isEmpty && !figure.unit.isEmpty, "\(figure.path)")
            #expect(HealthType.known(how.type) != nil, "\(how.type)")
            if [.total, .average, .latest].contains(how.rule) {
                #expect(figure.unit == HealthType.named(how.type).unit, "\(figure.path)")
            }
        }
    }

    /// Even if a handler is replaced, its figures keep their columns; those declared by the replacement come first.
    @Test func aHandlerThatDeclaresNothingKeepsTheFiguresOfItsPlace() throws {
        let figures = ShippedFigures.all
        #expect(figures.count { $0.path == ["steps"] } == 1)
        #expect(Set(figures.map(\.path)).count == figures.count)
    }
}
