import CPosix
import Foundation
import Glibc
import HealthModel
import Processes
import Synchronization
import TestSupport

/// `healthbus mcp` run the way a host runs it: questions go in through one pipe, and answers come out of another.
final class AssistantHost: Sendable {
    private struct Heard {
        var bytes: [UInt8] = []
        var messages: [Value] = []
        var hasEnded = false
    }

    let child: ChildProcess
    private let input: Int32
    private let output: Int32
    private let errorFile: String
    private let heard = Mutex(Heard())
    private let lastID = Mutex<Int64>(0)

    /// Everything that it has written to standard error.
    var error: String { String(decoding: FileManager.default.contents(atPath: errorFile) ?? Data(), as: UTF8.self) }

    init(_ stack: TestStack, _ words: String...) async throws {
        errorFile = stack.path("mcp-\(UInt32.random(in: .min ... .max)).err")
        var down: [Int32] = [-1, -1]
        var up: [Int32] = [-1, -1]
        guard healthbus_pipe(&down) == 0, healthbus_pipe(&up) == 0 else { throw HarnessError("no pipes") }
        defer {
            close(down[0])
            close(up[1])
        }
        (input, output) = (down[1], up[0])
        guard fcntl(output, F_SETFL, O_NONBLOCK) == 0 else { throw HarnessError("the pipe can't be set") }
        child = try await Launcher.shared.start(
            ProcessSpec(
                name: "test", executable: Programs.healthbus, arguments: ["mcp", "--state", stack.state] + words,
                environment: ["HEALTHBUS_STATE": "", "HEALTHBUS_CONFIG": ""],
                streams: .init(input: down[0], output: up[1], errorFile: errorFile)))
    }

    deinit {
        close(input)
        close(output)
    }

    /// Writes text unchanged.
    func write(_ text: String) throws {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBufferPointer { Glibc.write(input, $0.baseAddress, $0.count) }
            guard count > 0 else { throw HarnessError("it reads nothing more: \(error)") }
            rest = rest.dropFirst(count)
        }
    }

    /// The messages that it has sent so far.
    func messages() throws -> [Value] {
        try heard.withLock { heard in
            var buffer = [UInt8](repeating: 0, count: 1 << 16)
            while !heard.hasEnded {
                let count = read(output, &buffer, buffer.count)
                if count < 0 { break }
                heard.hasEnded = count == 0
                heard.bytes += buffer[..<count]
            }
            while let end = heard.bytes.firstIndex(of: 0x0A) {
                guard let message = Value(strictJSON: Array(heard.bytes[..<end])) else {
                    throw HarnessError("not JSON: \(String(decoding: heard.bytes[..<end], as: UTF8.self))")
                }
                heard.messages.append(message)
                heard.bytes.removeSubrange(...end)
            }
            return heard.messages
        }
    }

    func message(with id: Value) async throws -> Value {
        var found: Value?
        try await until("an answer to \(id.json()): \(error.suffix(1000))") {
            found = try messages().last { $0["id"] == id }
            return found != nil
        }
        return found ?? .null
    }

    /// Asks a question, and waits for the answer.
    func ask(_ method: String, _ params: Value = [:]) async throws -> Value {
        let id = lastID.withLock { last in
            last += 1
            return last
        }
        let request: Value = ["jsonrpc": "2.0", "id": .integer(id), "method": .string(method), "params": params]
        try write(request.json() + "\n")
        return try await message(with: .integer(id))
    }

    func initialize() async throws -> Value {
        let answer = try await ask(
            "initialize",
            ["protocolVersion": "2025-06-18", "capabilities": [:], "clientInfo": ["name": "test", "version": "0"]])
        try write(#"{"jsonrpc":"2.0","method":"notifications/initialized"}"# + "\n")
        return answer["result"]
    }

    /// A tool's result.
    func call(_ tool: String, _ arguments: Value = [:]) async throws -> Value {
        try await ask("tools/call", ["name": .string(tool), "arguments": arguments])["result"]
    }

    /// A tool's answer in the form that programs read.
    func answer(_ tool: String, _ arguments: Value = [:]) async throws -> Value {
        let result = try await call(tool, arguments)
        guard result["isError"] == false else { throw HarnessError("\(tool): \(result["content"].json())") }
        return result["structuredContent"]
    }

    /// Closes its input; the command answers what it has read, and then ends.
    func end() async throws -> ProcessExit {
        // The descriptor must stay open until this object is released, so it is redirected away from the pipe instead
        // of being closed.
        let null = open("/dev/null", O_WRONLY | O_CLOEXEC)
        defer { close(null) }
        guard null >= 0, dup2(null, input) >= 0 else { throw HarnessError("its input can't be closed") }
        try await until("the end of healthbus mcp: \(error)") { child.poll() != nil }
        return child.wait()
    }
}
