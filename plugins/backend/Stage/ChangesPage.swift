import HTTP
import HealthModel
import JSON

/// One answer to `GET /api/v1/changes`, built up as JSON in the form of the stack's own changes.
struct ChangesPage {
    private let limit: Int
    private var count = 0
    private var changes: [UInt8] = []

    init(limit: Int) { self.limit = limit }

    var isFull: Bool { count == limit || changes.count > BackendQueries.pageBytes }

    /// Appends an element; `body` writes its members, and the closing brace.
    mutating func append(isDeleted: Bool, _ body: (inout [UInt8]) throws -> Void) rethrows {
        if count > 0 { changes.append(UInt8(ascii: ",")) }
        count += 1
        changes.append(json: isDeleted ? "{\"deleted\":true," : "{\"deleted\":false,")
        try body(&changes)
    }

    /// - Parameter body: the document as received; nil if it is deleted.
    /// - Parameter id: as JSON.
    mutating func append(
        _ kind: DocumentKind, id: [UInt8], version: Int64, body: UnsafeRawBufferPointer?
    ) {
        append(isDeleted: body == nil) { out in
            out.append(json: "\"id\":")
            out.append(contentsOf: id)
            out.append(json: ",\"version\":")
            out.append(json: version)
            out.append(json: ",\"type\":")
            out.append(jsonString: "\(kind)")
            if let body {
                out.append(json: ",\"payload\":")
                out.append(contentsOf: body)
            }
            out.append(json: "}")
        }
    }

    func answer(user: String, next: BackendCursor, hasMore: Bool, at now: Instant) -> HTTPResponse {
        var out: [UInt8] = []
        out.reserveCapacity(changes.count + 400)
        out.append(json: "{\"user\":")
        out.append(jsonString: user)
        out.append(json: ",\"serverTime\":")
        out.append(jsonDate: now)
        out.append(json: ",\"next\":")
        out.append(jsonString: next.text)
        out.append(json: hasMore ? ",\"hasMore\":true" : ",\"hasMore\":false")
        // A stack's answer has these; null says that they haven't changed.
        out.append(json: ",\"zones\":null,\"characteristics\":null,\"changes\":[")
        out.append(contentsOf: changes)
        out.append(json: "]}")
        return HTTPResponse(status: 200, json: out)
    }
}
