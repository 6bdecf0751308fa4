import DeliveryKit
import HealthModel
import JSON

/// The answer to `GET /api/v1/versions`: a page of what a backend keeps.
extension HeldPage {
    /// nil when the body isn't such a page.
    package init?(versions body: [UInt8]) {
        guard JSONScanner.isUTF8(body) else { return nil }
        var columns = VersionColumns()
        do { try body.withUnsafeBytes { try columns.take($0) } } catch {
            // The body isn't such an answer, so nothing more can be learned from it.
            return nil
        }
        guard let page = columns.page else { return nil }
        self = page
    }

    /// What is wrong with the page as the answer to a question, as the end of a sentence; nil if nothing is. Cursors are
    /// the backend's own, so they say nothing about ids.
    package func fault(of question: HeldQuestion) -> String? {
        var last = question.after
        for row in rows where isOrdered {
            guard let id = row.id else { continue }
            guard last.map({ $0 < id }) ?? true else { return "ids aren't in order" }
            last = id
        }
        return next != nil && next == question.place ? "nextCursor doesn't move" : nil
    }
}

extension HeldQuestion {
    /// Where the page begins; nil for the beginning.
    package var place: String? { cursor ?? after?.description }
}

private struct VersionColumns {
    private var ids: [(id: SampleID?, text: String)]?
    private var versions: [Int64]?
    private var deleted: [Bool]?
    private var contents: [Int64]?
    private var generation: String?
    private var next: String?
    private var isCursorReadable = true

    mutating func take(_ body: UnsafeRawBufferPointer) throws(JSONScanError) {
        var scanner = JSONScanner(body)
        try scanner.beginObject()
        while let name = try scanner.nextMember() {
            if name == "ids" {
                ids = try Self.column(&scanner) { $0.isString ? Self.id($0) : nil }
            } else if name == "versions" {
                versions = try Self.column(&scanner) { $0.integer }
            } else if name == "deleted" {
                deleted = try Self.column(&scanner) { span in span.integer.map { $0 != 0 } }
            } else if name == "contents" {
                contents = try Self.column(&scanner) { $0.integer }
            } else {
                let span = try scanner.value()
                if name == "generation" { generation = span.text }
                // Text by the contract; a number's digits do as well. Anything else can't be sent back.
                if name == "nextCursor", !span.isNull {
                    next = span.text ?? span.integer.map { String($0) }
                    isCursorReadable = next != nil
                }
            }
        }
        try scanner.end()
    }

    /// nil when a column is missing, or has a different length.
    var page: HeldPage? {
        guard isCursorReadable, let ids, let versions, let deleted, ids.count == versions.count,
            ids.count == deleted.count,
            contents.map({ $0.count == ids.count }) ?? true
        else { return nil }
        return HeldPage(
            rows: ids.indices.map { index in
                HeldPage.Row(
                    id: ids[index].id, text: ids[index].text,
                    held: HeldVersion(
                        version: versions[index], isDeleted: deleted[index],
                        content: deleted[index] ? nil : contents?[index]))
            }, next: next, generation: generation, reportsContents: contents != nil || deleted.allSatisfy { $0 })
    }

    private static func id(_ span: JSONSpan) -> (id: SampleID?, text: String) {
        let id = SampleID(uuid: span.bytes)
        return (id, id == nil ? span.text ?? "" : "")
    }

    /// nil when it isn't an array, or one of its elements has a different type.
    private static func column<Element>(
        _ scanner: inout JSONScanner, _ element: (JSONSpan) -> Element?
    ) throws(JSONScanError) -> [Element]? {
        guard scanner.nextIsArray() else {
            _ = try scanner.value()
            return nil
        }
        var column: [Element] = []
        var isWhole = true
        try scanner.beginArray()
        while try scanner.nextElement() {
            if let value = element(try scanner.value()) { column.append(value) } else { isWhole = false }
        }
        return isWhole ? column : nil
    }
}
