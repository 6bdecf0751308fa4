import Foundation
import HealthImport
import HealthModel
import HealthStore
import SQLite
import TestSupport
import Testing

/// A later export from the same phone: pieces that were read before needn't be read again, and the result is the same
/// either way.
@Suite struct KnownPiecesTests {
    /// A store, used the way the observer uses it.
    private final class Rig {
        private final class Sequences: SequenceSource {
            private(set) var sequence = SequenceNumber(1000)

            func nextSequence() -> SequenceNumber {
                sequence = sequence.next
                return sequence
            }
        }

        private struct BeginAgain: Error {}

        let folder: TemporaryFolder
        let database: Database
        let writer: HealthStoreWriter
        private let sequences = Sequences()
        private let passesOver: Bool
        private var session = ImportSession(source: "")
        private var counts = IngestCounts()
        /// The total number of pieces skipped in all files.
        private(set) var passed = 0
        private(set) var beganAgain = 0

        init(passesOver: Bool) throws {
            self.passesOver = passesOver
            let folder = try TemporaryFolder()
            let database = try Database(path: folder.path + "/store.sqlite")
            try database.transaction { try HealthStoreSchema.create(in: database) }
            (self.folder, self.database) = (folder, database)
            writer = try HealthStoreWriter(database: database, user: "me", sequences: sequences)
        }

        /// - Returns: how many records were added, how many were read, and how many are gone.
        func take(_ file: [UInt8], isComplete: Bool) throws -> (added: Int, read: Int, gone: Int) {
            let path = try folder.file("export.xml", file)
            let before = sequences.sequence
            var added = 0
            while true {
                session = ImportSession(source: "export")
                counts = IngestCounts()
                defer { added += counts.total.added + counts.total.revived }
                do {
                    let known = passesOver ? try writer.knownPieces() : [:]
                    _ = try ExportReader(path: path).read(into: take, known: known)
                    break
                } catch is BeginAgain { beganAgain += 1 }
            }
            let total = counts.total
            let read = total.added + total.known + total.joined + total.revived + total.deleted + total.quarantined
            var gone = 0
            if isComplete {
                let export = CompleteExport(session: session, date: Instant(seconds: 1_900_000_000), before: before)
                var progress = AbsenceProgress()
                while !progress.isDone {
                    gone += try database.transaction {
                        try writer.deleteAbsent(from: export, &progress, limit: 1000).values.reduce(0, +)
                    }
                }
            }
            return (added, read, gone)
        }

        private func take(_ event: ExportEvent) throws {
            switch event {
            case .records(let batch):
                counts += try database.transaction {
                    try writer.ingest(batch, session: session) { _ in { value, _, _ in value < 0 ? "negative" : nil } }
                }
            case .known(let pieces):
                passed += pieces.count
                guard let found = try database.transaction({ try writer.claim(pieces, session: session) }) else {
                    throw BeginAgain()
                }
                counts += found
            case .quarantined(let inputs):
                _ = try database.transaction { try writer.quarantine(inputs, session: session) }
            case .document(let part): _ = try database.transaction { try writer.keep(part) }
            default: break
            }
        }

        /// What the store holds, except for sequence numbers.
        func content() throws -> [String] {
            let page = try HealthStoreReader(database: database).anchored(
                TypeFilter(types: .allExcept([])), PullWindow(SequenceWindow(after: .beginning)),
                limits: PullLimits(rows: .max, bytes: .max, scanned: .max)
            ).samples
            return page.ids.indices.map { row in
                let numbers = "\(page.start[row]) \(page.end[row]) \(page.value[row]) \(page.flags[row].rawValue)"
                return "\(page.ids[row]) \(page.typeName(row)) \(numbers) \(page.metadata[row])"
            }.sorted()
        }
    }

    private struct Line: Hashable {
        var type: Int
        var start: Int
        var value: Int
        var metadata = false
        /// A record that can't be read.
        var isBroken = false
    }

    private static let types = [
        (name: "HeartRate", unit: "count/min"), (name: "StepCount", unit: "count"),
        (name: "ActiveEnergyBurned", unit: "kcal"),
    ]

    private static func date(_ second: Int) -> String {
        let (day, rest) = (second / 86_400, second % 86_400)
        let date = LocalDay(number: 20_000 + day)
        return "\(date) " + String(format: "%02d:%02d:%02d +0000", rest / 3600, rest / 60 % 60, rest % 60)
    }

    /// Written like Apple's exports: type by type, one record per line, devices with a different address each time.
    private static func write(_ lines: [Line], address: Int) -> [UInt8] {
        var text =
            "<?xml version=\"1.0\"?>\n<HealthData locale=\"en_DE\">\n <ExportDate value=\"2026-01-01 00:00:00 +0000\"/>\n"
        for line in lines {
            let start = line.isBroken ? "yesterday" : date(line.start)
            text += """
                 <Record type="HKQuantityTypeIdentifier\(types[line.type].name)" sourceName="Watch" sourceVersion="11.3" \
                device="&lt;&lt;HKDevice: 0x\(String(address, radix: 16))&gt;, name:Apple Watch, model:Watch&gt;" unit="\(types[line.type].unit)" \
                creationDate="\(date(line.start + 60))" startDate="\(start)" endDate="\(date(line.start + 30))" value="\(line.value)"
                """
            text += line.metadata ? ">\n  <MetadataEntry key=\"k\" value=\"\(line.value)\"/>\n </Record>\n" : "/>\n"
        }
        return Array((text + "</HealthData>\n").utf8)
    }

    @Test(arguments: 0..<6 as Range<UInt64>) func aLaterExportGivesTheSameWhetherKnownPiecesAreReadOrNot(seed: UInt64)
        throws
    {
        var random = SeededRandom(seed: seed)
        let (short, long) = (try Rig(passesOver: true), try Rig(passesOver: false))
        var lines: [Line] = []
        for type in 0..<3 {
            for index in 0..<2500 {
                lines.append(
                    Line(
                        type: type, start: index * 40 + type, value: .random(in: 60...64, using: &random),
                        metadata: Int.random(in: 0..<4, using: &random) == 0))
            }
        }
        for round in 1...5 {
            let file = Self.write(lines, address: 0x2_8000_0000 + round * 0x1110)
            let isComplete = round % 2 == 0
            let (first, second) = (
                try short.take(file, isComplete: isComplete), try long.take(file, isComplete: isComplete)
            )
            #expect(first == second && first.read > 7400)
            #expect(try short.content() == long.content())
            // One more day of each type, with some lines gone, repeated, changed or broken.
            for type in 0..<3 {
                let last = lines.lastIndex { $0.type == type } ?? 0
                let new = (0..<40).map {
                    Line(
                        type: type, start: (2500 + round * 50 + $0) * 40 + type,
                        value: .random(in: 60...64, using: &random))
                }
                lines.insert(contentsOf: new, at: last + 1)
            }
            for _ in 0..<Int.random(in: 0...3, using: &random) {
                lines.remove(at: .random(in: 0..<lines.count, using: &random))
            }
            for _ in 0..<Int.random(in: 0...3, using: &random) {
                let copied = lines.randomElement(using: &random) ?? lines[0]
                // The copy may be anywhere, even before the piece with the original.
                lines.insert(copied, at: .random(in: 0..<lines.count, using: &random))
            }
            let changed = Int.random(in: 0..<lines.count, using: &random)
            lines[changed].metadata.toggle()
            lines[.random(in: 0..<lines.count, using: &random)].isBroken = Bool.random(using: &random)
        }
        #expect(short.passed > 4 && long.passed == 0)
    }

    /// Most heart records have the same metadata, so the bytes before the next record say nothing.
    @Test func recordsThatEndAlikeAreCutToo() throws {
        let rig = try Rig(passesOver: true)
        let lines = (0..<6000).map { Line(type: 0, start: $0 * 40, value: 60, metadata: true) }
        #expect(try rig.take(Self.write(lines, address: 1), isComplete: false) == (6000, 6000, 0))
        #expect(try rig.take(Self.write(lines, address: 2), isComplete: false) == (0, 6000, 0))
        #expect(rig.passed > 5)
    }

    /// A new sample equals one from a known piece and comes before it, so the piece is read after all.
    @Test func aCopyBeforeAKnownPieceIsASampleOfItsOwn() throws {
        let rig = try Rig(passesOver: true)
        var lines = (0..<6000).map { Line(type: 0, start: $0 * 40, value: 60 + $0 % 5) }
        #expect(try rig.take(Self.write(lines, address: 1), isComplete: false) == (6000, 6000, 0))
        // So much has changed at the beginning that a whole batch is read before the known piece.
        for line in stride(from: 0, to: 4500, by: 10) { lines[line].metadata = true }
        lines.insert(lines[5500], at: 10)
        let again = try rig.take(Self.write(lines, address: 2), isComplete: false)
        #expect(again.added == 1 && again.read == 6001 && rig.beganAgain == 1)
        #expect(try rig.take(Self.write(lines, address: 3), isComplete: false).added == 0)
    }

    /// A sample that is missing from one export is restored by an export that has it, even if that export was read
    /// before.
    @Test func whatHadGoneComesBack() throws {
        let rig = try Rig(passesOver: true)
        let lines = (0..<6000).map { Line(type: 0, start: $0 * 40, value: 60 + $0 % 5) }
        let whole = Self.write(lines, address: 1)
        #expect(try rig.take(whole, isComplete: true) == (6000, 6000, 0))
        let less = Self.write(lines.filter { !(3000..<3010).contains($0.start / 40) }, address: 1)
        #expect(try rig.take(less, isComplete: true).gone == 10)
        #expect(rig.passed > 5)
        #expect(try rig.take(whole, isComplete: true) == (10, 6000, 0))
    }
}
