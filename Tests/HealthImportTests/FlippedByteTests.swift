import Foundation
import HealthGenerator
import HealthImport
import HealthModel
import TestSupport
import Testing

/// An archive that was damaged in transit: everything that was stored from it must also be in the original.
@Suite struct FlippedByteTests {
    private let folder: TemporaryFolder
    private let whole: [UInt8]
    private let content: CollectingReceiver

    init() throws {
        folder = try TemporaryFolder()
        let path = folder.path + "/whole.zip"
        _ = try ExportGenerator(.init(days: 6, seed: 5, records: 400)).write(to: path)
        whole = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
        content = CollectingReceiver()
        _ = try ExportReader(path: path).read(into: content.take)
    }

    /// Everything in a sample except for its line number.
    private func samples(_ receiver: CollectingReceiver) -> [String] {
        receiver.rows.map {
            "\($0.type) \($0.start) \($0.end) \($0.value) \($0.unit) \($0.origin) \($0.created) \($0.metadata) \($0.payload)"
        }
    }

    private func points(_ receiver: CollectingReceiver) -> [String] {
        receiver.routes.flatMap { route in
            (0..<route.count).map {
                "\(route.path) \(route.time[$0].microseconds) \(route.latitude[$0]) \(route.longitude[$0]) \(route.elevation[$0])"
            }
        }
    }

    private func read(_ bytes: [UInt8]) throws -> (
        receiver: CollectingReceiver, summary: ReadSummary?, error: ImportError?
    ) {
        let receiver = CollectingReceiver()
        let path = try folder.file("damaged.zip", bytes)
        do { return (receiver, try ExportReader(path: path).read(into: receiver.take), nil) } catch let error
            as ImportError
        {
            return (receiver, nil, error)
        }
    }

    @Test(arguments: 0..<8)
    func aFlippedByteInventsNothing(seed: Int) throws {
        var random = SeededRandom(seed: UInt64(seed))
        let known = (samples: Set(samples(content)), points: Set(points(content)))
        #expect(known.samples.count > 400 && known.points.count > 100)
        var refused = 0
        for _ in 0..<40 {
            var bytes = whole
            let place = Int.random(in: bytes.indices, using: &random)
            bytes[place] ^= UInt8.random(in: 1...255, using: &random)
            let (receiver, summary, error) = try read(bytes)
            #expect(known.samples.isSuperset(of: samples(receiver)), "seed \(seed), byte \(place)")
            #expect(known.points.isSuperset(of: points(receiver)), "seed \(seed), byte \(place)")
            #expect(receiver.quarantine.isEmpty, "seed \(seed), byte \(place)")
            if error != nil { refused += 1 }
            // Either all samples are imported or none; anything else that is missing is reported.
            #expect(receiver.rows.isEmpty == (error != nil), "seed \(seed), byte \(place)")
            if error == nil { #expect(receiver.rows.count == content.rows.count, "seed \(seed), byte \(place)") }
            if points(receiver).count != points(content).count, error == nil { #expect(summary?.damaged != nil) }
        }
        #expect(refused > 0 && refused < 40)
    }

    /// Nothing is wrong before the cut, so that part is kept.
    @Test(arguments: 0..<20)
    func aCutArchiveGivesWhatIsBeforeTheCut(seed: Int) throws {
        var random = SeededRandom(seed: UInt64(100 + seed))
        let known = Set(samples(content))
        let length = Int.random(in: 2000..<whole.count - 1, using: &random)
        let (receiver, summary, _) = try read(Array(whole.prefix(length)))
        let found = samples(receiver)
        #expect(known.isSuperset(of: found) && found == Array(samples(content).prefix(found.count)))
        #expect(summary?.damaged?.isCut == true || receiver.rows.count == content.rows.count)
        // The generator writes the export first, and the export fills at least a third of the archive.
        if length > whole.count / 4 { #expect(!receiver.rows.isEmpty) }
    }

    @Test func whatIsWrongIsSaidInOneLine() throws {
        let text = Array(export(steps("1234")).utf8)
        var bytes = ZipBytes([(name: "apple_health_export/eksport.xml", bytes: text)]).bytes
        let place = try #require(bytes.indices.first { bytes[$0...].starts(with: Array("1234".utf8)) })
        bytes[place] = UInt8(ascii: "9")
        let (receiver, _, error) = try read(bytes)
        #expect(receiver.rows.isEmpty)
        let said = try #require(error)
        guard case .damagedFileInArchive(_, "apple_health_export/eksport.xml", let reason) = said else {
            Issue.record("\(said)")
            return
        }
        #expect(reason.contains("CRC") && said.hint.contains("unpack it"))
        // The file is one byte longer than its directory says; libarchive's message ends with a line break.
        var long = ZipBytes([(name: "export.xml", bytes: text)]).bytes
        for header in [22, long.count - 22 - 46 - 10 + 24] { long[header] &-= 1 }
        #expect(try read(long).error?.description.contains { $0.isNewline } == false)
    }

    @Test func aRouteThatIsntWhatWasPackedIsLeftOut() throws {
        let gpx = #"<gpx><trkpt lat="1.2345" lon="2"><time>2025-03-30T06:00:00Z</time></trkpt></gpx>"#
        var bytes = ZipBytes([("a.gpx", gpx), ("export.xml", export(steps())), ("b.gpx", gpx)]).bytes
        let place = try #require(bytes.indices.first { bytes[$0...].starts(with: Array("1.2345".utf8)) })
        bytes[place] = UInt8(ascii: "7")
        let (receiver, summary, _) = try read(bytes)
        #expect(receiver.rows.count == 1 && receiver.routes.map(\.path) == ["/workout-routes/b.gpx"])
        #expect(receiver.routes.first?.latitude == [1.2345])
        #expect(summary?.damaged?.entry == "a.gpx" && summary?.damaged?.what.contains("was left out") == true)
    }

    /// Only the first export is read; the second one is reported.
    @Test func aSecondExportOfAnArchiveIsNamed() throws {
        let bytes = ZipBytes([("export.xml", export(steps("1"))), ("old/export.xml", export(steps("2")))]).bytes
        let (receiver, summary, _) = try read(bytes)
        #expect(receiver.rows.map(\.value) == [1] && summary?.damaged == nil)
        #expect(summary?.otherExports == ["old/export.xml"])
    }
}
