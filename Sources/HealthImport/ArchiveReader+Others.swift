import Foundation
import HealthModel

// The files in the archive other than the export. Each file is read or stored, or at least counted and listed by name.
extension ArchiveReader {
    func readOthers(
        than export: Int, _ check: ArchiveCheck, _ parser: ExportParsing
    ) throws -> ReadSummary {
        do {
            let archive = try ZipArchive(descriptor: descriptor, path: path)
            while let entry = try archive.next() {
                guard !entry.isFolder, entry.place != export else { continue }
                guard entry.isFile else {
                    parser.summary.ignore(entry.name, .link)
                    continue
                }
                if let broken = check.broken[entry.place] {
                    leaveOut(entry.name, broken, parser)
                    continue
                }
                do {
                    try readOther(PeekedSource(EntrySource(archive)), entry.name, parser)
                } catch let broken as ArchiveDamage {
                    note(broken, in: entry.name, parser)
                }
                try receiver(.progress(bytesRead: min(archive.position, total), bytesTotal: total))
            }
        } catch let broken as ArchiveDamage {
            note(broken, in: URL(fileURLWithPath: path).lastPathComponent, parser)
        }
        try receiver(.progress(bytesRead: total, bytesTotal: total))
        return parser.summary
    }

    private func note(_ broken: ArchiveDamage, in entry: String, _ parser: ExportParsing) {
        let what = "the archive ends early or is damaged (\(broken.reason))"
        parser.summary.damaged = parser.summary.damaged ?? Damage(what: what, entry: entry, line: 0)
    }

    private func leaveOut(_ entry: String, _ broken: ArchiveDamage, _ parser: ExportParsing) {
        parser.summary.ignore(entry, .damaged)
        let what = "a file of the archive isn't what was packed, and was left out (\(broken.reason))"
        parser.summary.damaged = parser.summary.damaged ?? Damage(what: what, entry: entry, line: 0)
    }

    private func readOther(_ source: PeekedSource, _ entry: String, _ parser: ExportParsing) throws {
        switch EntryKind(name: entry, head: source.head) {
        case .route: try readRoute(source, entry, parser)
        case .electrocardiogram: try readElectrocardiogram(source, entry, parser)
        case .document(let kind): try readDocument(source, entry, kind, parser)
        case .unread(let kind):
            parser.summary.ignore(entry, kind)
            if kind == .export, parser.summary.otherExports.count < 100 {
                parser.summary.otherExports.append(entry)
            }
            if let failure = source.failure { throw failure }
        }
    }

    private func readRoute(_ source: any ByteSource, _ entry: String, _ parser: ExportParsing) throws {
        let name = RouteName.normal(entry)
        let workout = parser.workout(ofRoute: name)
        let file = PeekedSource(whole: source)
        // The same file may arrive before its workout does.
        let times = workout.map { "\($0.start.microseconds) \($0.end.microseconds) \($0.sourceName)" } ?? ""
        let piece = file.isWhole ? PieceHash(["route", name, times], file.head) : nil
        if let piece, let points = known[piece] {
            parser.summary.routePoints += points
            parser.summary.routes += 1
            return try receiver(.knownRoute(piece, path: name))
        }
        let receiver = self.receiver
        var points = 0
        let route = RouteParser(path: name, workout: workout) { route in
            try receiver(.route(route))
            points += route.count
            if route.firstPoint == 0 { parser.summary.routes += 1 }
        }
        let damage = try route.parse(file, entry: entry)
        parser.summary.routePoints += points
        parser.summary.routePointsUnreadable += route.unreadablePoints
        parser.summary.charactersReplaced += route.replacedCharacters
        parser.summary.damaged = parser.summary.damaged ?? damage
        if let piece, damage == nil, points > 0, route.unreadablePoints == 0, route.replacedCharacters == 0 {
            try receiver(.routeEnded(piece, path: name, points: points))
        }
    }
}
