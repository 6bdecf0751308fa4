import Foundation
import HealthModel

/// Reads an Apple Health export, an `export.zip` or a bare XML, told by content and never by name.
///
/// Nothing is unpacked to disk and memory stays flat at any size: blocks of 256 KiB go through the parser, batches come out.
public struct ExportReader: Sendable {
    /// As a person knows it, for messages.
    public let path: String
    /// Where its bytes are.
    private let file: String

    /// - Parameter file: where the bytes are, when the file has been taken over under another name; else at `path`.
    public init(path: String, file: String? = nil) {
        self.path = path
        self.file = file ?? path
    }

    /// Reads it all into the sink, on the calling thread (a second one reads ahead meanwhile).
    ///
    /// - Throws: `ImportError` for what isn't a readable export; whatever the sink throws. An export that is damaged further in
    ///   doesn't throw: what is whole is delivered, and the summary says where the damage is.
    public func read(into sink: any ExportSink) throws -> ReadSummary {
        let descriptor = open(file, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw ImportError.system(errno, path: path) }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw ImportError.system(errno, path: path) }
        guard status.st_mode & S_IFMT != S_IFDIR else { throw ImportError.isDirectory(path: path) }
        let source = PeekedSource(FileSource(descriptor: descriptor, path: path))
        if let failure = source.failure { throw failure }
        let total = Int64(status.st_size)
        switch ContentKind(head: source.head) {
        case .empty: throw ImportError.emptyFile(path: path)
        case .clinicalDocument: throw ImportError.clinicalDocument(path: path)
        case .gpx, .other: throw ImportError.notAnExport(path: path)
        case .healthData:
            let parsing = ExportParsing(sink: sink)
            let name = URL(fileURLWithPath: path).lastPathComponent
            try parsing.parse(source, entry: name, total: total)
            return parsing.summary
        case .zip:
            return try ArchiveReader(descriptor: descriptor, path: path, total: total, sink: sink).read()
        }
    }
}

/// Reads an archive twice: first up to its export, then whatever else is in it, so that routes come after the records whatever the order.
struct ArchiveReader {
    let descriptor: Int32
    let path: String
    let total: Int64
    let sink: any ExportSink

    func read() throws -> ReadSummary {
        let (name, parser) = try readExport()
        return try readOthers(than: name, parser)
    }

    private func readExport() throws -> (name: String, parser: ExportParsing) {
        var found: [String] = []
        var count = 0
        var clinicalDocument = false
        // What is called an export and isn't one, with whether it has no bytes.
        var pretender: (name: String, isEmpty: Bool)?
        var damage: ArchiveDamage?
        do {
            let archive = try ZipArchive(descriptor: descriptor, path: path)
            while let entry = try archive.next() {
                guard entry.isFile else { continue }
                if entry.isEncrypted { throw ImportError.encryptedArchive(path: path) }
                count += 1
                if found.count < 5 { found.append(entry.name) }
                let source = PeekedSource(EntrySource(archive))
                // A file that is broken by itself; the export may still come.
                if let broken = source.failure as? ArchiveDamage { damage = broken }
                let kind = ContentKind(head: source.head)
                clinicalDocument = clinicalDocument || kind == .clinicalDocument
                if pretender == nil, kind == .empty || kind == .other, Self.isNamedAsExport(entry.name) {
                    pretender = (entry.name, kind == .empty)
                }
                guard kind == .healthData else { continue }
                let parser = ExportParsing(sink: sink)
                try parser.parse(source, entry: entry.name, total: total)
                return (entry.name, parser)
            }
        } catch let broken as ArchiveDamage {
            damage = broken
        }
        if let damage { throw ImportError.damagedArchive(path: path, reason: damage.reason) }
        if count == 0 { throw ImportError.emptyArchive(path: path) }
        if let (name, isEmpty) = pretender {
            throw isEmpty
                ? ImportError.emptyExportInArchive(path: path, entry: name)
                : ImportError.unreadableExportInArchive(path: path, entry: name)
        }
        if count == 1, clinicalDocument { throw ImportError.clinicalDocument(path: path) }
        throw ImportError.noExportInArchive(path: path, found: found, count: count)
    }

    /// Only to say what is wrong: an export is known by its content, whatever its name.
    private static func isNamedAsExport(_ name: String) -> Bool {
        (name.split(separator: "/").last ?? "").lowercased() == "export.xml"
    }

    private func readOthers(than export: String, _ parser: ExportParsing) throws -> ReadSummary {
        do {
            let archive = try ZipArchive(descriptor: descriptor, path: path)
            while let entry = try archive.next() {
                guard entry.isFile, entry.name != export else { continue }
                do {
                    try readOther(PeekedSource(EntrySource(archive)), entry.name, parser)
                } catch let broken as ArchiveDamage {
                    note(broken, in: entry.name, parser)
                }
                sink.progress(bytesRead: min(archive.position, total), bytesTotal: total)
            }
        } catch let broken as ArchiveDamage {
            note(broken, in: URL(fileURLWithPath: path).lastPathComponent, parser)
        }
        sink.progress(bytesRead: total, bytesTotal: total)
        return parser.summary
    }

    private func note(_ broken: ArchiveDamage, in entry: String, _ parser: ExportParsing) {
        let what = "the archive ends early or is damaged (\(broken.reason))"
        parser.summary.damaged = parser.summary.damaged ?? Damage(what: what, entry: entry, line: 0)
    }

    private func readOther(_ source: PeekedSource, _ entry: String, _ parser: ExportParsing) throws {
        guard ContentKind(head: source.head) == .gpx else {
            parser.summary.ignore(entry)
            if let failure = source.failure { throw failure }
            return
        }
        try readRoute(source, entry, parser)
    }

    private func readRoute(_ source: any ByteSource, _ entry: String, _ parser: ExportParsing) throws {
        let name = RouteName.normal(entry)
        let sink = self.sink
        let route = RouteParser(path: name, workout: parser.workout(ofRoute: name)) { route in
            try sink.route(route)
            parser.summary.routePoints += route.count
            if route.firstPoint == 0 { parser.summary.routes += 1 }
        }
        let damage = try route.parse(source, entry: entry)
        parser.summary.routePointsUnreadable += route.unreadablePoints
        parser.summary.charactersReplaced += route.replacedCharacters
        parser.summary.damaged = parser.summary.damaged ?? damage
    }
}
