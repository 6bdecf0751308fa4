import CXMLStream

/// A push parser for one document. It starts at the root element: whatever comes before that (the XML declaration, the
/// document type with all its defects and entities) is never parsed.
final class XMLStream {
    /// The maximum length of an export's prolog; the longest one seen is 8 KiB.
    private static let prologLimit = 1 << 20

    private let parser: OpaquePointer
    private let root: [UInt8]
    /// Everything received before the root element; nil once the root element has begun.
    private var prolog: [UInt8]? = []
    /// The first line with zero bytes before the root element.
    private var zerosBeforeRoot: Int64?
    private(set) var isStopped = false

    /// - Parameters:
    ///   - elements: their names, separated by spaces; likewise `attributes`.
    ///   - context: passed to the callbacks; must outlive the parser.
    init(
        root: String, elements: String, attributes: String, callbacks: healthbus_xml_callbacks,
        context: UnsafeMutableRawPointer
    ) throws {
        guard let parser = healthbus_xml_create(elements, attributes, callbacks, context) else {
            throw ImportError.outOfMemory
        }
        self.parser = parser
        self.root = Array("<\(root)".utf8)
    }

    deinit { healthbus_xml_free(parser) }

    /// Whether the root element has ended.
    var isComplete: Bool { healthbus_xml_complete(parser) }
    var hasRoot: Bool { prolog == nil }
    var line: Int64 { healthbus_xml_line(parser) }
    var damage: healthbus_xml_damage { healthbus_xml_get_damage(parser) }

    /// The first line with zero bytes; nil if there are none.
    var firstZeros: Int64? { zerosBeforeRoot ?? (damage.zeros > 0 ? damage.zerosLine : nil) }

    /// Called when no more bytes will come: parses the rest as far as possible.
    func finish() { healthbus_xml_finish(parser) }

    /// Called from a start tag: the open elements from that depth on have no end tags; the element now starting takes
    /// their place.
    func collapse(to depth: Int32) { healthbus_xml_collapse(parser, depth) }

    /// Called from a callback: makes the parser stop calling back.
    func stop() {
        isStopped = true
        healthbus_xml_stop(parser)
    }

    /// Returns false when there is nothing more to do: the root element has ended, or parsing was stopped or can't
    /// continue.
    func feed(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        guard prolog != nil else { return parse(bytes) }
        prolog?.append(contentsOf: bytes)
        guard let collected = prolog else { return false }
        if zerosBeforeRoot == nil, let zero = collected.firstIndex(of: 0) {
            zerosBeforeRoot = 1 + Int64(collected[..<zero].count { $0 == UInt8(ascii: "\n") })
        }
        guard let begin = Self.rootStart(root, in: collected) else { return collected.count < Self.prologLimit }
        prolog = nil
        if let zero = collected.firstIndex(of: 0), zero > begin { zerosBeforeRoot = nil }
        // Lines are counted from the file's first.
        let lines = [UInt8](
            repeating: UInt8(ascii: "\n"), count: collected[..<begin].count { $0 == UInt8(ascii: "\n") })
        return (lines + collected[begin...]).withUnsafeBufferPointer { parse($0) }
    }

    private func parse(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        guard let base = bytes.baseAddress, !bytes.isEmpty else { return true }
        return healthbus_xml_feed(parser, base, Int64(bytes.count)) && !isComplete
    }

    /// The position where "<HealthData" begins an element, as opposed to "<!ELEMENT HealthData" or text in a comment.
    private static func rootStart(_ root: [UInt8], in bytes: [UInt8]) -> Int? {
        let open = Array("<!--".utf8)
        let close = Array("-->".utf8)
        var position = 0
        while let next = bytes[position...].firstIndex(of: UInt8(ascii: "<")) {
            let rest = bytes[next...]
            if rest.starts(with: open) {
                position = next + open.count
                while position < bytes.count, !bytes[position...].starts(with: close) { position += 1 }
                if position >= bytes.count { return nil }
            } else if rest.starts(with: root), next + root.count < bytes.count,
                [0x20, 0x09, 0x0A, 0x0D, UInt8(ascii: ">"), UInt8(ascii: "/")].contains(bytes[next + root.count])
            {
                return next
            } else {
                position = next + 1
            }
        }
        return nil
    }
}
