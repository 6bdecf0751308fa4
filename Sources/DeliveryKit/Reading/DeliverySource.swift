import Changelog
import HealthModel
import Protocol
import SQLite
import StageKit

/// What the uploader gives in answer to queries: its dead letters, those that a person dropped, its conflicts, and its
/// changelog (alerts).
package final class DeliverySource: PullSource {
    private static let perPage = 100
    /// A page takes up to about 32 KiB.
    private static let droppedPerPage = 200

    private let database: Database
    private let changelog: ChangelogSource

    package init(database: Database) {
        self.database = database
        changelog = ChangelogSource(database: database)
    }

    package func answer(
        _ question: Question, for consumer: String?, head: StoreHead, page: (any PageContent, Bool) -> Void
    ) throws {
        switch question.query {
        case .letters(_, true?, let after):
            let elements = try DroppedElement.page(in: database, after: after ?? 0, limit: Self.droppedPerPage)
            let isWhole = elements.count < Self.droppedPerPage
            page(LettersPage(letters: [], dropped: elements, continue: isWhole ? nil : elements.last?.number), true)
        case .letters(let selection, _, let after):
            try answer(after: after, page) { after in
                let letters = try DeadLetter.page(in: database, selection, after: after, limit: Self.perPage)
                return (letters.count, letters.last?.number, { LettersPage(letters: letters, continue: $0) })
            }
        case .proof(let after):
            page(try ProofTable.page(in: database, after: after ?? 0, limit: Self.perPage), true)
        case .conflicts(let after):
            try answer(after: after, page) { after in
                let conflicts = try DeliveryConflict.page(in: database, after: after, limit: Self.perPage)
                return (conflicts.count, conflicts.last?.number, { ConflictsPage(conflicts: conflicts, continue: $0) })
            }
        default: try changelog.answer(question, for: consumer, head: head, page: page)
        }
    }

    /// - Parameter part: returns the entries after a number: how many there are, the number of the last one, and their
    ///   page.
    private func answer(
        after: Int64?, _ page: (any PageContent, Bool) -> Void,
        part: (Int64) throws -> (count: Int, last: Int64?, page: (Int64?) -> any PageContent)
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
