/// The observer: the content of a document from an offset on.
package struct DocumentQuery: Query {
    package typealias Answer = FilePage
    package static let name = "document"

    package var document: Int64
    package var offset: Int64
}

extension Query where Self == DocumentQuery {
    package static func document(_ number: Int64, offset: Int64) -> Self { Self(document: number, offset: offset) }
}
