import Foundation
import Testing

/// The files of this checkout.
enum Checkout {
    static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    static func text(_ path: String) throws -> String {
        try String(contentsOf: root.appending(path: path), encoding: .utf8)
    }

    /// The Swift files below a folder, which are read once for all tests.
    static func sources(in folder: String) throws -> [Source] {
        let found = try swift.get().filter { $0.path.hasPrefix(folder + "/") }
        try #require(!found.isEmpty, "\(folder)")
        return found
    }

    /// Those of the product.
    static func sources() throws -> [Source] { try sources(in: "Sources") + sources(in: "plugins") }

    private static let swift = Result {
        try ["Sources", "plugins", "Tests"].flatMap { folder in
            try #require(FileManager.default.enumerator(atPath: root.appending(path: folder).path))
                .compactMap { $0 as? String }.filter { $0.hasSuffix(".swift") }
                .map { Source(path: "\(folder)/\($0)", text: try text("\(folder)/\($0)")) }
        }
    }
}

/// A regular expression takes long to search all sources, so tests apply it to the files or lines that may match.
struct Source: Sendable {
    /// From the checkout.
    let path: String
    let text: String
    let lines: [Substring]

    init(path: String, text: String) {
        (self.path, self.text) = (path, text)
        lines = text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map(Substring.init)
    }

    var name: String { (path as NSString).lastPathComponent }

    func contains(_ part: String) -> Bool { Self.has(text, part) }

    func lines(with part: String) -> [Substring] {
        contains(part) ? lines.filter { Self.has(String($0), part) } : []
    }

    static func has(_ text: String, _ part: String) -> Bool { strstr(text, part) != nil }
}
