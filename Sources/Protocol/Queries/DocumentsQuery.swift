import HealthModel

/// The observer: files that it keeps beside the samples, in numerical order; without a user, those of all users.
package struct DocumentsQuery: Query {
    package typealias Answer = DocumentsPage
    package static let name = "documents"

    @IfReadable package var user: String?
    @IfReadable package var `continue`: Int64?
}

extension Query where Self == DocumentsQuery {
    package static func documents(user: String? = nil, after: Int64? = nil) -> Self {
        Self(user: user, continue: after)
    }
}

/// Files that came with an export's samples, which the observer keeps whole; in order of number.
package struct DocumentsPage: PageContent, Equatable {
    package var documents: [DocumentRow]
    /// Set on the last part if there is more: pass it in the next request.
    package var `continue`: Int64?

    package init(documents: [DocumentRow], continue number: Int64? = nil) {
        self.documents = documents
        `continue` = number
    }
}

/// A document under one of its names in an archive. Its content comes from a separate query, as a `FilePage`.
package struct DocumentRow: Codable, Sendable, Equatable {
    /// The store's own number; names for the same content share it.
    package var number: Int64
    package var user: String
    package var kind: DocumentKind
    /// Its path in the archive that contained it.
    package var name: String
    package var mediaType: String
    package var bytes: Int64
    /// XXH3-128 of its content, 16 bytes.
    package var hash: [UInt8]
    /// What refers to it; null when nothing does.
    @OrNull package var reference: DocumentReference?

    package init(number: Int64, user: String, file: DocumentFile, bytes: Int64, hash: [UInt8]) {
        (self.number, self.user) = (number, user)
        kind = file.kind
        name = file.name
        mediaType = file.mediaType
        (self.bytes, self.hash) = (bytes, hash)
        reference = file.reference
    }
}
