import Foundation
import HealthModel

/// Reads an archive three times: to check it, then up to its export, then whatever else is in it, so that routes come after the records
/// whatever the order.
struct ArchiveReader {
    let descriptor: Int32
    let path: String
    let total: Int64
    let sink: any ExportSink
    let known: [PieceHash: Int]

    func read() throws -> ReadSummary {
        sink.progress(bytesRead: 0, bytesTotal: total)
        let check = try ArchiveCheck(descriptor: descriptor, path: path, size: total)
        let (place, parser) = try readExport(check)
        return try readOthers(than: place, check, parser)
    }

    private func readExport(_ check: ArchiveCheck) throws -> (place: Int, parser: ExportParsing) {
        var found: [String] = []
        var count = 0
        var clinicalDocument = false
        // What is called an export and isn't one, with whether it has no bytes.
        var pretender: (name: String, isEmpty: Bool)?
        var damage: ArchiveDamage?
        // What isn't what was packed, and may be the export.
        var suspect: (name: String, damage: ArchiveDamage)?
        do {
            let archive = try ZipArchive(descriptor: descriptor, path: path)
            while let entry = try archive.next() {
                guard entry.isFile else { continue }
                if entry.isEncrypted { throw ImportError.encryptedArchive(path: path) }
                count += 1
                if found.count < 5 { found.append(entry.name) }
                if let broken = check.broken[entry.place] {
                    // The export may still come.
                    if suspect == nil || Self.isNamedAsExport(entry.name) { suspect = (entry.name, broken) }
                    continue
                }
                let source = PeekedSource(EntrySource(archive))
                if let broken = source.failure as? ArchiveDamage { damage = broken }
                let kind = ContentKind(head: source.head)
                clinicalDocument = clinicalDocument || kind == .clinicalDocument
                if pretender == nil, kind == .empty || kind == .other, Self.isNamedAsExport(entry.name) {
                    pretender = (entry.name, kind == .empty)
                }
                guard kind == .healthData else { continue }
                let parser = ExportParsing(sink: sink, known: known)
                try parser.parse(source, entry: entry.name, total: total)
                return (entry.place, parser)
            }
        } catch let broken as ArchiveDamage {
            damage = broken
        }
        if let (name, damage) = suspect {
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

    /// Only to say what is wrong: an export is known by its content, whatever its name.
    private static func isNamedAsExport(_ name: String) -> Bool {
        (name.split(separator: "/").last ?? "").lowercased() == "export.xml"
    }

    private func readOthers(
        than export: Int, _ check: ArchiveCheck, _ parser: ExportParsing
    ) throws -> ReadSummary {
        do {
            let archive = try ZipArchive(descriptor: descriptor, path: path)
            while let entry = try archive.next() {
                guard entry.isFile, entry.place != export else { continue }
                if let broken = check.broken[entry.place] {
                    leaveOut(entry.name, broken, parser)
                    continue
                }
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

    private func leaveOut(_ entry: String, _ broken: ArchiveDamage, _ parser: ExportParsing) {
        parser.summary.ignore(entry)
        let what = "a file of the archive isn't what was packed, and was left out (\(broken.reason))"
        parser.summary.damaged = parser.summary.damaged ?? Damage(what: what, entry: entry, line: 0)
    }

    private func readOther(_ source: PeekedSource, _ entry: String, _ parser: ExportParsing) throws {
        let kind = ContentKind(head: source.head)
        guard kind == .gpx else {
            parser.summary.ignore(entry)
            if kind == .healthData, parser.summary.otherExports.count < 100 {
                parser.summary.otherExports.append(entry)
            }
            if let failure = source.failure { throw failure }
            return
        }
        try readRoute(source, entry, parser)
    }

    private func readRoute(_ source: any ByteSource, _ entry: String, _ parser: ExportParsing) throws {
        let name = RouteName.normal(entry)
        let workout = parser.workout(ofRoute: name)
        let file = try RouteFile(source)
        let piece = file.isWhole ? file.piece(name, workout) : nil
        if let piece, let points = known[piece] {
            parser.summary.routePoints += points
            parser.summary.routes += 1
            return
        }
        let sink = self.sink
        var points = 0
        let route = RouteParser(path: name, workout: workout) { route in
            try sink.route(route)
            points += route.count
            if route.firstPoint == 0 { parser.summary.routes += 1 }
        }
        let damage = try route.parse(file, entry: entry)
        parser.summary.routePoints += points
        parser.summary.routePointsUnreadable += route.unreadablePoints
        parser.summary.charactersReplaced += route.replacedCharacters
        parser.summary.damaged = parser.summary.damaged ?? damage
        if let piece, damage == nil, points > 0, route.unreadablePoints == 0, route.replacedCharacters == 0 {
            try sink.routeEnded(piece, points: points)
        }
    }
}
