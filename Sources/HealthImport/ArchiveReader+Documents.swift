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
        let file = PeekedSource(whole: source)
        try deliver(file, content: file.whole(), as: document)
        parser.summary.count(kind)
    }

    /// - Parameter content: all that the source has; nil if it is too long to be held in memory.
    private func deliver(_ source: any ByteSource, content: [UInt8]?, as document: DocumentFile) throws {
        let reference = document.reference.map { Value($0).json() } ?? ""
        let piece = content.map {
            PieceHash(["document", document.kind.rawValue, document.name, document.mediaType, reference], $0)
        }
        if let piece, known[piece] != nil { return }
        let hash = ContentHash()
        var offset: Int64 = 0
        var held = try source.block(DocumentPart.limit)
        repeat {
            hash.add(held)
            // Read ahead, because the last part says that it is the last.
            let next = held.isEmpty ? [] : try source.block(DocumentPart.limit)
            let end = next.isEmpty ? DocumentPart.End(hash: hash.value, piece: piece) : nil
            try receiver(.document(DocumentPart(file: document, offset: offset, bytes: held, end: end)))
            offset += Int64(held.count)
            held = next
        } while !held.isEmpty
    }

    /// An ECG is always passed on as a sample, so that a complete export includes it; its waveform is passed on only if
    /// it isn't known yet.
    func readElectrocardiogram(_ source: any ByteSource, _ entry: String, _ parser: ExportParsing) throws {
        let name = EntryKind.nameInside(entry)
        guard let content = try PeekedSource(whole: source).whole() else {
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
                MemorySource(waveform), content: waveform,
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
