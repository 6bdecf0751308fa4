import HealthModel

// Files that are kept whole, and ECGs: each ECG becomes a sample, plus a document with its waveform.
extension ArchiveReader {
    /// Passes a file on as a document, in parts, unless it is already known. A file that is too long to be held in
    /// memory is always passed on.
    func readDocument(
        _ source: PeekedSource, _ entry: String, _ kind: DocumentKind, _ parser: ExportParsing
    ) throws {
        let document = DocumentFile(
            kind: kind, name: EntryKind.nameInside(entry),
            mediaType: MediaType.of(name: entry, head: source.head), reference: parser.reference(to: entry))
        let file = try EntryFile(source)
        if let content = try file.whole() {
            try deliver(content, as: document)
        } else {
            try deliver(file, as: document)
        }
        parser.summary.count(kind)
    }

    private func deliver(_ content: [UInt8], as document: DocumentFile) throws {
        let reference = document.reference.map { Value($0).json() } ?? ""
        let piece = EntryFile.piece(
            ["document", document.kind.rawValue, document.name, document.mediaType, reference], content)
        guard known[piece] == nil else { return }
        var parts = DocumentParts(document, receiver)
        try parts.add(content)
        try parts.end(piece)
    }

    /// A document too long to be held in memory.
    private func deliver(_ source: any ByteSource, as document: DocumentFile) throws {
        var parts = DocumentParts(document, receiver)
        while true {
            let block = try [UInt8](unsafeUninitializedCapacity: DocumentPart.limit) { buffer, count in
                count = try source.read(into: UnsafeMutableRawBufferPointer(buffer))
            }
            if block.isEmpty { return try parts.end(nil) }
            try parts.add(block)
        }
    }

    /// An ECG is always passed on as a sample, so that a complete export includes it; its waveform is passed on only if
    /// it isn't known yet.
    func readElectrocardiogram(_ source: any ByteSource, _ entry: String, _ parser: ExportParsing) throws {
        let name = EntryKind.nameInside(entry)
        guard let content = try EntryFile(source).whole() else {
            return try quarantine(ElectrocardiogramProblem("the file is longer than 8 MiB"), name, parser)
        }
        switch ElectrocardiogramFile.read(content) {
        case .failure(let problem): try quarantine(problem, name, parser)
        case .success(let ecg):
            let waveform = ecg.waveform
            let reference = DocumentReference(
                element: "Electrocardiogram", type: HealthType.electrocardiogramIdentifier,
                identifier: InstantText.iso8601(ecg.start), sourceName: "", received: ecg.start)
            try deliver(
                waveform,
                as: DocumentFile(
                    kind: .electrocardiogram, name: name, mediaType: "application/json", reference: reference))
            try receiver(.records(ecg.batch(waveform: ContentDigest(waveform[...]))))
            parser.summary.count(.electrocardiogram)
        }
    }

    private func quarantine(_ problem: ElectrocardiogramProblem, _ name: String, _ parser: ExportParsing) throws {
        parser.summary.quarantined += 1
        try receiver(.quarantined([problem.input(file: name)]))
    }
}

/// Cuts a document into parts.
private struct DocumentParts {
    private let file: DocumentFile
    private let receiver: ExportReceiver
    private let hash = ContentHash()
    private var offset: Int64 = 0
    /// The most recent bytes, held back because they may be the last.
    private var held: ArraySlice<UInt8> = []

    init(_ file: DocumentFile, _ receiver: @escaping ExportReceiver) { (self.file, self.receiver) = (file, receiver) }

    mutating func add(_ bytes: [UInt8]) throws {
        hash.add(bytes)
        var rest = bytes[...]
        while !rest.isEmpty {
            if !held.isEmpty { try send(nil) }
            held = rest.prefix(DocumentPart.limit)
            rest = rest.dropFirst(DocumentPart.limit)
        }
    }

    mutating func end(_ piece: PieceHash?) throws { try send(.init(hash: hash.value, piece: piece)) }

    private mutating func send(_ end: DocumentPart.End?) throws {
        try receiver(.document(DocumentPart(file: file, offset: offset, bytes: Array(held), end: end)))
        offset += Int64(held.count)
        held = []
    }
}
