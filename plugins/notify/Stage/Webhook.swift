import Foundation
import HTTP

/// A webhook's address: the server, and the path and query on it.
package struct Webhook: Sendable, Equatable {
    let server: String
    let path: String
    /// As configured: its order, a name that is repeated and the way it is encoded may matter to the server.
    let query: String?

    /// - Throws: `HTTPError` when it isn't an http or https URL.
    package init(_ url: String) throws {
        var parts = URLComponents(string: url) ?? URLComponents()
        path = parts.percentEncodedPath.isEmpty ? "/" : parts.percentEncodedPath
        query = parts.percentEncodedQuery
        parts.path = ""
        parts.query = nil
        server = parts.string ?? url
        _ = try HTTPClient(base: server)
    }

    /// Posts JSON there, and returns the status of the answer.
    func post(_ json: String, headers: HTTPHeaders, timeout: Double) throws -> Int {
        var request = HTTPRequest(method: "POST", path: path, headers: headers, body: Array(json.utf8))
        request.encodedQuery = query
        return try HTTPClient(base: server).send(request, timeout: timeout).status
    }
}
