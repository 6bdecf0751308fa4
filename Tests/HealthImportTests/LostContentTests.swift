import HealthImport
import HealthModel
import TestSupport
import Testing

/// Zero bytes, bytes in another encoding, and content after the export: none of these turn into different content.
@Suite struct LostContentTests {
    private static let zeroReason = "there are zero bytes where the element's content was"
    private static let workout =
        #"<Workout workoutActivityType="HKWorkoutActivityTypeRunning" sourceName="W" startDate="2025-03-30 08:15:00 +0200" endDate="2025-03-30 08:20:00 +0200">"#
    private static let food =
        #"<Correlation type="HKCorrelationTypeIdentifierFood" sourceName="F" startDate="2025-03-30 08:15:00 +0200" endDate="2025-03-30 08:15:00 +0200">"#

    private static func record(_ value: Int) -> String {
        steps("\(value)").replacing("/>", with: ">")
            + "\n  <MetadataEntry key=\"key\(value)\" value=\"v\(value)\"/>\n </Record>"
    }

    /// The text of each element begins and ends on a line of its own.
    private static let document = export(
        [
            steps("1"), record(2), record(3), workout, #"  <MetadataEntry key="w" value="x"/>"#, "</Workout>",
            record(4), food, record(5), record(6), "</Correlation>", steps("7"),
        ].joined(separator: "\n"))

    /// Everything in a sample except for its line number.
    private func samples(_ receiver: CollectingReceiver) -> [String] {
        receiver.rows.map {
            "\($0.type) \($0.start) \($0.end) \($0.value) \($0.unit) \($0.origin) \($0.created) \($0.metadata) \($0.payload)"
        }
    }

    private func expectNoRetry(_ receiver: CollectingReceiver) throws {
        for input in receiver.quarantine {
            #expect(!input.raw.utf8.contains(0))
            let again = CollectingReceiver()
            _ = try ExportReader.reread(element: input.raw, into: again.take)
            #expect(again.rows.isEmpty, "\(input)")
        }
    }

    /// There is a gap at an arbitrary place: everything that is kept was there before, and the gap is reported.
    @Test(arguments: 0..<20)
    func aGapInventsNothing(seed: Int) throws {
        var random = SeededRandom(seed: UInt64(seed))
        let whole = Array(Self.document.utf8)
        let known = Set(samples(try read(bytes: whole).receiver))
        #expect(known.count == 9)
        for _ in 0..<40 {
            let begin = Int.random(in: 60..<whole.count - 20, using: &random)
            let end = min(whole.count - 15, begin + Int.random(in: 1...900, using: &random))
            let zeros = [UInt8](repeating: 0, count: Bool.random(using: &random) ? end - begin : 4096)
            let (receiver, summary) = try read(bytes: whole[..<begin] + zeros + whole[end...])
            #expect(known.isSuperset(of: samples(receiver)), "seed \(seed), \(begin)..<\(end)")
            #expect(
                summary.damaged?.what == "there are zero bytes where content was", "seed \(seed), \(begin)..<\(end)")
            let line = 1 + Int64(whole[..<begin].count { $0 == UInt8(ascii: "\n") })
            // The line where the torn tag begins, or the line of the first zero byte.
            #expect(summary.damaged.map { (line - 1...line).contains($0.line) } == true, "seed \(seed), \(begin)")
            #expect(summary.damaged?.isCut == true)
            try expectNoRetry(receiver)
        }
    }

    /// If a record contains a zero byte anywhere, it isn't stored, but its neighbours are.
    @Test func aZeroByteCostsItsElement() throws {
        let torn = Array(Self.record(2).utf8)
        for place in torn.indices {
            var bytes = torn
            bytes[place] = 0
            let (receiver, summary) = try read(
                bytes: Array("<HealthData>\n\(steps("1"))\n".utf8) + bytes
                    + Array("\n\(steps("3"))\n</HealthData>".utf8))
            #expect(receiver.rows.map(\.value) == [1, 3], "byte \(place)")
            #expect(receiver.quarantine.contains { $0.reason == Self.zeroReason }, "byte \(place)")
            #expect(summary.damaged?.what == "there are zero bytes where content was", "byte \(place)")
            #expect(summary.damaged.map { (3...5).contains($0.line) } == true, "byte \(place)")
            try expectNoRetry(receiver)
        }
    }

    /// The points of a workout that isn't kept don't go to another workout.
    @Test func aTornWorkoutKeepsNoRoute() throws {
        let point = #"<Location date="2025-03-30 08:16:00 +0200" latitude="1" longitude="2"/>"#
        let route = "<WorkoutRoute startDate=\"2025-03-30 08:15:00 +0200\">\n\(point)\n</WorkoutRoute>\n"
        let (receiver, summary) = try read(
            export(Self.workout + "\0" + route + "</Workout>\n" + Self.workout + "</Workout>"))
        #expect(
            summary.workouts == 1 && receiver.routes.isEmpty && receiver.quarantine.map(\.reason) == [Self.zeroReason])
        for tag in ["Workout", "Unknown"] {
            let (other, _) = try read(
                export("<\(tag)>\n\(route)</\(tag)>\n" + Self.workout + "</Workout>"))
            #expect(other.rows.count == 1 && other.routes.isEmpty && other.quarantine.count == 1, "\(tag)")
            #expect(other.rows.first?.payload.contains("route") == false, "\(tag)")
        }
    }

    @Test func pointsWithZeroBytesAreLeftOut() throws {
        func point(_ elevation: String) -> String {
            #"<trkpt lat="1" lon="2"><ele>\#(elevation)</ele><time>2025-03-30T06:00:00Z</time></trkpt>"#
        }
        let folder = try TemporaryFolder()
        let gpx = "<gpx>" + point("5") + point("1\u{0}2") + point("\u{0}7") + "</gpx>"
        let zip = ZipBytes([("export.xml", export(steps())), ("r.gpx", gpx)])
        let receiver = CollectingReceiver()
        let summary = try ExportReader(path: folder.file("e.zip", zip.bytes)).read(into: receiver.take)
        #expect(receiver.routes.flatMap(\.elevation) == [5] && summary.routePointsUnreadable == 2)
        #expect(summary.damaged?.entry == "r.gpx")
    }

    @Test func whatFollowsTheExportIsReported() throws {
        let first = export(steps("1"))
        let lines = Int64(first.utf8.count { $0 == UInt8(ascii: "\n") })
        let harmless = "\n <!-- a > b -->\r\n<?pi x?>\t"
        #expect(try read(first + harmless).summary.damaged == nil)
        for more in ["<HealthData>\(steps("2"))</HealthData>", "x", "<", "<!-- open", "\0", steps("2")] {
            for fill in [0, 300_000] {
                let space = String(repeating: " ", count: fill)
                let (receiver, summary) = try read(first + harmless + space + more)
                #expect(receiver.rows.map(\.value) == [1])
                let damage = try #require(summary.damaged, "\(more)")
                let line = lines + 3
                #expect(damage.what == "there is more after the end of the export, from line \(line): it isn't read")
                #expect(!damage.isCut)
            }
        }
    }

    @Test func bytesInAnotherEncodingCostTheirElement() throws {
        let name = Array("\(steps("2", more: " device=\"Zo~ kind\""))".utf8).map { $0 == UInt8(ascii: "~") ? 0xEB : $0 }
        let entry = Array(Self.record(3).utf8).map { $0 == UInt8(ascii: "v") ? 0xE9 : $0 }
        let between = Array("\n\(steps("1"))\n".utf8)
        let bytes = Array("<HealthData>".utf8) + between + name + between + entry + between
        let (receiver, summary) = try read(bytes: bytes + Array("</HealthData>".utf8))
        #expect(receiver.rows.map(\.value) == [1, 1, 1])
        let reason = "the element has bytes that aren't UTF-8"
        #expect(Set(receiver.quarantine.map(\.reason)).contains(reason))
        #expect(receiver.quarantine.first?.raw.contains("Zo\u{FFFD} kind") == true)
        #expect(summary.damaged?.what == "there are bytes that aren't UTF-8" && summary.damaged?.line == 3)
        #expect(summary.damaged?.isCut == false)
        try expectNoRetry(receiver)
    }

    @Test(arguments: ["ISO-8859-1", "iso-8859-15", "windows-1252", "UTF-16"])
    func anotherDeclaredEncodingIsRefused(encoding: String) throws {
        let text = export(steps()).replacing("UTF-8", with: encoding)
        try expectRefused(Array(text.utf8), encoding)
        try expectRefused([0xEF, 0xBB, 0xBF] + Array(text.replacing("\"", with: "'").utf8), encoding)
    }

    @Test(arguments: ["utf-8", "UTF-8", "us-ascii", "US-ASCII"])
    func theseEncodingsAreRead(encoding: String) throws {
        let text = export(steps()).replacing("UTF-8", with: encoding)
        #expect(try read(text).summary.records == 1)
        #expect(try read("\u{FEFF}" + text).summary.records == 1)
    }

    @Test func utf16IsRefusedByItsMark() throws {
        let units = Array(export(steps()).utf16)
        let little = units.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8($0 >> 8)] }
        let big = units.flatMap { [UInt8($0 >> 8), UInt8(truncatingIfNeeded: $0)] }
        for bytes in [[0xFF, 0xFE] + little, [0xFE, 0xFF] + big, little, big] { try expectRefused(bytes, "UTF-16") }
    }

    private func expectRefused(_ bytes: [UInt8], _ encoding: String) throws {
        let folder = try TemporaryFolder()
        let zip = ZipBytes([(name: "apple_health_export/export.xml", bytes: bytes)]).bytes
        for (name, content) in [("export.xml", bytes), ("export.zip", zip)] {
            let path = try folder.file(name, content)
            let entry = name == "export.zip" ? "apple_health_export/export.xml" : nil
            let receiver = CollectingReceiver()
            let error = ImportError.foreignEncoding(path: path, entry: entry, encoding: encoding)
            #expect(throws: error) { _ = try ExportReader(path: path).read(into: receiver.take) }
            #expect(receiver.rows.isEmpty && receiver.quarantine.isEmpty)
            #expect(error.hint.contains("UTF-8 and import that"))
        }
    }
}
