import HealthModel
import ModelContext

/// A client's side of a session.
struct Talk {
    static let server = ContextSession.Server(name: "test", title: "A test", version: "1", instructions: "Ask.")
    static let tool = Tool(
        "look", title: "Look", description: "Looks.",
        parameters: [
            ToolParameter("what", .text, "what to look at", isRequired: true),
            ToolParameter("names", .texts(atMost: 2), "names"), ToolParameter("limit", .integer(1...10), "how many"),
            ToolParameter("all", .flag, "all"), ToolParameter("way", .choice(["up", "down"]), "which way"),
        ], answers: ["type": "object"])

    var session = ContextSession(server, tools: [tool])
    /// Calls that haven't finished.
    var calls: [ContextSession.Call] = []

    mutating func take(_ piece: LineSplitter.Piece) -> [Value] { read(session.take(piece)) }

    /// The messages that answer a line.
    mutating func say(_ line: String) -> [Value] { take(.line(Array(line.utf8))) }

    mutating func finish(_ call: ContextSession.Call, _ answer: ToolAnswer = ToolAnswer("seen", ["seen": true]))
        -> [Value]
    {
        read(session.finish(call, answer))
    }

    private mutating func read(_ outputs: [ContextSession.Output]) -> [Value] {
        var messages: [Value] = []
        for output in outputs {
            switch output {
            case .call(let call): calls.append(call)
            case .line(let line): messages.append(Value(strictJSON: line) ?? "not JSON")
            }
        }
        return messages
    }

    /// The only message; if there are none or several, a string instead, which is never a message.
    mutating func only(_ line: String) -> Value {
        let messages = say(line)
        return messages.count == 1 ? messages[0] : .string("\(messages.count) messages")
    }

    mutating func code(_ line: String) -> Int64? { only(line)["error"]["code"].int }

    mutating func initialize(_ version: String) -> Value {
        only(
            #"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"\#(version)","capabilities":{},"clientInfo":{"name":"c","version":"0"}}}"#
        )
    }

    /// A request in a version without negotiation.
    static func stateless(
        _ method: String, _ params: String = "", id: String = "1", version: String = "2026-07-28"
    ) -> String {
        let meta =
            #""_meta":{"io.modelcontextprotocol/protocolVersion":"\#(version)","io.modelcontextprotocol/clientCapabilities":{}}"#
        return
            #"{"jsonrpc":"2.0","id":\#(id),"method":"\#(method)","params":{\#(meta)\#(params.isEmpty ? "" : ",")\#(params)}}"#
    }

    static func call(_ id: String, what: String = "x") -> String {
        #"{"jsonrpc":"2.0","id":\#(id),"method":"tools/call","params":{"name":"look","arguments":{"what":"\#(what)"}}}"#
    }

    static func cancel(_ id: String) -> String {
        #"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":\#(id),"reason":"enough"}}"#
    }
}
