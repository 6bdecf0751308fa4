import CXMLStream

/// The C parser: everything that it reports is in its input, is correctly nested, and doesn't depend on where blocks
/// end.
enum XMLFuzzing {
    static func run(_ input: [UInt8]) throws {
        let bytes = try cleaned(input)
        let whole = try events(of: bytes, inBlocksOf: bytes.count)
        // A text that is longer than this is passed on in parts as it arrives.
        guard bytes.count < 64 << 10 else { return }
        // Smaller blocks take longer, because incomplete text is examined again with each of them.
        for size in bytes.count < 256 ? [1, 7] : [61] where size < bytes.count {
            let parts = try events(of: bytes, inBlocksOf: size)
            try hold(parts == whole, "in blocks of \(size) bytes it reports something else than in one")
        }
    }

    /// Cleaning text that is already clean changes nothing.
    private static func cleaned(_ input: [UInt8]) throws -> [UInt8] {
        var bytes = input
        var replaced: Int64 = 0
        let done = bytes.withUnsafeMutableBufferPointer { clean($0, &replaced) }
        try hold(done == bytes.count && replaced <= Int64(input.count), "cleaning stops before the end")
        try hold(String(validating: bytes, as: UTF8.self) != nil, "what was cleaned isn't UTF-8")
        try hold((bytes != input) == (replaced > 0), "what was replaced isn't counted")
        var again = bytes
        replaced = 0
        _ = again.withUnsafeMutableBufferPointer { clean($0, &replaced) }
        // Marks are control characters, and become spaces.
        let marks = bytes.count { $0 == 1 }
        try hold(
            again == bytes.map { $0 == 1 ? UInt8(ascii: " ") : $0 } && replaced == Int64(marks),
            "cleaned text changes when it is cleaned again")
        return bytes
    }

    private static func clean(_ bytes: UnsafeMutableBufferPointer<UInt8>, _ replaced: inout Int64) -> Int {
        guard let base = bytes.baseAddress else { return 0 }
        return Int(healthbus_xml_clean(base, Int64(bytes.count), true, &replaced))
    }

    private struct Outcome: Equatable {
        var events: UInt64
        var count: Int
        var errors: Int64
        var dropped: Int64
        var isComplete: Bool
    }

    private static func events(of bytes: [UInt8], inBlocksOf size: Int) throws -> Outcome {
        let witness = Witness()
        let context = Unmanaged.passUnretained(witness).toOpaque()
        let callbacks = healthbus_xml_callbacks(
            start: { context, element in Witness.at(context)?.start(element.pointee) },
            end: { context, code, depth, implied in Witness.at(context)?.end(code, depth, implied) },
            text: { context, bytes, length in Witness.at(context)?.text(bytes, length) },
            stray: { context, line, bytes, length in Witness.at(context)?.stray(line, bytes, length) ?? false })
        let elements = "HealthData Record MetadataEntry Workout"
        guard let parser = healthbus_xml_create(elements, "type value startDate unit", callbacks, context) else {
            throw BrokenRule(description: "there is no parser")
        }
        defer { healthbus_xml_free(parser) }
        var at = 0
        // Each block has memory of its own, so that reading beyond its end is noticed.
        while at < bytes.count {
            let block = Array(bytes[at..<min(at + size, bytes.count)])
            at += block.count
            let goesOn = block.withUnsafeBufferPointer { block in
                block.baseAddress.map { healthbus_xml_feed(parser, $0, Int64(block.count)) } ?? true
            }
            if !goesOn { break }
        }
        healthbus_xml_finish(parser)
        let damage = healthbus_xml_get_damage(parser)
        withExtendedLifetime(witness) {}
        if let broken = witness.broken { throw BrokenRule(description: broken) }
        try hold(witness.count <= 2 * bytes.count + 2, "there are more events than bytes")
        try hold(damage.dropped <= Int64(bytes.count), "more was dropped than came")
        return Outcome(
            events: witness.digest, count: witness.count, errors: damage.errors, dropped: damage.dropped,
            isComplete: healthbus_xml_complete(parser))
    }
}

/// Receives the events: reads each byte that they refer to, and reduces all of it to one number.
private final class Witness {
    private(set) var digest: UInt64 = 0xCBF2_9CE4_8422_2325
    private(set) var count = 0
    private(set) var broken: String?
    private var open: [Int32] = []
    private var line: Int64 = 0

    static func at(_ context: UnsafeMutableRawPointer?) -> Witness? {
        context.map { Unmanaged<Witness>.fromOpaque($0).takeUnretainedValue() }
    }

    func start(_ element: healthbus_xml_element) {
        begin(1)
        if Int(element.depth) != open.count { broken = "an element's depth isn't how many are open" }
        if element.line < line { broken = "lines run backwards" }
        line = element.line
        open.append(element.code)
        add(UInt64(bitPattern: Int64(element.code)))
        add(element.present)
        add(element.malformed ? 1 : 0)
        add(element.empty ? 1 : 0)
        add(UInt64(bitPattern: element.line))
        add(element.name)
        add(element.raw)
        for code in 0..<64 where element.present & 1 << UInt64(code) != 0 { add(element.attributes[code]) }
        for index in 0..<Int(element.extraCount) * 2 { add(element.extras[index]) }
    }

    func end(_ code: Int32, _ depth: Int32, _ implied: Bool) {
        begin(2)
        if open.popLast() != code || Int(depth) != open.count { broken = "another element ends than was open" }
        add(implied ? 1 : 0)
    }

    func text(_ bytes: UnsafePointer<CChar>, _ length: Int64) {
        // This doesn't count as an event, because a text may arrive in parts.
        for byte in UnsafeBufferPointer(start: bytes, count: Int(length)) { add(UInt64(UInt8(bitPattern: byte))) }
    }

    func stray(_ line: Int64, _ bytes: UnsafePointer<CChar>, _ length: Int64) -> Bool {
        begin(3)
        add(UInt64(bitPattern: line))
        add(healthbus_xml_text(bytes: bytes, length: length))
        return true
    }

    private func begin(_ kind: UInt64) {
        count += 1
        add(kind)
    }

    private func add(_ text: healthbus_xml_text) {
        if text.length < 0 { broken = "a text is shorter than nothing" }
        for byte in UnsafeBufferPointer(start: text.bytes, count: Int(max(text.length, 0))) {
            add(UInt64(UInt8(bitPattern: byte)))
        }
        add(0x100)
    }

    private func add(_ word: UInt64) { digest = (digest ^ word) &* 0x100_0000_01B3 }
}
