/// What a document is.
package enum DocumentKind: String, Sendable, Codable, CaseIterable {
    /// FHIR, as a hospital gave it: `clinical-records/Observation-….json`.
    case clinicalRecord
    /// The waveform of an ECG, made of `electrocardiograms/ecg_….csv`.
    case electrocardiogram
    /// What somebody attached to a sample, such as the photo of a prescription.
    case attachment
}

/// A file that lies beside an export's samples and is kept whole: what is known of it besides its content.
package struct DocumentFile: Sendable, Equatable {
    package var kind: DocumentKind
    /// Its path in the archive, without the folder that everything is in: "clinical-records/Observation-….json".
    package var name: String
    /// "application/json", as told by content and name; "application/octet-stream" where neither tells.
    package var mediaType: String
    /// What refers to it; nil when nothing does.
    package var reference: DocumentReference?

    package init(kind: DocumentKind, name: String, mediaType: String, reference: DocumentReference? = nil) {
        self.kind = kind
        self.name = name
        self.mediaType = mediaType
        self.reference = reference
    }
}

/// The element of an export that refers to a document.
package struct DocumentReference: Sendable, Codable, Equatable {
    /// "ClinicalRecord", "VisionPrescription"; "Electrocardiogram" for the sample that an ECG's file becomes.
    package var element: String
    /// The sample's type.
    package var type: String
    /// What tells it from others of its kind, whatever the file is called: the resource's id at the hospital; empty when it has
    /// none.
    package var identifier: String
    package var sourceName: String
    /// When the phone got it, or when it was recorded.
    package var received: Instant?

    package init(element: String, type: String, identifier: String, sourceName: String, received: Instant?) {
        self.element = element
        self.type = type
        self.identifier = identifier
        self.sourceName = sourceName
        self.received = received
    }
}

/// A document on its way into the store, or a part of a long one. The parts of one come in order, one document after the other.
package struct DocumentPart: Sendable, Equatable {
    /// At most so many bytes come at once.
    package static let limit = 256 << 10

    package var file: DocumentFile
    /// How many bytes come before these.
    package var offset: Int64
    package var bytes: [UInt8]
    /// With the last part.
    package var end: End?

    package struct End: Sendable, Equatable {
        /// Of the whole content: XXH3-128, 16 bytes.
        package var hash: [UInt8]
        /// Names the file with all that is known of it: it needn't come again. Nil of a long one.
        package var piece: PieceHash?

        package init(hash: [UInt8], piece: PieceHash?) {
            self.hash = hash
            self.piece = piece
        }
    }

    package init(file: DocumentFile, offset: Int64, bytes: [UInt8], end: End?) {
        self.file = file
        self.offset = offset
        self.bytes = bytes
        self.end = end
    }
}

/// Why a file of an archive isn't read.
package enum UnreadKind: String, Sendable, Codable, CaseIterable {
    /// The clinical document (CDA) that the phone makes of the same samples.
    case clinicalDocument
    /// Another export: the first one of an archive is read.
    case export
    /// It isn't what was packed.
    case damaged
    /// A link, or what else is neither file nor folder.
    case link
    /// Nothing that exports are known to hold.
    case other
}

/// Files of an archive that aren't read, by folder: a file's own name may be a person's.
package struct UnreadFiles: Sendable, Codable, Equatable {
    /// Folders told apart; a hostile archive has as many as it likes.
    package static let limit = 30
    /// The folder of those beyond.
    package static let elsewhere = "…"

    package var kind: UnreadKind
    /// As in the archive; empty for its top.
    package var folder: String
    package var count: Int

    package init(kind: UnreadKind, folder: String, count: Int) {
        self.kind = kind
        self.folder = folder
        self.count = count
    }
}
