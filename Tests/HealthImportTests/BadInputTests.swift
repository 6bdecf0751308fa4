import Foundation
import HealthImport
import HealthModel
import TestSupport
import Testing

@Suite struct BadInputTests {
    private func failure(_ bytes: [UInt8], name: String = "in") throws -> ImportError? {
        let folder = try TemporaryFolder()
        let path = try folder.file(name, bytes)
        do {
            _ = try ExportReader(path: path).read(into: CollectingReceiver().take)
            return nil
        } catch let error as ImportError {
            #expect(error.description.contains(error.hint))
            return error
        }
    }

    private func isCase(_ error: ImportError?, _ matches: (ImportError) -> Bool) -> Bool {
        error.map { matches($0) } ?? false
    }

    @Test func whatIsNoExportHasAClearError() throws {
        #expect(isCase(try failure([])) { if case .emptyFile = $0 { true } else { false } })
        #expect(isCase(try failure(Array("hello".utf8))) { if case .notAnExport = $0 { true } else { false } })
        #expect(isCase(try failure(Array("<gpx/>".utf8))) { if case .notAnExport = $0 { true } else { false } })
        #expect(
            isCase(try failure(Array("<?xml version=\"1.0\"?><ClinicalDocument/>".utf8), name: "export.xml")) {
                if case .clinicalDocument = $0 { true } else { false }
            })
        #expect(
            isCase(try failure(ZipBytes([(name: String, text: String)]()).bytes)) {
                if case .emptyArchive = $0 { true } else { false }
            })
        let names = (1...7).map { (name: "f\($0).txt", text: "x") }
        let empty = try failure(ZipBytes([("apple_health_export/export.xml", ""), ("a.txt", "x")]).bytes)
        #expect(
            isCase(empty) {
                if case .emptyExportInArchive(_, let entry) = $0 {
                    entry == "apple_health_export/export.xml"
                } else {
                    false
                }
            })
        #expect(empty?.problem.contains("is empty") == true)
        let pretender = try failure(ZipBytes([("Export.xml", "<html>not found</html>")]).bytes)
        #expect(isCase(pretender) { if case .unreadableExportInArchive = $0 { true } else { false } })
        let without = try failure(ZipBytes(names).bytes)
        #expect(
            isCase(without) {
                if case .noExportInArchive(_, let found, let count) = $0 {
                    found == ["f1.txt", "f2.txt", "f3.txt", "f4.txt", "f5.txt"] && count == 7
                } else {
                    false
                }
            })
        #expect(without?.description.contains("f5.txt and 2 more") == true)
        let clinical = ZipBytes([(name: "export_cda.xml", text: "<ClinicalDocument/>")])
        #expect(isCase(try failure(clinical.bytes)) { if case .clinicalDocument = $0 { true } else { false } })
        let encrypted = ZipBytes([(name: "export.xml", bytes: Array(export(steps()).utf8))], encrypted: true)
        #expect(isCase(try failure(encrypted.bytes)) { if case .encryptedArchive = $0 { true } else { false } })
        #expect(
            isCase(try failure(Array(clinical.bytes.prefix(20)))) {
                if case .damagedArchive = $0 { true } else { false }
            })
    }

    @Test func pathsThatCannotBeReadHaveAClearError() throws {
        let folder = try TemporaryFolder()
        #expect(throws: ImportError.isDirectory(path: folder.path)) {
            _ = try ExportReader(path: folder.path).read(into: CollectingReceiver().take)
        }
        let missing = folder.path + "/missing.zip"
        #expect(throws: ImportError.notFound(path: missing)) {
            _ = try ExportReader(path: missing).read(into: CollectingReceiver().take)
        }
        #expect(ImportError.system(EACCES, path: "p") == .notPermitted(path: "p"))
        #expect(ImportError.system(EIO, path: "p").description.contains("p"))
        // Root may read everything, so the error itself can only occur for other users.
        guard getuid() != 0 else { return }
        let closed = try folder.file("closed.xml", export(steps()))
        #expect(chmod(closed, 0) == 0)
        #expect(throws: ImportError.notPermitted(path: closed)) {
            _ = try ExportReader(path: closed).read(into: CollectingReceiver().take)
        }
    }

    /// What the file seems to be, and what takes it.
    @Test(arguments: [
        ("bvx2\u{1}\u{2}", "compressed files (.hae)", "Export Format JSON"),
        ("[{\"type\": 1}]", "is JSON", "/v1/samples"), ("{\"samples\": []}", "is JSON", "/v1/samples"),
        ("Date,Steps,Energy\n2026-01-01,1,2\n", "a table (CSV)", "Export Format JSON"),
        ("a;b;c\r\n", "a table (CSV)", "export.zip"), ("<?xml version=\"1.0\"?><gpx/>", "a route (GPX)", "export.zip"),
        ("7z\u{3C}", "neither a zip archive", "HealthAutoExport-….json"),
        ("BZh9", "archive other than zip", "unpack it"),
        ("Dear diary, today, as ever, nothing", "neither a zip archive", "HealthAutoExport-….json"),
    ]) func aRefusalNamesTheWayThatFits(text: String, what: String, way: String) throws {
        let error = try #require(try failure(Array(text.utf8)))
        #expect(error.problem.contains(what) && error.hint.contains(way), "\(error)")
    }

    @Test func anArchiveOfJSONNamesTheWayToo() throws {
        let error = try failure(ZipBytes([("HealthAutoExport-2026.json", "{}")]).bytes)
        #expect(error?.hint.hasPrefix("if its JSON files are Health Auto Export's, unpack it") == true)
    }

    @Test func truncatedXMLDeliversWhatIsWhole() throws {
        let whole = export((0..<9000).map { steps("\($0)") }.joined(separator: "\n"))
        for length in [whole.utf8.count / 2, whole.utf8.count - 20] {
            let cut = String(decoding: whole.utf8.prefix(length), as: UTF8.self)
            let (receiver, summary) = try read(cut)
            let complete = cut.components(separatedBy: "/>").count - 2
            #expect(summary.records == complete && receiver.rows.count == complete)
            #expect(receiver.rows.last?.value == Double(complete - 1))
            let damage = try #require(summary.damaged)
            #expect(damage.what == "the XML ends before the export does" && damage.entry == "anything.bin")
            #expect(damage.line >= Int64(complete) && damage.line <= Int64(complete) + 5)
        }
    }

    /// What a failing disk or an incomplete copy may leave behind: lines are missing, but the text around the gap
    /// happens to be well-formed.
    @Test func zeroBytesAreDamage() throws {
        let whole = Array(export(steps("80") + "\n" + steps("81") + "\n" + steps("82")).utf8)
        #expect(try read(bytes: whole).summary.damaged == nil)
        var torn = whole
        let first = try #require(String(decoding: whole, as: UTF8.self).range(of: "StepCount"))
        let begin = String(decoding: whole, as: UTF8.self)[..<first.upperBound].utf8.count
        for index in begin..<begin + 300 { torn[index] = 0 }
        let (_, summary) = try read(bytes: torn)
        #expect(summary.damaged != nil, "\(summary)")
    }

    @Test func aRecordWithoutItsEndIsNotWhole() throws {
        let (receiver, summary) = try read(
            #"<HealthData><Record type="HKQuantityTypeIdentifierStepCount" value="1" startDate="2025-03-30 08:15:00 +0200" endDate="2025-03-30 08:15:00 +0200"><MetadataEntry key="a" value="b"/>"#
        )
        #expect(receiver.rows.isEmpty && summary.records == 0 && summary.damaged != nil)
    }

    @Test func aTruncatedArchiveDeliversWhatIsWhole() throws {
        let folder = try TemporaryFolder()
        let document = export((0..<20_000).map { steps("\($0)") }.joined(separator: "\n"))
        let zip = ZipBytes([("apple_health_export/export.xml", document), ("apple_health_export/z.csv", "x")]).bytes
        let receiver = CollectingReceiver()
        let path = try folder.file("cut.zip", Array(zip.prefix(zip.count / 2)))
        let summary = try ExportReader(path: path).read(into: receiver.take)
        // Everything before the cut, except for the record in which the cut lies.
        let before = String(decoding: zip.prefix(zip.count / 2), as: UTF8.self).components(separatedBy: "/>").count - 2
        #expect(receiver.rows.count == before && summary.records == before)
        let damage = try #require(summary.damaged)
        #expect(damage.what.hasPrefix("the archive ends early") && damage.entry == "apple_health_export/export.xml")
        #expect(damage.line > 9000)
    }

    @Test func aCutBehindTheExportLosesNothingOfIt() throws {
        let folder = try TemporaryFolder()
        let zip = ZipBytes([("export.xml", export(steps())), ("z.csv", String(repeating: "x", count: 5000))]).bytes
        let receiver = CollectingReceiver()
        let summary = try ExportReader(path: folder.file("cut.zip", Array(zip.prefix(zip.count - 3000)))).read(
            into: receiver.take)
        #expect(receiver.rows.count == 1 && summary.damaged?.what.hasPrefix("the archive ends early") == true)
    }

    /// A small file with a wrong checksum affects neither the export that follows it nor the route after that.
    @Test func aBrokenFileOfAnArchiveCostsOnlyItself() throws {
        let folder = try TemporaryFolder()
        let gpx = #"<gpx><trkpt lat="1" lon="2"><time>2025-03-30T06:00:00Z</time></trkpt></gpx>"#
        var bytes = ZipBytes([("a.csv", "marker"), ("export.xml", export(steps())), ("r.gpx", gpx)]).bytes
        let place = try #require(bytes.indices.first { bytes[$0...].starts(with: Array("marker".utf8)) })
        bytes[place] = UInt8(ascii: "X")
        let receiver = CollectingReceiver()
        let summary = try ExportReader(path: folder.file("e.zip", bytes)).read(into: receiver.take)
        #expect(receiver.rows.count == 1 && summary.routes == 1 && summary.routePoints == 1)
        #expect(summary.damaged?.entry == "a.csv")
    }

    @Test func namesWithoutEndDoNotMixUp() throws {
        let count = 30_000
        let (receiver, summary) = try read(
            export((0..<count).map { steps("\($0)", more: " device=\"d\($0)\"") }.joined(separator: "\n")))
        #expect(summary.records == count)
        #expect(receiver.rows.allSatisfy { $0.origin.device == "d\(Int($0.value))" && $0.unit == "count" })
    }

    @Test func anErrorOfFormIsReportedAndTheRestGoesOn() throws {
        let broken =
            #"<Record type="HKQuantityTypeIdentifierStepCount" value="1 startDate="2025-03-30 08:15:00 +0200"/>"#
        let (receiver, summary) = try read(
            export([steps("1"), broken, steps("2"), steps("3")].joined(separator: "\n")))
        #expect(receiver.rows.map(\.value) == [1, 2, 3])
        #expect(receiver.quarantine.map(\.reason) == ["the element isn't well-formed"])
        #expect(receiver.quarantine.map(\.raw) == [broken])
        #expect(summary.damaged?.line == 5 && summary.damaged?.isCut == false)
    }

    @Test(arguments: [
        // Entities that the document declares aren't expanded, nor are references to files and network addresses.
        #"<!DOCTYPE HealthData [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;">]>"#,
        #"<!DOCTYPE HealthData [<!ENTITY c SYSTEM "file:///etc/passwd">]>"#,
        #"<!DOCTYPE HealthData SYSTEM "http://127.0.0.1:9/x.dtd" [<!ENTITY % p SYSTEM "http://127.0.0.1:9/y">%p;]>"#,
    ])
    func entitiesAreNotExpanded(documentType: String) throws {
        let (receiver, summary) = try read(
            documentType + "<HealthData locale=\"en\">" + steps(more: #" device="x&c;y""#) + "\n&c;\n" + steps("2")
                + "</HealthData>")
        #expect(receiver.rows.map(\.value) == [2])
        let reason = "the element refers to an entity, and entities aren't read"
        #expect(receiver.quarantine.map(\.reason) == [reason, reason])
        #expect(summary.damaged?.what == "there is an entity, and entities aren't read")
        let again = CollectingReceiver()
        _ = try ExportReader.reread(element: receiver.quarantine[0].raw, into: again.take)
        #expect(again.rows.isEmpty)
    }

    /// If the reference were simply left out, the result would be a different number.
    @Test(arguments: ["1&foo;6", "1&#0;6", "&minus;5", "5&deg;0", "5&#xD800;0"])
    func aReferenceToNothingMakesNoOtherNumber(value: String) throws {
        let (receiver, summary) = try read(
            export(steps().replacing(/value="[^"]*"/, with: "value=\"\(value)\"") + "\n" + steps()))
        #expect(
            receiver.rows.count + receiver.quarantine.count == 2 && receiver.rows.filter { !$0.value.isNaN }.count == 1)
        #expect(summary.charactersReplaced == (value.contains("#") ? 1 : 0))
    }

    @Test func hugeAttributesAndMetadataAreQuarantined() throws {
        let huge = String(repeating: "x", count: 100_000)
        let entries = (0..<20).map { #"<MetadataEntry key="k\#($0)" value="\#(huge)"/>"# }
        let many = steps().replacing("/>", with: ">") + entries.joined() + "</Record>"
        let (receiver, summary) = try read(
            export([steps(more: " device=\"\(huge)\""), many, steps()].joined(separator: "\n")))
        #expect(summary.records == 1 && summary.damaged == nil)
        #expect(
            receiver.quarantine.map(\.reason) == [
                "the element is longer than 64 KiB", "the metadata is longer than 256 KiB",
            ])
        #expect(receiver.quarantine.allSatisfy { $0.raw.utf8.count <= 4096 })
    }

    @Test func nestingTooDeepStopsTheParserNotTheProgram() throws {
        let deep = "<a>" + String(repeating: "<b>", count: 100_000)
        let (receiver, summary) = try read(export(steps() + deep))
        #expect(receiver.rows.count == 1 && summary.damaged != nil)
    }

    @Test(arguments: ["apple_health_export/导出.xml", "apple_health_export/eksport.xml", "x/Export.XML", "data"])
    func theExportIsFoundByContent(name: String) throws {
        let folder = try TemporaryFolder()
        let zip = ZipBytes([
            ("apple_health_export/export_cda.xml", "<?xml version=\"1.0\"?><ClinicalDocument/>"),
            (name, export(steps())),
        ])
        let receiver = CollectingReceiver()
        let summary = try ExportReader(path: folder.file("e", zip.bytes)).read(into: receiver.take)
        #expect(receiver.rows.count == 1 && summary.damaged == nil)
        #expect(summary.ignoredEntries == ["apple_health_export/export_cda.xml"])
    }
}
