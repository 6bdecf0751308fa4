import Figures
import HealthModel

/// The columns of the people last asked about: a stack may have a thousand people, and ten years of one person take two
/// megabytes. Pure.
package struct SeriesShelf: Sendable {
    /// The number of people whose columns are kept.
    package static let room = 16

    private struct Person {
        var series: FigureSeries
        /// The number of the last question about this person, counted across all people.
        var asked: Int
        /// Whether all days have been read; columns aren't shown before that.
        var isWhole: Bool
    }

    private let paths: [[String]]
    private var kept: [String: Person] = [:]
    /// Everyone who has ever had a day.
    private var names: Set<String> = []
    private var questions = 0

    package init(_ paths: [[String]]) { self.paths = paths }

    /// Takes the changelog's next row. While there is room, the columns of new people are kept.
    package mutating func take(_ user: String, _ day: LocalDay, _ summary: Value?) {
        if names.insert(user).inserted, kept.count < Self.room {
            kept[user] = Person(series: FigureSeries(paths), asked: 0, isWhole: true)
        }
        kept[user]?.series.take(day, summary)
    }

    /// The people whose earlier days still have to be read.
    package var missing: Set<String> { Set(kept.filter { !$0.value.isWhole }.keys) }

    /// Notes that all of these people's days have been read.
    package mutating func complete(_ people: Set<String>) {
        for user in people { kept[user]?.isWhole = true }
    }

    /// - Returns: nil while the person's days have to be read; to make room, someone else's columns are dropped. A
    ///   person without days has empty columns.
    package mutating func withSeries<Result>(of user: String, _ body: (inout FigureSeries) -> Result) -> Result? {
        questions += 1
        if kept[user] == nil {
            var none = FigureSeries(paths)
            guard names.contains(user) else { return body(&none) }
            if kept.count >= Self.room, let longest = kept.min(by: { $0.value.asked < $1.value.asked }) {
                kept[longest.key] = nil
            }
            kept[user] = Person(series: none, asked: questions, isWhole: false)
        }
        kept[user]?.asked = questions
        guard var person = kept.removeValue(forKey: user) else { return nil }
        defer { kept[user] = person }
        return person.isWhole ? body(&person.series) : nil
    }
}
