import CXMLStream

/// An element with everything in it, for kinds of element that number in the thousands, not millions.
struct ElementTree {
    var name: String
    var line: Int64
    var attributes: [(name: String, value: String)]
    /// All text between its tags; usually it is empty.
    var text = ""
    var children: [ElementTree] = []

    func attribute(_ name: String) -> String? { attributes.first { $0.name == name }?.value }

    func children(_ name: String) -> [ElementTree] { children.filter { $0.name == name } }
}

/// Builds a tree from the parser's calls, within limits.
struct TreeBuilder {
    /// No real workout is larger; the limit keeps memory use flat whatever the input.
    private static let byteLimit = 2 << 20

    private var open: [ElementTree] = []
    private var bytes = 0
    private(set) var isTooLarge = false

    var isOpen: Bool { !open.isEmpty }

    mutating func start(_ element: UnsafePointer<healthbus_xml_element>) {
        bytes += Int(element.pointee.raw.length) + 64
        if bytes > Self.byteLimit { isTooLarge = true }
        let attributes = isTooLarge ? [] : element.allAttributes
        open.append(ElementTree(name: element.pointee.name.string, line: element.pointee.line, attributes: attributes))
    }

    /// The whole tree, if this was the end of its root.
    mutating func end() -> ElementTree? {
        guard let ended = open.popLast() else { return nil }
        guard !open.isEmpty else { return ended }
        if !isTooLarge { open[open.count - 1].children.append(ended) }
        return nil
    }

    /// Adds text to the innermost element.
    mutating func add(_ text: UnsafeBufferPointer<UInt8>) {
        bytes += text.count
        if bytes > Self.byteLimit { isTooLarge = true }
        if !isTooLarge, !open.isEmpty { open[open.count - 1].text += ElementText.decoded(text) }
    }

    func isRoot(named name: healthbus_xml_text) -> Bool {
        open.first.map { name.buffer.elementsEqual($0.name.utf8) } ?? false
    }

    func rootAttribute(_ name: String) -> String? { open.first?.attribute(name) }

    mutating func reset() { self = TreeBuilder() }
}

/// Text between tags.
private enum ElementText {
    private static let entities = [
        ("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&apos;", "'"),
        // Done last, so that nothing is decoded twice.
        ("&amp;", "&"),
    ]

    static func decoded(_ bytes: UnsafeBufferPointer<UInt8>) -> String {
        let text = String(decoding: bytes, as: UTF8.self)
        guard bytes.contains(UInt8(ascii: "&")) else { return text }
        return entities.reduce(text) { $0.replacing($1.0, with: $1.1) }
    }
}
