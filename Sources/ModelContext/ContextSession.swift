import HealthModel

/// The server side of the Model Context Protocol, line by line: it takes a line, and returns what to answer or which
/// tool to call. Pure: it reads and writes nothing, and has no clock.
///
/// Calls may finish later, in any order. A request that was cancelled gets no answer.
package struct ContextSession: Sendable {
    /// How this server describes itself.
    package struct Server: Sendable {
        package var name: String
        package var title: String
        package var version: String
        /// For the assistant.
        package var instructions: String

        package init(name: String, title: String, version: String, instructions: String) {
            (self.name, self.title, self.version, self.instructions) = (name, title, version, instructions)
        }
    }

    /// A tool to call, with its arguments as received.
    package struct Call: Sendable, Equatable {
        package let number: Int
        package let tool: String
        package let arguments: [String: Value]
    }

    package enum Output: Sendable, Equatable {
        /// A line to write, followed by a line feed.
        case line([UInt8])
        case call(Call)
    }

    /// A request that was accepted and hasn't been answered.
    struct Open: Sendable {
        var id: ContextID
        var version: ContextVersion
        /// The batch that the request's answer belongs to.
        var batch: Int?
    }

    /// The answers to one array of messages, which are written together.
    struct Batch: Sendable {
        var answers: [Value] = []
        /// How many calls are still under way.
        var waits = 0
    }

    /// What can become of a request.
    enum Reply {
        case answer(Value)
        case error(ContextError)
        case call(tool: String, arguments: [String: Value], ContextVersion)
        /// The request stays open until it is cancelled.
        case stays
    }

    /// How many requests may be under way at once.
    package static let openLimit = 64
    /// How many messages an array may contain.
    package static let batchLimit = 64

    let server: Server
    let tools: [Tool]
    /// The version agreed on through `initialize`.
    var agreed: ContextVersion?
    private var calls: [Int: Open] = [:]
    private var batches: [Int: Batch] = [:]
    /// Open requests for notifications; this server never sends any.
    private var listening: Set<ContextID> = []
    private var lastNumber = 0

    package init(_ server: Server, tools: [Tool]) { (self.server, self.tools) = (server, tools) }

    // MARK: Lines

    package mutating func take(_ piece: LineSplitter.Piece) -> [Output] {
        switch piece {
        case .tooLong: [Self.line(ContextError.invalid("the line is too long").value(for: nil))]
        case .line(let line): take(line)
        }
    }

    private mutating func take(_ line: [UInt8]) -> [Output] {
        guard line.contains(where: { $0 != 0x20 && $0 != 0x09 && $0 != 0x0D }) else { return [] }
        guard let value = Value(strictJSON: line) else {
            return [Self.line(ContextError.unreadable("the line isn't JSON, or is nested too deeply").value(for: nil))]
        }
        if let messages = value.array { return take(batch: messages) }
        var outputs: [Output] = []
        if let answer = take(ContextMessage(value), batch: nil, &outputs) { outputs.append(Self.line(answer)) }
        return outputs
    }

    private mutating func take(batch messages: [Value]) -> [Output] {
        guard agreed?.takesBatches == true else {
            return [
                Self.line(
                    ContextError.invalid("only \(ContextVersion.march2025.rawValue) allows messages in arrays").value(
                        for: nil))
            ]
        }
        guard !messages.isEmpty, messages.count <= Self.batchLimit else {
            return [Self.line(ContextError.invalid("an array has 1 to \(Self.batchLimit) messages").value(for: nil))]
        }
        lastNumber += 1
        let number = lastNumber
        batches[number] = Batch()
        var outputs: [Output] = []
        for message in messages {
            let message = ContextMessage(message)
            if case .request(let id, "initialize", _) = message {
                batches[number]?.answers.append(ContextError.invalid("initialize comes alone").value(for: id))
            } else if let answer = take(message, batch: number, &outputs) {
                batches[number]?.answers.append(answer)
            }
        }
        return outputs + closed(batch: number)
    }

    /// The answers of a batch, once it is complete.
    private mutating func closed(batch number: Int) -> [Output] {
        guard let batch = batches[number], batch.waits == 0 else { return [] }
        batches[number] = nil
        return batch.answers.isEmpty ? [] : [Self.line(.array(batch.answers))]
    }

    /// - Returns: the answer, if it is available at once.
    private mutating func take(_ message: ContextMessage, batch: Int?, _ outputs: inout [Output]) -> Value? {
        switch message {
        case .ignored: return nil
        case .wrong(let id, let error): return error.value(for: id)
        case .notification(let method, let params):
            if method == "notifications/cancelled" { outputs += cancel(params["requestId"]) }
            return nil
        case .request(let id, let method, let params):
            guard !listening.contains(id), !calls.values.contains(where: { $0.id == id }) else {
                return ContextError.invalid("this id is in use").value(for: id)
            }
            switch reply(to: method, params) {
            case .answer(let result): return ["jsonrpc": "2.0", "id": id.value, "result": result]
            case .error(let error): return error.value(for: id)
            case .call(let tool, let arguments, let version):
                guard hasRoom else { return Self.full.value(for: id) }
                lastNumber += 1
                calls[lastNumber] = Open(id: id, version: version, batch: batch)
                if let batch { batches[batch]?.waits += 1 }
                outputs.append(.call(Call(number: lastNumber, tool: tool, arguments: arguments)))
                return nil
            case .stays:
                guard hasRoom else { return Self.full.value(for: id) }
                listening.insert(id)
                outputs.append(Self.line(Self.acknowledgement(of: id)))
                return nil
            }
        }
    }

    private var hasRoom: Bool { calls.count + listening.count < Self.openLimit }
    private static let full = ContextError(code: -32603, message: "Too many requests at once: wait for an answer")

    // MARK: Answers

    /// Whether a call's answer is still wanted.
    package func isWanted(_ call: Call) -> Bool { calls[call.number] != nil }

    /// Takes a call's answer; nothing is written if the call was cancelled.
    package mutating func finish(_ call: Call, _ answer: ToolAnswer) -> [Output] {
        guard let open = calls.removeValue(forKey: call.number) else { return [] }
        let result = result(answer.value(in: open.version), in: open.version)
        let message: Value = ["jsonrpc": "2.0", "id": open.id.value, "result": result]
        guard let batch = open.batch else { return [Self.line(message)] }
        batches[batch]?.answers.append(message)
        batches[batch]?.waits -= 1
        return closed(batch: batch)
    }

    private mutating func cancel(_ id: Value) -> [Output] {
        guard let id = ContextID(id) else { return [] }
        listening.remove(id)
        guard let number = calls.first(where: { $0.value.id == id })?.key,
            let open = calls.removeValue(forKey: number), let batch = open.batch
        else { return [] }
        batches[batch]?.waits -= 1
        return closed(batch: batch)
    }

    /// What to write at the end, so that requests that stayed open are concluded properly.
    package mutating func close() -> [Output] {
        defer { listening = [] }
        return listening.map(\.value).sorted { $0.json() < $1.json() }.map { id in
            Self.line([
                "jsonrpc": "2.0", "id": id,
                "result": ["resultType": "complete", "_meta": ["io.modelcontextprotocol/subscriptionId": id]],
            ])
        }
    }

    private static func acknowledgement(of id: ContextID) -> Value {
        [
            "jsonrpc": "2.0", "method": "notifications/subscriptions/acknowledged",
            "params": ["_meta": ["io.modelcontextprotocol/subscriptionId": id.value], "notifications": [:]],
        ]
    }

    /// The JSON text contains no line feeds, since they are escaped within strings.
    private static func line(_ value: Value) -> Output { .line(Array(value.json().utf8)) }
}
