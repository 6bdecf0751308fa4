import FilesStage
import HealthModel
import Testing

/// A sample's row, field by field.
@Suite struct SampleRowsTests {
    private func page() throws -> SamplePage {
        var page = SamplePage()
        page.types = ["HKQuantityTypeIdentifierBodyMass"]
        page.units = ["kg", ""]
        page.origins = [Origin(sourceName: "Balance, \"Scale\"")]
        for (index, start) in ["2025-02-28T23:59:59.5Z", "2025-03-01T00:00:00Z", "2025-03-31T23:59:59Z"].enumerated() {
            let time = try #require(InstantText.parse(start))
            page.ids.append(try #require(SampleID("01956f0e-0000-7000-8000-00000000000\(index)")))
            page.sequence.append(Int64(100 + index))
            page.type.append(0)
            page.unit.append(index == 2 ? 1 : 0)
            page.start.append(time.microseconds)
            page.end.append(time.microseconds + 3_600_000_000)
            page.value.append(index == 2 ? .nan : 76.55)
            page.origin.append(0)
            page.flags.append(index == 2 ? .manual : [])
            page.created.append(0)
            page.metadata.append(index == 1 ? "{\"note\":\"a,b\"}" : "")
            page.payload.append("")
            page.healthKitUUID.append(index == 1 ? SampleID("6e9dd9a5-0000-4000-8000-000000000001") : nil)
        }
        return page
    }

    private func rows(_ format: FileFormat) throws -> (text: String, count: Int64) {
        let month = FilePeriod(.month, at: try #require(InstantText.parse("2025-03-15T00:00:00Z")))
        let span = FileSpan(
            user: "me", content: .samples(type: "HKQuantityTypeIdentifierBodyMass"), period: month, format: format)
        var bytes: [UInt8] = []
        let count = SampleRows(span).append(try page(), to: &bytes)
        return (String(decoding: bytes, as: UTF8.self), count)
    }

    @Test func csv() throws {
        let (text, count) = try rows(.csv)
        // The first sample belongs to the previous month, although it continues into this one.
        #expect(count == 2)
        #expect(
            text == #"""
                01956f0e-0000-7000-8000-000000000001,me,HKQuantityTypeIdentifierBodyMass,2025-03-01T00:00:00Z,\#
                2025-03-01T01:00:00Z,76.55,kg,"Balance, ""Scale""",healthkit,6e9dd9a5-0000-4000-8000-000000000001,\#
                "{""note"":""a,b""}",,101
                01956f0e-0000-7000-8000-000000000002,me,HKQuantityTypeIdentifierBodyMass,2025-03-31T23:59:59Z,\#
                2025-04-01T00:59:59Z,,,"Balance, ""Scale""",manual,,,,102

                """#)
        let commas = SampleRows.columns.count - 1
        #expect(text.split(separator: "\n").last?.count(where: { $0 == "," }) == commas + 1, "one is in a name")
    }

    /// Programs that guess types from the first rows mustn't conclude that a column contains only whole numbers.
    @Test func wholeNumbersHaveAPointToo() {
        var bytes: [UInt8] = []
        for number in [58, -0.5, 0, 1e15, 2e300, .nan] as [Double] {
            bytes.append(real: number)
            bytes.append(UInt8(ascii: " "))
        }
        #expect(String(decoding: bytes, as: UTF8.self) == "58.0 -0.5 0.0 1000000000000000.0 2e+300  ")
    }

    @Test func ndjson() throws {
        let (text, count) = try rows(.ndjson)
        #expect(count == 2)
        let lines = try text.split(separator: "\n").map { try Value(json: Array($0.utf8)) }
        let first = try #require(lines.first)
        #expect(Set((first.object ?? [:]).keys) == Set(SampleRows.columns))
        #expect(
            text.contains("\"value\":76.55,") && first["value"] == 76.55 && first["metadata"] == ["note": "a,b"]
                && first["version"] == 101)
        #expect(lines.last?["value"] == .null && lines.last?["unit"] == .null && lines.last?["source_type"] == "manual")
    }

    @Test func fhir() throws {
        let (text, count) = try rows(.fhir)
        #expect(count == 2)
        let lines = try text.split(separator: "\n").map { try Value(json: Array($0.utf8)) }
        #expect(lines.map { $0["resourceType"].string } == ["Observation", "Observation"])
        #expect(lines.first?["valueQuantity"]["value"] == 76.55)
        #expect(lines.last?["dataAbsentReason"].isNull == false)
    }

    /// A sample without a number has no data point.
    @Test func openMHealth() throws {
        let (text, count) = try rows(.openMHealth)
        #expect(count == 1 && text.split(separator: "\n").count == 1)
        #expect(try Value(json: Array(text.utf8))["body"]["body_weight"] == ["value": 76.55, "unit": "kg"])
    }
}
