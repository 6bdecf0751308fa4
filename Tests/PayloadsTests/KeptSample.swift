import HealthImport
import HealthModel
import HealthPush
import TestSupport
import Testing

/// How a sample comes in: as an export writes it, or as an app sends it.
enum Way {
    /// An element of an export.
    case export(String)
    /// A member of `data` in a request of Health Auto Export.
    case autoExport(String)
    /// An item of a request to `/samples`.
    case samples(String)
}

/// A sample as the store keeps and delivers it: the first of its item, which may have brought others.
struct KeptSample {
    let page: SamplePage
    var payload: Value { page.payloadValue(0) }
    var type: String { page.typeName(0) }

    init(_ way: Way) throws {
        let batch: RecordBatch
        switch way {
        case .export(let element): batch = try Self.imported(element)
        case .autoExport(let members):
            let changes = try HealthAutoExport.changes(
                in: Array("{\"data\":{\(members)}}".utf8), aggregation: nil, now: Instant(seconds: 1_780_000_000))
            try #require(changes.quarantined.isEmpty)
            batch = changes.records
        case .samples(let item):
            let changes = try SamplesBody.changes(json: Array("{\"samples\":[\(item)]}".utf8))
            try #require(changes.quarantined.isEmpty)
            batch = changes.records
        }
        // A correlation's row comes before its parts in a request, and after them in an export.
        let row = batch.types.firstIndex { $0.hasPrefix("HKCorrelation") }.flatMap { type in
            batch.type.firstIndex(of: Int32(type))
        }
        page = try Self.page(of: batch, row ?? 0)
    }

    private static func imported(_ elements: String) throws -> RecordBatch {
        let text = """
            <?xml version="1.0" encoding="UTF-8"?>
            <HealthData locale="en_GB"><ExportDate value="2025-06-01 09:00:00 +0200"/>\(elements)</HealthData>
            """
        let folder = try TemporaryFolder()
        var batches: [RecordBatch] = []
        _ = try ExportReader(path: try folder.file("export.xml", text)).read { event in
            if case .records(let batch) = event, batch.count > 0 { batches.append(batch) }
            if case .quarantined(let inputs) = event { Issue.record("\(inputs.map(\.reason))") }
        }
        return try #require(batches.first)
    }

    private static func page(of batch: RecordBatch, _ row: Int) throws -> SamplePage {
        try #require(batch.count > row)
        var page = SamplePage()
        page.types = [batch.types[Int(batch.type[row])]]
        page.units = [batch.units[Int(batch.unit[row])]]
        page.origins = [batch.origins[Int(batch.origin[row])]]
        page.ids = [SampleID(high: 0x0195_E621_9C60_8ABC, low: 0x8DEF_0123_4567_8900)]
        (page.sequence, page.type, page.unit, page.origin) = ([7], [0], [0], [0])
        (page.start, page.end, page.value) = ([batch.start[row]], [batch.end[row]], [batch.value[row]])
        (page.flags, page.created, page.healthKitUUID) = ([[]], [0], [nil])
        page.metadata.append(batch.metadata[row])
        page.payload.append(batch.payload[row])
        return page
    }
}
