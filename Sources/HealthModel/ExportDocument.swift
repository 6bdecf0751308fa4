/// The kinds of document.
package enum DocumentKind: String, Sendable, Codable, CaseIterable {
    /// FHIR, as received from a hospital: `clinical-records/Observation-….json`.
    case clinicalRecord
    /// The waveform of an ECG, from `electrocardiograms/ecg_….csv`.
    case electrocardiogram
    /// Something attached to a sample, such as the photo of a prescription.
    case attachment
}

/// What is known, apart from its content, about a file that comes with an export's samples and is kept whole.
package struct DocumentFile: Sendable, Equatable {
    package var kind: DocumentKind
    /// Its path in the archive, without the top folder: "clinical-records/Observation-….json".
    package var name: String
    /// The media type, such as "application/json", judged by content and name; "application/octet-stream" if neither
    /// reveals it.
    package var mediaType: String
    /// The element that refers to it; nil when none does.
    package var reference: DocumentReference?

    package init(kind: DocumentKind, name: String, mediaType: String, reference: DocumentReference? = nil) {
        (self.kind, self.name, self.mediaType, self.reference) = (kind, name, mediaType, reference)
    }
}

/// The element of an export that refers to a document.
package struct DocumentReference: Sendable, Codable, Equatable {
    /// "ClinicalRecord", "VisionPrescription"; "Electrocardiogram" for the sample made from an ECG file.
    package var element: String
    /// The sample's type.
    package var type: String
    /// Identifies the element among others of its kind, whatever the file is called: the resource's id at the hospital;
    /// empty if it has none.
    package var identifier: String
    package var sourceName: String
    /// When the phone received it, or when it was recorded.
    package var received: Instant?

    package init(element: String, type: String, identifier: String, sourceName: String, received: Instant?) {
        (self.element, self.type, self.identifier, self.sourceName) = (element, type, identifier, sourceName)
        self.received = received
    }
}

/// A document that is being stored, or a part of a long one. The parts of one document come in order, one document
/// after the other.
package struct DocumentPart: Sendable, Equatable {
    /// The maximum length of one part, in bytes.
    package static let limit = 256 << 10

    package var file: DocumentFile
    /// The number of bytes before this part.
    package var offset: Int64
    package var bytes: [UInt8]
    /// Set in the last part.
    package var end: End?

    package struct End: Sendable, Equatable {
        /// XXH3-128 of the whole content, 16 bytes.
        package var hash: [UInt8]
        /// Identifies the file together with everything known about it, so that it needn't be sent again. Nil for a
        /// long document.
        package var piece: PieceHash?

        package init(hash: [UInt8], piece: PieceHash?) { (self.hash, self.piece) = (hash, piece) }
    }

    package init(file: DocumentFile, offset: Int64, bytes: [UInt8], end: End?) {
        (self.file, self.offset, self.bytes, self.end) = (file, offset, bytes, end)
    }
}

/// Why a file in an archive isn't read.
package enum UnreadKind: String, Sendable, Codable, CaseIterable {
    /// The clinical document (CDA) that the phone creates from the same samples.
    case clinicalDocument
    /// Another export: only the first one in an archive is read.
    case export
    /// Its content differs from what was packed.
    case damaged
    /// A link, or anything else that is neither a file nor a folder.
    case link
    /// A kind of file that exports aren't known to contain.
    case other
}

/// Counts of files in an archive that aren't read, by folder only, because a file's own name may contain a person's
/// name.
package struct UnreadFiles: Sendable, Codable, Equatable {
    /// The maximum number of folders that are counted separately, since a hostile archive may have any number of them.
    package static let limit = 30
    /// Stands for the folders beyond that limit.
    package static let elsewhere = "…"

    package var kind: UnreadKind
    /// The folder as in the archive; empty for the top level.
    package var folder: String
    package var count: Int

    package init(kind: UnreadKind, folder: String, count: Int) {
        (self.kind, self.folder, self.count) = (kind, folder, count)
    }
}
