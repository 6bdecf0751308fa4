import Changelog
import HealthModel
import HealthStore
import Protocol

extension ObserverSource {
    private static let documentsPerPage = 50
    /// A name and a reference may be long.
    private static let rowsPerPage = 40
    private static let bytesPerPage = 48 << 10
    private static let pagesPerDocument = 24

    /// Documents contain what a hospital wrote: only a person's own tools get them.
    func documents(_ query: DocumentsQuery, _ asking: Asking, _ page: (DocumentsPage, Bool) -> Void) throws {
        try access.refuse(asking.consumer, what: "documents")
        let limit = Self.documentsPerPage
        let found = try store.documents(user: query.user, after: query.continue ?? 0, limit: limit)
        let rows = found.map {
            DocumentRow(number: $0.number, user: $0.user, file: $0.file, bytes: $0.bytes, hash: $0.hash)
        }
        let isFull = Set(rows.map(\.number)).count == limit
        for first in stride(from: 0, to: max(1, rows.count), by: Self.rowsPerPage) {
            let part = Array(rows.dropFirst(first).prefix(Self.rowsPerPage))
            let isLast = first + Self.rowsPerPage >= rows.count
            page(DocumentsPage(documents: part, continue: isLast && isFull ? rows.last?.number : nil), isLast)
        }
    }

    /// A document's content from an offset onwards, a few pages at a time; the very last page has the size and hash of
    /// the whole.
    func document(_ query: DocumentQuery, _ asking: Asking, _ page: (FilePage, Bool) -> Void) throws {
        try access.refuse(asking.consumer, what: "documents")
        var at = query.offset
        for part in 1...Self.pagesPerDocument {
            guard let found = try store.document(query.document, from: at, limit: Self.bytesPerPage) else {
                throw PullRefusal("there is no document \(query.document)")
            }
            let isEnd = found.bytes.isEmpty || at + Int64(found.bytes.count) == found.size
            let isLast = isEnd || part == Self.pagesPerDocument
            page(
                FilePage(
                    offset: at, bytes: found.bytes, size: isEnd ? found.size : nil, hash: isEnd ? found.hash : nil),
                isLast)
            if isLast { return }
            at += Int64(found.bytes.count)
        }
    }
}
