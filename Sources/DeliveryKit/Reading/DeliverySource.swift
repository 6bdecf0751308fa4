import Changelog
import HealthModel
import Protocol
import SQLite
import StageKit

/// What the uploader gives in answer to queries: its dead letters, those that a person dropped, its conflicts, and its
/// changelog (alerts).
package final class DeliverySource: PullSource {
    package static let answers: [QueryAnswer<DeliverySource>] =
        [.by(DeliverySource.letters), .by(DeliverySource.proof), .by(DeliverySource.conflicts)]
        + ChangelogSource.answers.map { $0.through { $0.changelog } }
    private static let perPage = 100
    /// A page takes up to about 32 KiB.
    private static let droppedPerPage = 200

    private let database: Database
    private let changelog: ChangelogSource

    package init(database: Database) {
        self.database = database
        changelog = ChangelogSource(database: database)
    }

    private func letters(_ query: LettersQuery, _: Asking, _ page: (LettersPage, Bool) -> Void) throws {
        if query.dropped == true {
            let elements = try DroppedElement.page(
                in: database, after: query.continue ?? 0, limit: Self.droppedPerPage)
            let isWhole = elements.count < Self.droppedPerPage
            return page(
                LettersPage(letters: [], dropped: elements, continue: isWhole ? nil : elements.last?.number), true)
        }
        try answer(after: query.continue, page) { after in
            let letters = try DeadLetter.page(in: database, query.selection, after: after, limit: Self.perPage)
            return (letters.count, letters.last?.number, { LettersPage(letters: letters, continue: $0) })
        }
    }

    private func proof(_ query: ProofQuery, _: Asking, _ page: (ProofPage, Bool) -> Void) throws {
        page(try ProofTable.page(in: database, after: query.continue ?? 0, limit: Self.perPage), true)
    }

    private func conflicts(_ query: ConflictsQuery, _: Asking, _ page: (ConflictsPage, Bool) -> Void) throws {
        try answer(after: query.continue, page) { after in
            let conflicts = try DeliveryConflict.page(in: database, after: after, limit: Self.perPage)
            return (conflicts.count, conflicts.last?.number, { ConflictsPage(conflicts: conflicts, continue: $0) })
        }
    }

    /// - Parameter part: returns the entries after a number: how many there are, the number of the last one, and their
    ///   page.
    private func answer<Content: PageContent>(
        after: Int64?, _ page: (Content, Bool) -> Void,
        part: (Int64) throws -> (count: Int, last: Int64?, page: (Int64?) -> Content)
    ) throws {
        var after = after ?? 0
        for number in 1...ChangelogSource.pagesPerRequest {
            let found = try part(after)
            let isWhole = found.count < Self.perPage
            let isLast = isWhole || number == ChangelogSource.pagesPerRequest
            page(found.page(isLast && !isWhole ? found.last : nil), isLast)
            if isLast { return }
            after = found.last ?? after
        }
    }
}
