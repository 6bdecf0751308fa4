import Configuration
import Foundation
import Glibc
import HTTP
import HealthModel
import NotifyStage
import Simulation
import StageKit
import Synchronization
import TestSupport
import Testing

/// Real programs and a real webhook.
@Suite(.inTurn) struct NotificationRunnerTests {
    private static let alert = Notification(
        id: "uploader/alert/degraded/delivery/9", producer: "uploader", kind: "degraded", subject: "delivery",
        text: "Nothing has reached the backend.", remedy: "Look at the status.", since: 0)

    /// Returns the outcome; nil when none comes.
    private func notify(_ target: NotificationTarget, timeout: Double = Patience.seconds) -> NotificationResult? {
        let runner = NotificationRunner(target, timeout: timeout)
        defer { runner.stop() }
        let result = Mutex<NotificationResult?>(nil)
        let done = DispatchSemaphore(value: 0)
        runner.perform(Effect(id: 1, request: Self.alert)) { answer in
            result.withLock { $0 = answer.value as? NotificationResult }
            done.signal()
            return true
        }
        guard done.wait(timeout: .now() + 2 * Patience.seconds) == .success else { return nil }
        return result.withLock { $0 }
    }

    private func command(_ words: String...) throws -> NotificationTarget {
        try NotificationTarget(command: words, url: nil, tokenFile: nil, file: "test", instance: "notify")
    }

    @Test func aProgramGetsTheAlertOnItsInputAndInItsEnvironment() throws {
        let folder = try TemporaryFolder()
        let script = #"cat > "$0/input"; printf %s "$HEALTHBUS_ALERT_KIND $HEALTHBUS_ALERT_STATE" > "$0/environment""#
        #expect(try notify(command("/bin/sh", "-c", script, folder.path)) == .notified)
        let input = try Value(json: try String(contentsOfFile: folder.path + "/input", encoding: .utf8).utf8)
        #expect(input["kind"] == "degraded" && input["since"] == "1970-01-01T00:00:00Z")
        #expect(try String(contentsOfFile: folder.path + "/environment", encoding: .utf8) == "degraded raised")
    }

    @Test func nothingIsTakenForAShellsText() throws {
        let folder = try TemporaryFolder()
        #expect(try notify(command("/usr/bin/touch", folder.path + "/a; touch b")) == .notified)
        #expect(FileManager.default.fileExists(atPath: folder.path + "/a; touch b"))
    }

    @Test func aProgramThatFailsOrHangsIsAFailureWithAReason() throws {
        #expect(try notify(command("/bin/false")) == .failed("/bin/false ended with 1"))
        #expect(
            try notify(command("/bin/sleep", "1000"), timeout: 1)
                == .failed("/bin/sleep ran longer than 1 s and was ended")
        )
        #expect(throws: ConfigurationError.self) { try command("sleep") }
        #expect(throws: ConfigurationError.self) {
            try NotificationTarget(command: [], url: nil, tokenFile: nil, file: "test", instance: "notify")
        }
    }

    @Test func aWebhookGetsItWithItsTokenAndAnIdempotencyKey() throws {
        let folder = try TemporaryFolder()
        try "secret\n".write(toFile: folder.path + "/token", atomically: false, encoding: .utf8)
        let seen = Mutex<[HTTPRequest]>([])
        let server = try HTTPServer { request in
            seen.withLock { $0.append(request) }
            return HTTPResponse(status: request.path == "/busy" ? 503 : 204)
        }
        defer { server.stop() }
        let base = "http://127.0.0.1:\(server.port)"
        #expect(try notify(.webhook(Webhook(base + "/hook?room=1"), tokenFile: folder.path + "/token")) == .notified)
        let request = try #require(seen.withLock { $0.first })
        #expect(
            request.path == "/hook" && request.query["room"] == "1"
                && request.headers["Authorization"] == "Bearer secret")
        #expect(request.headers["Idempotency-Key"] == "\"uploader/alert/degraded/delivery/9\"")
        #expect(try Value(json: request.body)["text"] == "Nothing has reached the backend.")
        #expect(try notify(.webhook(Webhook(base + "/health%20bus/a%2Fb"), tokenFile: nil)) == .notified)
        #expect(seen.withLock { $0.last?.path } == "/health bus/a/b")
        #expect(try notify(.webhook(Webhook(base + "/busy"), tokenFile: nil)) == .failed("the webhook answered 503"))
    }

    /// Names may be repeated, their order may matter, and a `+` isn't `%2B`.
    @Test(arguments: ["/hook?to=anna&b=1&to=ben&a=x+y&flag&empty=&c=%2B%26", "/hook"])
    func aWebhooksQueryIsSentAsItIsConfigured(_ place: String) throws {
        let listener = try RequestLineListener()
        #expect(try notify(.webhook(Webhook("http://127.0.0.1:\(listener.port)\(place)"), tokenFile: nil)) == .notified)
        #expect(listener.line == "POST \(place) HTTP/1.1")
    }
}

/// Accepts one request and keeps its first line, byte for byte; a server would have decoded it.
private final class RequestLineListener: Sendable {
    let port: Int
    private let listener: Int32
    private let heard = Mutex<String?>(nil)

    init() throws {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        self.listener = listener
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, length) == 0 && listen(listener, 1) == 0 && getsockname(listener, $0, &length) == 0
            }
        }
        port = Int(UInt16(bigEndian: address.sin_port))
        try #require(isBound)
        Thread { [weak self] in
            let client = accept(listener, nil, nil)
            guard client >= 0 else { return }
            defer { close(client) }
            self?.answer(client)
        }.start()
    }

    deinit {
        shutdown(listener, Int32(SHUT_RDWR))
        close(listener)
    }

    var line: String? { heard.withLock { $0 } }

    /// Reads until the body's end, since closing earlier would break the connection.
    private func answer(_ client: Int32) {
        var text: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while text.last != UInt8(ascii: "}") {
            let count = recv(client, &buffer, buffer.count, 0)
            guard count > 0 else { return }
            text += buffer[..<count]
        }
        let request = String(decoding: text, as: UTF8.self)
        heard.withLock { $0 = request.split(separator: "\r\n", maxSplits: 1).first.map(String.init) }
        let reply = Array("HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n".utf8)
        _ = send(client, reply, reply.count, Int32(MSG_NOSIGNAL))
    }
}
