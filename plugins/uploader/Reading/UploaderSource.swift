import Changelog
import HealthModel
import Protocol
import SQLite
import StageKit

/// What the uploader answers: its dead letters, and its changelog (alerts).
package final class UploaderSource: PullSource {
    private static let lettersPerPage = 100

    private let database: Database
    private let changelog: ChangelogSource

    package init(database: Database) {
        self.database = database
        changelog = ChangelogSource(database: database)
    }

    package func answer(_ request: Value, head: StoreHead, page: ([String: Value], Bool) -> Void) throws {
        guard request["query"].string == "letters" else {
            return try changelog.answer(request, head: head, page: page)
        }
        var after = request["continue"].int ?? 0
        for part in 1...ChangelogSource.pagesPerRequest {
            let letters = try DeadLetter.page(
                in: database, MendSelection(request), after: after, limit: Self.lettersPerPage)
            let isWhole = letters.count < Self.lettersPerPage
            var members: [String: Value] = ["letters": .array(letters.map(\.wireValue))]
            let isLast = isWhole || part == ChangelogSource.pagesPerRequest
            if isLast, !isWhole, let last = letters.last { members["continue"] = .integer(last.number) }
            page(members, isLast)
            if isLast { return }
            after = letters.last?.number ?? after
        }
    }
}
