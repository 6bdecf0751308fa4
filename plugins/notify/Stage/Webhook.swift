import Foundation
import HTTP

/// A webhook's address: the server, and the path and query on it.
package struct Webhook: Sendable, Equatable {
    let server: String
    let path: String
    let query: [String: String]

    /// - Throws: `HTTPError` when it isn't an http or https URL.
    package init(_ url: String) throws {
        var parts = URLComponents(string: url) ?? URLComponents()
        path = parts.percentEncodedPath.isEmpty ? "/" : parts.percentEncodedPath
        query = Dictionary(
            (parts.queryItems ?? []).map { ($0.name, $0.value ?? "") }, uniquingKeysWith: { _, last in last })
        parts.path = ""
        parts.query = nil
        server = parts.string ?? url
        _ = try HTTPClient(base: server)
    }

    /// Posts JSON there, and returns the status of the answer.
    func post(_ json: String, headers: HTTPHeaders, timeout: Double) throws -> Int {
        try HTTPClient(base: server).send(
            HTTPRequest(method: "POST", path: path, query: query, headers: headers, body: Array(json.utf8)),
            timeout: timeout
        ).status
    }
}
