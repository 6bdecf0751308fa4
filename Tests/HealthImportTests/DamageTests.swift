import HealthImport
import HealthModel
import TestSupport
import Testing

/// If a file is damaged, only the damaged part is lost.
@Suite struct DamageTests {
    /// Kinds of damage to a record's start tag; each makes the tag invalid.
    private enum Damage: CaseIterable {
        case lostQuote, strayLess, strayAmpersand, tornOff, doubled, lostEnd, lostBegin, bareWord, lostEquals,
            noughtInDate
        case wrongByteInDate

        func apply(to tag: String, _ random: inout SeededRandom) -> [UInt8] {
            var bytes = Array(tag.utf8)
            func places(_ text: Unicode.Scalar) -> [Int] { bytes.indices.filter { bytes[$0] == UInt8(ascii: text) } }
            func insideValue() -> Int {
                let quotes = places("\"")
                let pair = Int.random(in: 0..<quotes.count / 2, using: &random) * 2
                return Int.random(in: quotes[pair] + 1...quotes[pair + 1], using: &random)
            }
            switch self {
            case .lostQuote: bytes.remove(at: places("\"").randomElement(using: &random) ?? 0)
            case .strayLess: bytes.insert(UInt8(ascii: "<"), at: insideValue())
            case .strayAmpersand: bytes.insert(UInt8(ascii: "&"), at: insideValue())
            case .tornOff: bytes.removeSubrange(Int.random(in: 2..<bytes.count - 2, using: &random)...)
            case .doubled: bytes.insert(contentsOf: " unit=\"count\"".utf8, at: "<Record".utf8.count)
            case .lostEnd: bytes.removeLast(2)
            case .lostBegin: bytes.removeFirst()
            case .bareWord: bytes.insert(contentsOf: " broken".utf8, at: "<Record".utf8.count)
            case .lostEquals: bytes.remove(at: places("=").randomElement(using: &random) ?? 0)
            case .noughtInDate, .wrongByteInDate:
                guard let date = tag.firstRange(of: "startDate=\"20") else { return bytes }
                let place = tag.utf8.distance(from: tag.utf8.startIndex, to: date.upperBound)
                bytes[place] = self == .noughtInDate ? 0 : 0xE9
            }
            return bytes
        }
    }

    /// One record per line; the value of a record is its number.
    private func records(_ count: Int) -> [String] {
        (0..<count).map { steps("\($0)", more: $0 % 3 == 0 ? " device=\"&lt;a, b&gt;\"" : "") }
    }

    @Test(arguments: 0..<40)
    func everyWholeRecordIsKeptAndEachBrokenOneQuarantined(seed: Int) throws {
        var random = SeededRandom(seed: UInt64(seed))
        let all = records(120)
        var broken: [Int: Damage] = [:]
        for _ in 0..<Int.random(in: 1...40, using: &random) {
            broken[Int.random(in: 0..<all.count, using: &random)] = Damage.allCases.randomElement(using: &random)
        }
        // If the beginning of a tag is missing, it can't be distinguished from an unfinished tag before it.
        for (number, damage) in broken where damage == .lostBegin && broken[number - 1] != nil {
            broken[number] = .doubled
        }
        var document = Array("<?xml version=\"1.0\"?>\n<HealthData locale=\"en\">\n".utf8)
        for (number, record) in all.enumerated() {
            document += broken[number].map { $0.apply(to: record, &random) } ?? Array(record.utf8)
            document.append(UInt8(ascii: "\n"))
        }
        document += Array("</HealthData>\n".utf8)
        let (receiver, summary) = try read(bytes: document)
        let whole = all.indices.filter { broken[$0] == nil }
        #expect(receiver.rows.map { Int($0.value) } == whole, "seed \(seed)")
        let lines = Set(receiver.quarantine.map(\.line))
        for (number, damage) in broken {
            #expect(lines.contains(Int64(number + 3)), "seed \(seed): record \(number), \(damage)")
        }
        // Intact records aren't quarantined.
        #expect(lines == Set(broken.keys.map { Int64($0 + 3) }), "seed \(seed)")
        #expect(summary.quarantined == receiver.quarantine.count)
        // Whatever is refused by an import is also refused by a retry.
        for input in receiver.quarantine {
            let again = CollectingReceiver()
            _ = try ExportReader.reread(element: input.raw, into: again.take)
            #expect(again.rows.isEmpty, "seed \(seed): \(input.raw)")
        }
    }

    @Test(arguments: 0..<60)
    func aCutFileCostsTheElementThatItCutsThrough(seed: Int) throws {
        var random = SeededRandom(seed: UInt64(1000 + seed))
        let all = records(40)
        let head = "<HealthData>\n"
        let whole = head + all.joined(separator: "\n") + "\n</HealthData>"
        let length = Int.random(in: head.utf8.count..<whole.utf8.count - 2, using: &random)
        let (receiver, summary) = try read(bytes: Array(whole.utf8.prefix(length)))
        var end = head.utf8.count
        var expected = 0
        var isCutThrough = false
        for record in all {
            let next = end + record.utf8.count
            if next <= length { expected += 1 } else if end < length { isCutThrough = true }
            end = next + 1
        }
        #expect(receiver.rows.map { Int($0.value) } == Array(0..<expected), "seed \(seed)")
        #expect(receiver.quarantine.count == (isCutThrough ? 1 : 0), "seed \(seed)")
        #expect(summary.damaged?.isCut == true)
    }

    @Test func theIssuesOwnCase() throws {
        let broken = steps("81").replacing("unit=\"count\"", with: "unit=\"count")
        let (receiver, summary) = try read(
            export([steps("80"), broken, steps("82"), steps("83")].joined(separator: "\n")))
        #expect(receiver.rows.map(\.value) == [80, 82, 83])
        #expect(receiver.quarantine.map(\.raw) == [broken] && receiver.quarantine.first?.line == 5)
        #expect(summary.damaged?.isCut == false)
    }

    /// Localized exports have attribute names of several words. These are recognized as metadata, both on import and in
    /// input that has already been quarantined.
    @Test func attributesOfSeveralWordsAreUnderstood() throws {
        let record = steps("7", more: " Aktive Energie de l'été=\"12 kcal\"")
        let (receiver, summary) = try read(export(record))
        #expect(receiver.rows.map(\.value) == [7] && receiver.quarantine.isEmpty && summary.damaged == nil)
        #expect(receiver.rows.first?.metadata == #"{"Aktive Energie de l'été":"12 kcal"}"#)
        let again = CollectingReceiver()
        #expect(try ExportReader.reread(element: record, into: again.take))
        #expect(again.rows.map(\.value) == [7])
        // If a real attribute is preceded by a bare word, either the value of that word or a quote of its neighbour is
        // lost.
        let (other, _) = try read(export(steps("7", more: " broken unit=\"count\"")))
        #expect(other.rows.isEmpty && other.quarantine.count == 1)
    }

    @Test func elementsWithoutEndTagsSwallowNothing() throws {
        let open = steps("1").replacing("/>", with: ">") + #"<MetadataEntry key="k" value="v"/>"#
        let workout =
            #"<Workout workoutActivityType="HKWorkoutActivityTypeRunning" startDate="2025-03-30 08:15:00 +0200" endDate="2025-03-30 08:20:00 +0200"><MetadataEntry key="k" value="v"/>"#
        let closed = workout.replacing("<MetadataEntry key=\"k\" value=\"v\"/>", with: "</Workout>")
        let (receiver, summary) = try read(
            export([open, steps("2"), workout, steps("3"), closed, open, closed].joined(separator: "\n")))
        #expect(receiver.rows.filter { !$0.value.isNaN }.map(\.value) == [1, 2, 3, 1])
        #expect(summary.workouts == 2 && receiver.rows.first?.metadata == #"{"k":"v"}"#)
        #expect(receiver.quarantine.map(\.reason) == ["the element has no end tag"] && receiver.quarantine[0].line == 6)
        #expect(summary.damaged?.what == "an element has no end tag")
        // Far more elements than may be nested.
        let many = (0..<1000).map { steps("\($0)").replacing("/>", with: ">") }.joined(separator: "\n")
        #expect(try read(export(many)).receiver.rows.count == 1000)
    }

    /// These come last in an export, so that no record or workout follows to show that one of them was never closed.
    @Test(arguments: [
        #"ClinicalRecord type="Observation" receivedDate="2025-03-30 08:15:00 +0200" resourceFilePath="/c/1.json""#,
        #"Audiogram startDate="2025-03-30 08:15:00 +0200" endDate="2025-03-30 08:15:00 +0200""#,
        #"VisionPrescription type="Glasses" dateIssued="2025-03-30 08:15:00 +0200""#,
        #"StateOfMind startDate="2025-03-30 08:15:00 +0200" endDate="2025-03-30 08:15:00 +0200""#,
    ])
    func noOtherElementSwallowsItsNeighboursEither(_ tag: String) throws {
        let whole = "<\(tag)/>"
        for torn in ["<\(tag)x>", "<\(tag)", "<\(tag)>", "<\(tag)><Part a=\"1\">"] {
            let (receiver, summary) = try read(export([whole, torn, whole, whole].joined(separator: "\n")))
            #expect(summary.otherSamples == 3 && receiver.rows.count == 3, "\(torn)")
            #expect(receiver.quarantine.map(\.line) == [5], "\(torn)")
            #expect(summary.damaged != nil, "\(torn)")
        }
    }

    @Test func anUnclosedRecordIsFollowedByOtherElements() throws {
        let audiogram = #"<Audiogram startDate="2025-03-30 08:15:00 +0200" endDate="2025-03-30 08:15:00 +0200"/>"#
        let open = steps("1").replacing("/>", with: ">")
        let (receiver, summary) = try read(export([open, audiogram, audiogram].joined(separator: "\n")))
        #expect(summary.records == 1 && summary.otherSamples == 2 && receiver.quarantine.isEmpty)
    }

    @Test func aBrokenPartIsKeptWithItsRecord() throws {
        let record = steps("1").replacing("/>", with: ">")
        let part = #"<MetadataEntry key="a" value="b/>"#
        let (receiver, _) = try read(export(record + part + "\n</Record>\n" + steps("2")))
        #expect(receiver.rows.map(\.value) == [2])
        #expect(receiver.quarantine.map(\.reason) == ["a part of the element isn't well-formed"])
        #expect(receiver.quarantine.map(\.raw) == [record + part])
        let again = CollectingReceiver()
        _ = try ExportReader.reread(element: record + part, into: again.take)
        #expect(again.rows.isEmpty)
    }

    @Test func aBrokenCorrelationKeepsItsRecordsAsItsOwn() throws {
        let correlation =
            #"<Correlation type="HKCorrelationTypeIdentifierFood" sourceName="A & B" startDate="2025-03-30 08:15:00 +0200" endDate="2025-03-30 08:15:00 +0200">"#
        let (receiver, _) = try read(export(correlation + "\n" + steps("1") + "\n</Correlation>\n" + steps("2")))
        #expect(receiver.rows.map(\.value) == [1, 2])
        #expect(receiver.rows.map(\.flags) == [.correlationChild, []])
        #expect(receiver.quarantine.map(\.raw) == [correlation])
    }

    @Test func inputWithoutFormCostsNoMemoryAndNoTime() throws {
        let stray = String(repeating: "x<y ", count: 200_000)
        let (receiver, _) = try read(export(steps("1") + "\n" + stray + "\n" + steps("2")))
        #expect(receiver.rows.map(\.value) == [1, 2])
        let unclosed = #"<Record type=""# + String(repeating: "z", count: 3 << 20)
        #expect(try read(export(steps("1") + unclosed + "\n" + steps("2"))).receiver.rows.map(\.value) == [1, 2])
    }

    /// Broken input is scanned once, rather than once for each broken line before it.
    @Test(arguments: ["<=>\n", "<a =/>\n", "<!-- >\n", "<?x >\n", "<![CDATA[ >\n"])
    func damageTakesTimeByItsLength(_ line: String) throws {
        func time(_ kibibytes: Int) throws -> Duration {
            let text = export(String(repeating: line, count: kibibytes << 10 / line.utf8.count) + steps())
            return try processorTime { _ = try read(text) }.time
        }
        // A warm-up run before the measurement, so that one-time costs aren't included.
        _ = try time(16)
        let (short, long) = (try time(64), try time(512))
        #expect(long < short * 24, "\(long) for eight times what took \(short)")
    }
}
