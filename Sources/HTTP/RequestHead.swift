import CMicroHTTPD

/// A request's head as read by libmicrohttpd, without anything that two readers could understand differently.
struct RequestHead {
    var request: HTTPRequest
    /// The length of the body, if the client announces it.
    let contentLength: Int?
    /// Whether the client sends its body only once asked to.
    let waitsForContinue: Bool

    /// - Throws: 400 or 501, after which the connection ends.
    init(
        _ connection: OpaquePointer, method: UnsafePointer<CChar>, path: UnsafePointer<CChar>,
        version: UnsafePointer<CChar>?
    ) throws(HTTPRefusal) {
        let fields = Self.pairs(.HEADER_KIND, of: connection)
        let arguments = Self.pairs(.GET_ARGUMENT_KIND, of: connection)
        // Malformed percent-encoding also comes out as invalid UTF-8 (shim.h).
        guard let method = String(validatingCString: method), let path = String(validatingCString: path),
            arguments.isValid
        else { throw .malformed("the URL isn't percent-encoded UTF-8") }
        request = HTTPRequest(method: method, path: path)
        for (name, value) in fields.pairs { request.headers.add(name, value) }
        for (name, value) in arguments.pairs { request.query[name] = value }
        request.peer = healthbus_http_peer(connection)

        let isNew = version.map { String(cString: $0) } == "HTTP/1.1"
        let hosts = request.headers.all("Host").count
        guard hosts == 1 || (hosts == 0 && !isNew) else { throw .malformed("the request must have one Host header") }
        let lengths = request.headers.all("Content-Length")
        let transfers = request.headers.all("Transfer-Encoding")
        // A proxy in front of this server might use the other length, and see different requests from the ones we see.
        guard lengths.count + transfers.count <= 1 else {
            throw .malformed("the length of the body is given more than once")
        }
        if let transfer = transfers.first {
            guard isNew else { throw .malformed("HTTP/1.0 has no Transfer-Encoding") }
            guard transfer.lowercased() == "chunked" else {
                throw HTTPRefusal(
                    501, "the Transfer-Encoding isn't known", hint: "send it chunked, or with Content-Length",
                    headers: ["Connection": "close"])
            }
        }
        // The length consists of digits, or libmicrohttpd would have refused it. A length that doesn't fit into an
        // `Int` is too many bytes.
        contentLength = lengths.first.map { Int($0) ?? .max }
        waitsForContinue = isNew && request.headers["Expect"]?.lowercased() == "100-continue"
    }

    private static func pairs(_ kind: MHD_ValueKind, of connection: OpaquePointer) -> PairCollector {
        let collector = PairCollector()
        MHD_get_connection_values(
            connection, kind, PairCollector.onPair, Unmanaged.passUnretained(collector).toOpaque())
        return collector
    }
}

/// Receives name and value pairs from libmicrohttpd's iterator.
private final class PairCollector {
    private(set) var pairs: [(String, String)] = []
    /// Whether all pairs were UTF-8; headers needn't be.
    private(set) var isValid = true

    static let onPair: MHD_KeyValueIterator = { context, _, name, value in
        guard let context, let name else { return .NO }
        let collector = Unmanaged<PairCollector>.fromOpaque(context).takeUnretainedValue()
        for text in [name, value].compactMap({ $0 }) where String(validatingCString: text) == nil {
            collector.isValid = false
        }
        collector.pairs.append((String(cString: name), value.map { String(cString: $0) } ?? ""))
        return .YES
    }
}
