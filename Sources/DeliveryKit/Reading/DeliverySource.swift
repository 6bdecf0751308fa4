import Changelog
import HealthModel
import Protocol
import SQLite
import StageKit

/// What the uploader answers: its dead letters, what a person dropped of them, and its changelog (alerts).
package final class DeliverySource: PullSource {
    private static let lettersPerPage = 100
    /// Up to about 32 KiB.
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
        guard case .letters(let selection, let dropped, var after) = question.query else {
            return try changelog.answer(question, for: consumer, head: head, page: page)
        }
        if dropped == true {
            let elements = try DroppedElement.page(in: database, after: after ?? 0, limit: Self.droppedPerPage)
            let isWhole = elements.count < Self.droppedPerPage
            return page(
                LettersPage(letters: [], dropped: elements, continue: isWhole ? nil : elements.last?.number), true)
        }
        for part in 1...ChangelogSource.pagesPerRequest {
            let letters = try DeadLetter.page(
                in: database, selection, after: after ?? 0, limit: Self.lettersPerPage)
            let isWhole = letters.count < Self.lettersPerPage
            let isLast = isWhole || part == ChangelogSource.pagesPerRequest
            page(LettersPage(letters: letters, continue: isLast && !isWhole ? letters.last?.number : nil), isLast)
            if isLast { return }
            after = letters.last?.number ?? after
        }
    }
}
