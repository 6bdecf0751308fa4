/// A decoder of bytes from outside, and the rules that must hold for any input.
///
/// libFuzzer runs the decoders on its own inputs (`make fuzz`), and the tests run them on those in `Tests/Fuzz/Corpus`;
/// both use this code.
package enum FuzzTarget: String, CaseIterable, Sendable {
    /// The C parser for the XML of an export.
    case xml
    /// An imported file: the XML of an export, an archive, or a file from an archive.
    case export
    /// Input from the bus, and a delivery in columns.
    case cbor
    /// JSON text: the scanner, the tree, and merging objects.
    case json
    /// What an app posts: samples, samples with one per line, and Health Auto Export's format.
    case push

    /// - Parameter input: either a whole document, or a recipe for a large one (`Repetition`).
    /// - Throws: `BrokenRule`.
    package func run(_ input: [UInt8]) throws {
        let bytes = Repetition.unfold(input)
        switch self {
        case .xml: try XMLFuzzing.run(bytes)
        case .export: try ExportFuzzing.run(bytes)
        case .cbor: try CBORFuzzing.run(bytes)
        case .json: try JSONFuzzing.run(bytes)
        case .push: try PushFuzzing.run(bytes)
        }
    }
}

/// A rule that a decoder was supposed to follow but has broken.
package struct BrokenRule: Error, CustomStringConvertible {
    package let description: String
}

func hold(_ condition: Bool, _ rule: @autoclosure () -> String) throws {
    if !condition { throw BrokenRule(description: rule()) }
}

/// Small inputs never reveal code whose running time is quadratic in their length. An input that begins with FE, which
/// can't begin text or CBOR, is therefore a recipe: FE, a length n, n bytes that occur once, and then bytes to repeat
/// up to 64 KiB.
enum Repetition {
    static let limit = 64 << 10

    static func unfold(_ input: [UInt8]) -> [UInt8] {
        guard input.count > 2, input[0] == 0xFE else { return input }
        let body = input[2...]
        let head = body.prefix(Int(input[1]))
        let unit = body.dropFirst(Int(input[1]))
        var bytes = Array(head)
        guard !unit.isEmpty else { return bytes }
        bytes.reserveCapacity(limit + unit.count)
        while bytes.count < limit { bytes.append(contentsOf: unit) }
        return bytes
    }
}
