import HealthModel

extension HealthStoreWriter {
    /// Stores a document, or a part of a long one. Content that is already known isn't stored again; only the file's
    /// name and its reference are updated to the latest.
    /// - Returns: whether this part completes the document and the document is new.
    /// - Throws: `HealthStoreError.brokenDocument` for parts that aren't consecutive.
    @discardableResult
    package func keep(_ part: DocumentPart) throws -> Bool {
        try change { user in
            if let piece = part.end?.piece { try pieces.note(piece, [], records: 1, user: user) }
            return try documents.add(part, user: user)
        }
    }

    /// Deletes the stored parts of documents whose last part never arrived.
    package func dropUnfinishedDocuments() throws { try documents.dropUnfinished() }
}
