import HealthModel
import PostgreSQL

/// A batch's samples as rows of the staging table, made in one pass over their columns; manual ones that aren't deleted
/// are set aside to be written one by one.
package struct SampleRows {
    /// Why rows are refused, by index in the batch.
    package private(set) var refused: [Int: String] = [:]
    /// Rows of the page that are manual and not deleted.
    package private(set) var manual: [Int] = []
    private(set) var count = 0
    /// The input for `COPY`.
    package private(set) var bytes: [UInt8] = []
    let years: Set<Int>

    /// The years 0 to 9999, as in JSON times.
    fileprivate static let times: ClosedRange<Int64> = -62_167_219_200_000_000...253_402_300_799_999_999

    /// The columns of a row, in order.
    package static let columns =
        "id, version, deleted, type, start_time, end_time, value, unit, source, manual, healthkit_uuid, metadata, payload"

    package init(_ batch: PostgresBatch) {
        let page = batch.samples
        let fields = PageFields(page)
        var out = CopyRows(fields: 13, reserving: (batch.rows.count + batch.deletions.count) * 260)
        for row in batch.rows {
            if let problem = Self.problem(row, of: page) ?? fields.problem(row) {
                refused[row - batch.rows.lowerBound] = problem
            } else if page.flags[row].contains(.manual), !page.flags[row].contains(.deleted) {
                manual.append(row)
            } else {
                fields.write(row, to: &out)
                count += 1
            }
        }
        for deletion in batch.deletions {
            out.beginRow()
            out.uuid(high: deletion.id.high, low: deletion.id.low)
            out.integer(deletion.version)
            out.bool(true)
            for _ in 0..<6 { out.null() }
            out.bool(false)
            for _ in 0..<3 { out.null() }
            count += 1
        }
        bytes = out.finished()
        years = YearPartition.years(of: batch.rows.lazy.map { page.ids[$0] }).union(
            YearPartition.years(of: batch.deletions.lazy.map(\.id)))
    }

    /// Why a row can't be stored; nil if it can. A deletion always can: only what can be stored of it is.
    private static func problem(_ row: Int, of page: SamplePage) -> String? {
        if page.flags[row].contains(.deleted) { return nil }
        guard times.contains(page.start[row]), times.contains(page.end[row]) else {
            return "its times aren't within the years 0 to 9999"
        }
        return page.end[row] < page.start[row] ? "end is before start" : nil
    }
}

/// The values that a page's rows share, each converted to a field once.
struct PageFields {
    private let page: SamplePage
    private let types: [[UInt8]]
    private let units: [[UInt8]]
    private let sources: [[UInt8]]
    /// Whether these columns must be checked row by row.
    private let needsCheck: (metadata: Bool, payload: Bool, shared: Bool)

    init(_ page: SamplePage) {
        self.page = page
        types = page.types.map { CopyRows.field($0) }
        units = page.units.map { CopyRows.field($0) }
        sources = page.origins.map { CopyRows.field($0.sourceName) }
        let shared = page.types + page.units + page.origins.map(\.sourceName)
        needsCheck = (
            JSONForm.needsCheck(page.metadata.bytes), JSONForm.needsCheck(page.payload.bytes),
            shared.contains { $0.utf8.contains(0) }
        )
    }

    /// Why a row's strings can't be stored; nil if they can.
    func problem(_ row: Int) -> String? {
        if page.flags[row].contains(.deleted) { return nil }
        if needsCheck.shared {
            let unit = page.unitIndex(row).map { page.units[$0] }
            let texts = [page.typeName(row), page.originOf(row).sourceName, unit ?? ""]
            if texts.contains(where: { $0.utf8.contains(0) }) { return JSONForm.nul }
        }
        if needsCheck.metadata, let problem = page.metadata.utf8(row).flatMap({ JSONForm.problem($0) }) {
            return problem
        }
        return needsCheck.payload ? page.payload.utf8(row).flatMap { JSONForm.problem($0) } : nil
    }

    func write(_ row: Int, to out: inout CopyRows) {
        let isDeleted = page.flags[row].contains(.deleted)
        out.beginRow()
        out.uuid(high: page.ids[row].high, low: page.ids[row].low)
        out.integer(page.sequence[row])
        out.bool(isDeleted)
        // Of a deleted sample, only the type, the times and the fact of deletion are kept.
        guard !isDeleted else {
            let isName = !needsCheck.shared || !page.typeName(row).utf8.contains(0)
            if isName { out.raw(types[Int(page.type[row])]) } else { out.null() }
            for time in [page.start[row], page.end[row]] {
                if SampleRows.times.contains(time) { out.time(time) } else { out.null() }
            }
            for _ in 0..<3 { out.null() }
            out.bool(false)
            for _ in 0..<3 { out.null() }
            return
        }
        out.raw(types[Int(page.type[row])])
        out.time(page.start[row])
        out.time(page.end[row])
        out.double(page.value[row])
        if let unit = page.unitIndex(row) { out.raw(units[unit]) } else { out.null() }
        out.raw(sources[Int(page.origin[row])])
        out.bool(page.flags[row].contains(.manual))
        if let uuid = page.uuidOf(row) { out.uuid(high: uuid.high, low: uuid.low) } else { out.null() }
        // An object without members is stored as NULL.
        if let metadata = page.metadata.utf8(row), metadata.count > 2 { out.json(metadata) } else { out.null() }
        if let payload = page.payload.utf8(row) { out.json(payload) } else { out.null() }
    }

    /// Values of a statement's parameters, in the order of `SampleRows.columns`.
    func parameters(_ row: Int) -> [String?] {
        func text(_ column: TextColumn) -> String? { column.utf8(row).map { String(decoding: $0, as: UTF8.self) } }
        func named(_ text: String) -> String? { text.isEmpty ? nil : text }
        let metadata = text(page.metadata)
        return [
            page.ids[row].description, "\(page.sequence[row])", "f", named(page.typeName(row)),
            InstantText.iso8601(page.startOf(row)), InstantText.iso8601(page.endOf(row)),
            page.value[row].isFinite ? "\(page.value[row])" : nil,
            page.unitIndex(row).flatMap { named(page.units[$0]) }, named(page.originOf(row).sourceName), "t",
            page.uuidOf(row)?.description, metadata.flatMap { $0.utf8.count > 2 ? $0 : nil },
            text(page.payload),
        ]
    }
}
