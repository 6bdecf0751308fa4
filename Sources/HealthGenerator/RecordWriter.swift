import HealthModel

/// Writes the `Record` elements of one stream.
struct RecordWriter {
    let stream: RecordStream
    let unit: PrintedUnit
    let person: Person
    private let opening: [UInt8]
    private let closing: [UInt8]
    private let rings: RingLedger?
    /// Records stored later than this, in seconds since 1970, are left out.
    private let until: Int64

    /// - Parameter rings: the ledger that the records are added to, if the stream counts towards a ring.
    init(
        _ stream: RecordStream, of person: Person, in export: ExportLook, until: Int64,
        indent: String = " ", rings: RingLedger? = nil
    ) {
        (self.stream, self.person, self.until, self.rings) = (stream, person, until, rings)
        unit = PrintedUnit.of(stream.unit, export.system)
        var text =
            "\(indent)<Record type=\"\(stream.type)\""
            + stream.source.attributes(export)
        if !unit.name.isEmpty { text += " unit=\"\(unit.name)\"" }
        opening = Array(text.utf8)
        var end = ""
        for (key, value) in stream.metadata { end += "\n\(indent) <MetadataEntry key=\"\(key)\" value=\"\(value)\"/>" }
        closing = Array((end.isEmpty ? "\"/>\n" : "\">" + end + "\n\(indent)</Record>\n").utf8)
    }

    /// Writes a record up to its value.
    /// - Returns: false, with nothing written, if the record is stored too late.
    private func begin(_ start: Int64, _ end: Int64, stored: Int64, _ text: inout ExportText) -> Bool {
        guard stored <= until else { return false }
        text.flushIfLarge()
        text.records += 1
        text.append(opening)
        text.append(stored: stored, from: start, to: end)
        text.append(" value=\"")
        return true
    }

    /// Writes a quantity, given in canonical units.
    func write(_ start: Int64, _ end: Int64, stored: Int64, _ value: Double, _ text: inout ExportText) {
        if begin(start, end, stored: stored, value, &text) { text.append(closing) }
    }

    private func begin(
        _ start: Int64, _ end: Int64, stored: Int64, _ value: Double, _ text: inout ExportText
    ) -> Bool {
        guard begin(start, end, stored: stored, &text) else { return false }
        if let part = stream.ring { rings?.record(part, start, end, value) }
        text.append(number: unit.canonical == 1 ? value : value / unit.canonical)
        return true
    }

    /// Writes a quantity with nested elements.
    /// - Parameter inside: writes them, each on its own line.
    func write(
        _ start: Int64, _ end: Int64, stored: Int64, _ value: Double, _ text: inout ExportText,
        inside: (inout ExportText) -> Void
    ) {
        guard begin(start, end, stored: stored, value, &text) else { return }
        text.append("\">\n")
        for (key, value) in stream.metadata { text.append("  <MetadataEntry key=\"\(key)\" value=\"\(value)\"/>\n") }
        inside(&text)
        text.append(" </Record>\n")
    }

    /// Writes a category value's name.
    /// - Parameter counts: whether it adds to the stream's ring.
    func write(
        _ start: Int64, _ end: Int64, stored: Int64, name: StaticString, counts: Bool = false, _ text: inout ExportText
    ) {
        guard begin(start, end, stored: stored, &text) else { return }
        if counts, let part = stream.ring { rings?.record(part, start, end, 1) }
        text.append(name)
        text.append(closing)
    }

    /// Writes a category value's name, with metadata for this record only.
    func write(
        _ start: Int64, _ end: Int64, stored: Int64, name: StaticString, zone: String, _ text: inout ExportText
    ) {
        guard begin(start, end, stored: stored, &text) else { return }
        text.append(name)
        text.append("\">\n  <MetadataEntry key=\"HKTimeZone\" value=\"")
        text.append(zone)
        text.append("\"/>\n </Record>\n")
    }
}
