import HealthModel

/// A request's id: text or an integer. MCP forbids null, and a fraction might come back as a different number.
package enum ContextID: Sendable, Hashable {
    case integer(Int64)
    case text(String)

    init?(_ value: Value) {
        switch value {
        case .integer(let number): self = .integer(number)
        case .string(let text): self = .text(text)
        default: return nil
        }
    }

    var value: Value {
        switch self {
        case .integer(let number): .integer(number)
        case .text(let text): .string(text)
        }
    }
}

/// A protocol error, as defined by JSON-RPC 2.0. A tool that can't do something says so in its answer, not through such
/// an error.
package struct ContextError: Error, Sendable, Equatable {
    package var code: Int64
    package var message: String
    package var data: Value = .null

    package static func unreadable(_ why: String) -> Self { Self(code: -32700, message: "Parse error: \(why)") }
    package static func invalid(_ why: String) -> Self { Self(code: -32600, message: "Invalid request: \(why)") }
    package static func unknownMethod(_ name: String) -> Self {
        Self(code: -32601, message: "Method not found: \(shortened(name))")
    }
    package static func wrongParameters(_ why: String) -> Self { Self(code: -32602, message: "Invalid params: \(why)") }
    package static func unsupported(_ version: String) -> Self {
        Self(
            code: -32022, message: "Unsupported protocol version",
            data: [
                "supported": .array(ContextVersion.allCases.reversed().map { .string($0.rawValue) }),
                "requested": .string(shortened(version)),
            ])
    }

    /// Text from outside, cut to a length that suits a message.
    static func shortened(_ text: String) -> String { text.count > 100 ? text.prefix(100) + "…" : text }

    func value(for id: ContextID?) -> Value {
        var error: [String: Value] = ["code": .integer(code), "message": .string(message)]
        if !data.isNull { error["data"] = data }
        return ["jsonrpc": "2.0", "id": id?.value ?? .null, "error": .object(error)]
    }
}

/// A JSON-RPC 2.0 message, classified by its form alone. Pure.
enum ContextMessage: Equatable {
    /// `params` is an object, or null if there are no parameters.
    case request(ContextID, method: String, params: Value)
    case notification(method: String, params: Value)
    /// An answer that doesn't belong to any request, or a notification that isn't understood. Neither gets a reply.
    case ignored
    case wrong(ContextID?, ContextError)

    init(_ value: Value) {
        guard let members = value.object else {
            self = .wrong(nil, .invalid("a message must be an object"))
            return
        }
        let id = members["id"].flatMap { ContextID($0) }
        if members["id"] != nil, id == nil {
            self = .wrong(nil, .invalid("an id must be a string or an integer"))
            return
        }
        guard members["jsonrpc"] == "2.0" else {
            self = .wrong(id, .invalid("\"jsonrpc\" must be \"2.0\""))
            return
        }
        guard let method = members["method"]?.string else {
            let isAnswer = members["method"] == nil && (members["result"] != nil || members["error"] != nil)
            self = isAnswer ? .ignored : .wrong(id, .invalid("\"method\" must be a string"))
            return
        }
        let params = members["params"] ?? .null
        let isReadable = params.isNull || params.object != nil
        switch id {
        case let id? where isReadable: self = .request(id, method: method, params: params)
        case let id?: self = .wrong(id, .wrongParameters("\"params\" must be an object"))
        case nil: self = isReadable ? .notification(method: method, params: params) : .ignored
        }
    }
}
