import HealthModel
import Protocol
import SQLite

/// Serves `changes`, the stage's own keyed changelog, and `day`, its data for one day.
package final class ChangelogSource: PullSource {
    package static let answers: [QueryAnswer<ChangelogSource>] = [
        .by(ChangelogSource.changes), .by(ChangelogSource.day), .by(ChangelogSource.moments),
    ]
    /// How many pages one request may get: a few in flight, within every socket's high-water mark.
    package static let pagesPerRequest = 4

    private let database: Database
    private let pageBytes: Int

    /// - Parameter pageBytes: about how long a page of `changes` may be.
    package init(database: Database, pageBytes: Int = KeyedChangelog.pageBytes) {
        (self.database, self.pageBytes) = (database, pageBytes)
    }

    /// A day has only a few rows: one for each topic, and those for its events.
    private func day(_ query: DayQuery, _: Asking, _ page: (DayPage, Bool) -> Void) throws {
        page(
            DayPage(
                rows: try KeyedChangelog.rows(
                    in: database, user: query.user, day: query.day, topic: query.topic ?? "")), true)
    }

    private func moments(_ query: MomentsQuery, _: Asking, _ page: (MomentsPage, Bool) -> Void) throws {
        if let time = query.before {
            return page(MomentsPage(sequence: try Moments.sequence(before: time, in: database)), true)
        }
        guard let first = query.from, let last = query.to, first <= last else {
            throw PullRefusal("a 'moments' request needs 'before', or 'from' and 'to'")
        }
        let found = try Moments.list(from: first, through: last, in: database)
        page(MomentsPage(moments: found.map { [$0.sequence.value, $0.at.microseconds] }), true)
    }

    private func changes(_ query: ChangesQuery, _ asking: Asking, _ page: (ChangesPage, Bool) -> Void) throws {
        let days = try query.range()
        guard let after = asking.place.after, let until = asking.place.until else {
            throw PullRefusal("a 'changes' request needs 'after' and 'until'")
        }
        var from = after.base
        let end = min(until.base, asking.head.sequence)
        for index in 1...Self.pagesPerRequest {
            let part = try KeyedChangelog.page(
                in: database, after: from, until: end, topic: query.topic ?? "", days: days, bytes: pageBytes)
            let last = part.through >= end || index == Self.pagesPerRequest
            page(ChangesPage(rows: part.rows, from: from, through: part.through), last)
            if last { return }
            from = part.through
        }
    }
}
