import HealthModel
import JSON

// Items composed of samples: correlations, and statistics for a stretch of time.
extension SampleItem {
    private static let partLimit = 4096

    /// Adds the correlation's row, and one for each of its parts.
    func withParts(_ row: RecordRows.Row) throws(SampleProblem) -> [RecordRows.Row] {
        var rows: [RecordRows.Row] = []
        for span in try partSpans() {
            var part = try SampleItem(span)
            part.inherit(self)
            let found = try part.rows(item: row.item)
            guard var child = found.first, found.count == 1 else {
                throw SampleProblem(reason: "a correlation's parts are plain samples")
            }
            child.flags.insert(.correlationChild)
            rows.append(child)
        }
        var whole = row
        let parts = rows.map { Value(partOfType: $0.type, unit: $0.unit, $0.value, $0.start, $0.end) }
        whole.payload = Array(Value.object(["parts": .array(parts)]).json().utf8)
        return [whole] + rows
    }

    private func partSpans() throws(SampleProblem) -> [JSONSpan] {
        guard let parts, parts.kind == .array else {
            throw SampleProblem(reason: "a correlation has its samples in 'parts'")
        }
        var spans: [JSONSpan] = []
        do throws(JSONScanError) {
            var scanner = JSONScanner(parts.bytes)
            try scanner.beginArray()
            while try scanner.nextElement() { spans.append(try scanner.value()) }
        } catch { throw SampleProblem(reason: "\(error)") }
        guard spans.count <= Self.partLimit else {
            throw SampleProblem(reason: "a correlation has at most \(Self.partLimit) parts")
        }
        return spans
    }

    /// Turns the row into a statistic. `statistics` is true, or an object that may have a `minimum` and a `maximum` in
    /// the unit of the value.
    func readStatistics(_ span: JSONSpan, _ row: inout RecordRows.Row) throws(SampleProblem) {
        if span.kind == .bool, span.bytes.first == UInt8(ascii: "f") { return }
        guard span.kind == .bool || span.kind == .object else {
            throw SampleProblem(reason: "statistics is true, or {\"minimum\", \"maximum\"}")
        }
        guard HealthType.named(row.type).kind == .quantity, row.end > row.start else {
            throw SampleProblem(reason: "statistics need a quantity type and a stretch of time")
        }
        if span.kind == .object {
            let spread = try spread(span, &row)
            if !spread.isEmpty { row.payload = Array(Value.object(spread).json().utf8) }
        }
        row.type = HealthType.statistics(of: row.type)
    }

    private func spread(_ object: JSONSpan, _ row: inout RecordRows.Row) throws(SampleProblem) -> [String: Value] {
        let type = HealthType.named(row.type)
        let factors = try factors(for: type, &row)
        let possible = PlausibilityLimit.of(type).values
        var given: [(name: String, value: JSONSpan)] = []
        try object.eachMember { name, value in
            if name == "minimum" { given.append(("minimum", value)) }
            if name == "maximum" { given.append(("maximum", value)) }
        }
        var spread: [String: Value] = [:]
        for (name, value) in given where !value.isNull {
            guard value.kind == .number, let number = factors.convert(value.bytes.bindMemory(to: UInt8.self)),
                number.isFinite, possible.contains(number)
            else { throw SampleProblem(reason: "the \(name) is impossible") }
            spread[name] = .number(number)
        }
        return spread
    }
}
