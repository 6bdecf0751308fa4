import HealthModel
import Protocol
import SQLite

/// The data that a stage lets others read, over a connection separate from the writer's.
package protocol PullSource: AnyObject {
    /// Answers one request page by page, all from one read transaction.
    /// - Parameters:
    ///   - question: its anchor has already been checked.
    ///   - consumer: who is asking; nil for a reader that opens the file directly.
    ///   - page: receives one page, below 64 KiB, with `from` and `through` set if the query has a window.
    /// - Throws: `PullRefusal` for a request that makes no sense; `DeliveryError` when the data can't be read now.
    func answer(
        _ question: Question, for consumer: String?, head: StoreHead,
        page: (_ content: any PageContent, _ isLast: Bool) -> Void
    ) throws
}

/// Serves `changes`, the stage's own keyed changelog, and `day`, its data for one day.
package final class ChangelogSource: PullSource {
    private let database: Database

    package init(database: Database) { self.database = database }

    /// How many pages one request may get: a few in flight, within every socket's high-water mark.
    package static let pagesPerRequest = 4

    package func answer(
        _ question: Question, for consumer: String?, head: StoreHead, page: (any PageContent, Bool) -> Void
    ) throws {
        switch question.query {
        case .changes(let topic, let days):
            try changes(question.place, topic: topic ?? "", days: days, head, page)
        // A day has only a few rows: one for each topic, and those for its events.
        case .day(let user, let day, let topic):
            page(
                DayPage(
                    rows: try KeyedChangelog.rows(in: database, user: user, day: day, topic: topic ?? "")), true)
        case .newest(let time):
            page(MomentsPage(sequence: try Moments.sequence(before: time, in: database)), true)
        case .moments(let first, let last):
            guard first <= last else {
                throw PullRefusal("a 'moments' request needs 'before', or 'from' and 'to'")
            }
            let found = try Moments.list(from: first, through: last, in: database)
            page(MomentsPage(moments: found.map { [$0.sequence.value, $0.at.microseconds] }), true)
        case let other:
            throw PullRefusal("unknown query '\(other.name)'; this instance answers changes, day and moments")
        }
    }

    private func changes(
        _ place: PullPlace, topic: String, days: ClosedRange<Int>?, _ head: StoreHead,
        _ page: (any PageContent, Bool) -> Void
    ) throws {
        guard let after = place.after, let until = place.until else {
            throw PullRefusal("a 'changes' request needs 'after' and 'until'")
        }
        var from = after.base
        let end = min(until.base, head.sequence)
        for index in 1...Self.pagesPerRequest {
            let part = try KeyedChangelog.page(
                in: database, after: from, until: end, topic: topic, days: days)
            let last = part.through >= end || index == Self.pagesPerRequest
            page(ChangesPage(rows: part.rows, from: from, through: part.through), last)
            if last { return }
            from = part.through
        }
    }
}
