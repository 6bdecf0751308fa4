import Foundation
import HTTP
import HealthModel
import Processes

extension TestStack {
    /// A new token, made by the command.
    func token(_ words: String...) async throws -> String {
        let made = try await start(["token", "new", "--state", state] + words).ended()
        guard made.exit.isSuccess else { throw HarnessError("token new: \(made.error)") }
        return made.output.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// Sends a request to the ingest.
    func push(
        _ method: String = "POST", _ path: String = "/v1/samples", _ body: [UInt8] = [], token: String?,
        query: [String: String] = [:], headers: [String: String] = ["Content-Type": "application/json"],
        port: Int? = nil, timeout: Double = 60
    ) throws -> HTTPResponse {
        var request = HTTPRequest(method: method, path: path, query: query, body: body)
        if let token { request.headers["Authorization"] = "Bearer \(token)" }
        for (name, value) in headers { request.headers[name] = value }
        return try HTTPClient(base: "http://127.0.0.1:\(port ?? ingestPort)").send(request, timeout: timeout)
    }

    /// Sends samples.
    func push(_ samples: [PushedSteps], token: String, timeout: Double = 60) throws -> HTTPResponse {
        try push(body: PushedSteps.body(samples), token: token, timeout: timeout)
    }

    private func push(body: [UInt8], token: String, timeout: Double) throws -> HTTPResponse {
        try push("POST", "/v1/samples", body, token: token, timeout: timeout)
    }
}

/// A made-up sample of steps. Each number stands for a different minute, starting on a Monday in March 2025.
struct PushedSteps {
    let number: Int

    static let first: Int64 = 1_741_564_800

    var start: Int64 { Self.first + 60 * Int64(number) }
    /// All different, so that no sample can be mistaken for its neighbour.
    var value: Int { 1 + number % 97 }
    var uuid: String { UUID(uuid: bytes).uuidString }

    private var bytes: uuid_t {
        (
            1, 2, 3, 4, 5, 6, 0x80, 8, 0x80, 0, 0, 0, UInt8(number >> 24 & 255), UInt8(number >> 16 & 255),
            UInt8(number >> 8 & 255), UInt8(number & 255)
        )
    }

    var json: String {
        """
        {"uuid": "\(uuid)", "type": "HKQuantityTypeIdentifierStepCount", "start": \(start), "end": \(start + 50), \
        "value": \(value), "unit": "count", "source": "Watch"}
        """
    }

    static func body(_ samples: [PushedSteps], deleted: [PushedSteps] = []) -> [UInt8] {
        let gone = deleted.map { "\"\($0.uuid)\"" }.joined(separator: ",")
        return Array("{\"samples\": [\(samples.map(\.json).joined(separator: ","))], \"deleted\": [\(gone)]}".utf8)
    }
}
