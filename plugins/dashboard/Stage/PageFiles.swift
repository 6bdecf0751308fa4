import Foundation
import HTTP

/// The page's files in a folder. They are read at each request, so that a change shows when the page is reloaded.
package struct PageFiles: Sendable {
    private let root: String
    /// Files from elsewhere, by path.
    private let others: [String: String]

    /// A larger file can't belong to the page.
    private static let largest = 4 << 20

    private static let types = [
        "html": "text/html; charset=utf-8", "js": "text/javascript; charset=utf-8",
        "mjs": "text/javascript; charset=utf-8",
        "css": "text/css; charset=utf-8", "svg": "image/svg+xml", "json": "application/json", "png": "image/png",
        "ico": "image/x-icon", "woff2": "font/woff2", "txt": "text/plain; charset=utf-8",
        "webmanifest": "application/manifest+json",
    ]

    package init(root: String, others: [String: String] = [:]) {
        self.root = URL(fileURLWithPath: root).resolvingSymlinksInPath().path
        self.others = others
    }

    /// - Returns: nil if there is no such file.
    package func answer(_ request: HTTPRequest) -> HTTPResponse? {
        guard let file = file(request.path), let type = Self.types[(file as NSString).pathExtension],
            let attributes = try? FileManager.default.attributesOfItem(atPath: file),
            attributes[.type] as? FileAttributeType == .typeRegular, let size = attributes[.size] as? Int,
            size <= Self.largest, let changed = attributes[.modificationDate] as? Date
        else { return nil }
        let tag = "\"\(String(size, radix: 36))-\(String(Int(changed.timeIntervalSince1970 * 1000), radix: 36))\""
        let headers: HTTPHeaders = ["ETag": tag, "Cache-Control": "no-cache"]
        if request.headers["If-None-Match"]?.contains(tag) == true {
            return HTTPResponse(status: 304, headers: headers)
        }
        guard let content = FileManager.default.contents(atPath: file) else { return nil }
        var answer = HTTPResponse(status: 200, headers: headers, body: Array(content))
        answer.headers.add("Content-Type", type)
        return answer
    }

    /// The file for a path: below the root, even after links are resolved. Names that begin with a dot aren't served.
    private func file(_ path: String) -> String? {
        if let other = others[path] { return other }
        guard path.hasPrefix("/") else { return nil }
        let parts = (path == "/" ? "/index.html" : path).dropFirst().split(
            separator: "/", omittingEmptySubsequences: false)
        guard parts.allSatisfy({ !$0.isEmpty && !$0.hasPrefix(".") && $0.allSatisfy(Self.isPlain) }) else { return nil }
        let file = URL(fileURLWithPath: root + "/" + parts.joined(separator: "/")).resolvingSymlinksInPath().path
        return file.hasPrefix(root + "/") ? file : nil
    }

    private static func isPlain(_ character: Character) -> Bool {
        character.isASCII && (character.isLetter || character.isNumber || "._-".contains(character))
    }
}
