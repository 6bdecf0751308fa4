import HealthModel
import Protocol
import SQLite

/// What a stage lets others read, from a connection of its own beside the writer.
package protocol PullSource: AnyObject {
    /// Answers one request page by page, all from one read transaction.
    /// - Parameters:
    ///   - request: its members; the anchor has been checked already.
    ///   - page: gives one page: its members, of about 48 KiB at most, with `through` on the last one where the query has a window.
    /// - Throws: `PullRefusal` for a request that makes no sense; `DeliveryError` when the data can't be read now.
    func answer(_ request: Value, head: StoreHead, page: (_ members: [String: Value], _ last: Bool) -> Void) throws
}

/// Serves `changes`, the stage's own keyed changelog, and `day`, what it holds of one day.
package final class ChangelogSource: PullSource {
    private let database: Database

    package init(database: Database) { self.database = database }

    /// Pages that one request may draw: a few in flight, within every socket's high-water mark.
    package static let pagesPerRequest = 4

    package func answer(_ request: Value, head: StoreHead, page: ([String: Value], Bool) -> Void) throws {
        switch request["query"].string {
        case "changes": try changes(request, head, page)
        case "day": try day(request, page)
        case "moments": try moments(request, page)
        case let other: throw PullRefusal("unknown query '\(other ?? "")'; this instance answers changes, day, moments")
        }
    }

    /// When the sequences of a range were committed, or which was the newest before a time.
    private func moments(_ request: Value, _ page: ([String: Value], Bool) -> Void) throws {
        if let time = request["before"].int {
            return page(["sequence": .integer(try Moments.sequence(before: time, in: database))], true)
        }
        guard let first = request["from"].int, let last = request["to"].int, first <= last else {
            throw PullRefusal("a 'moments' request needs 'before', or 'from' and 'to'")
        }
        let found = try Moments.list(from: first, through: last, in: database)
        page(["moments": .array(found.map { [.integer($0.sequence), .integer($0.at)] })], true)
    }

    /// A day has a few rows: of each topic one, and its events.
    private func day(_ request: Value, _ page: ([String: Value], Bool) -> Void) throws {
        guard let user = request["user"].string, let day = request["day"].int else {
            throw PullRefusal("a 'day' request needs 'user' and 'day'")
        }
        let rows = try KeyedChangelog.rows(
            in: database, user: user, day: Int(day), topic: request["topic"].string ?? "")
        page(["rows": .array(rows.map(\.wireValue))], true)
    }

    private func changes(_ request: Value, _ head: StoreHead, _ page: ([String: Value], Bool) -> Void) throws {
        guard let after = request["after"].read(AnchorVector.self),
            let until = request["until"].read(AnchorVector.self)
        else {
            throw PullRefusal("a 'changes' request needs 'after' and 'until'")
        }
        var days: ClosedRange<Int>?
        if let first = request["days"].array?.first?.int, let last = request["days"].array?.last?.int {
            guard first <= last else { throw PullRefusal("'days' ends before it begins") }
            days = Int(first)...Int(last)
        }
        var from = after.base
        let end = min(until.base, head.sequence)
        for index in 1...Self.pagesPerRequest {
            let part = try KeyedChangelog.page(
                in: database, after: from, until: end, topic: request["topic"].string ?? "", days: days)
            let last = part.through >= end || index == Self.pagesPerRequest
            page(
                [
                    "rows": .array(part.rows.map(\.wireValue)), "from": .integer(from),
                    "through": .integer(part.through),
                ], last)
            if last { return }
            from = part.through
        }
    }
}
