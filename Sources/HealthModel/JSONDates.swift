import JSON

extension JSONSpan {
    /// The moment given by an ISO 8601 string with an offset; nil for anything else.
    package var instant: Instant? {
        kind == .string ? InstantText.parse(bytes.assumingMemoryBound(to: UInt8.self)) : nil
    }
}

extension [UInt8] {
    /// A moment as a JSON string, ISO 8601 in UTC.
    package mutating func append(jsonDate instant: Instant) {
        append(UInt8(ascii: "\""))
        InstantText.append(iso8601: instant, to: &self)
        append(UInt8(ascii: "\""))
    }
}
