import Foundation
import HealthModel

/// Reads an archive three times: first to check it, then up to its export, and finally everything else, so that routes
/// and documents come after the records whatever their order in the archive.
struct ArchiveReader {
    let descriptor: Int32
    let path: String
    let total: Int64
    let receiver: ExportReceiver
    let known: [PieceHash: Int]

    func read() throws -> ReadSummary {
        try receiver(.progress(bytesRead: 0, bytesTotal: total))
        let check = try ArchiveCheck(descriptor: descriptor, path: path, size: total)
        let (place, parser) = try readExport(check)
        return try readOthers(than: place, check, parser)
    }

    private func readExport(_ check: ArchiveCheck) throws -> (place: Int, parser: ExportParsing) {
        var found: [String] = []
        var count = 0
        var clinicalDocument = false
        // A file that is named like an export but isn't one, and whether that file is empty.
        var pretender: (name: String, isEmpty: Bool)?
        var damage: ArchiveDamage?
        // A damaged file that may be the export.
        var candidate: (name: String, damage: ArchiveDamage)?
        do {
            let archive = try ZipArchive(descriptor: descriptor, path: path)
            while let entry = try archive.next() {
                guard entry.isFile else { continue }
                if entry.isEncrypted { throw ImportError.encryptedArchive(path: path) }
                count += 1
                if found.count < 5 { found.append(entry.name) }
                if let broken = check.broken[entry.place] {
                    // The export may still come later in the archive.
                    if candidate == nil || Self.isNamedAsExport(entry.name) { candidate = (entry.name, broken) }
                    continue
                }
                let source = PeekedSource(EntrySource(archive))
                if let broken = source.failure as? ArchiveDamage { damage = broken }
                if let encoding = TextEncoding.ofForeignExport(source.head) {
                    throw ImportError.foreignEncoding(path: path, entry: entry.name, encoding: encoding)
                }
                let kind = ContentKind(head: source.head)
                clinicalDocument = clinicalDocument || kind == .clinicalDocument
                if pretender == nil, kind == .empty || kind == .other, Self.isNamedAsExport(entry.name) {
                    pretender = (entry.name, kind == .empty)
                }
                guard kind == .healthData else { continue }
                let parser = ExportParsing(receiver: receiver, known: known)
                try parser.parse(source, entry: entry.name, total: total)
                return (entry.place, parser)
            }
        } catch let broken as ArchiveDamage {
            damage = broken
        }
        if let (name, damage) = candidate {
            throw ImportError.damagedFileInArchive(path: path, entry: name, reason: damage.reason)
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

    /// Only for error messages: an export is recognized by its content, not its name.
    private static func isNamedAsExport(_ name: String) -> Bool {
        (name.split(separator: "/").last ?? "").lowercased() == "export.xml"
    }
}
