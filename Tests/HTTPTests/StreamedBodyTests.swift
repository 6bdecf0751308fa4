import Dispatch
import Foundation
import HTTP
import HealthModel
import Synchronization
import TestSupport
import Testing

/// Bodies that are written to files while they arrive.
@Suite(.inTurn) struct StreamedBodyTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// Streams bodies that are sent to /file with the right token.
    private func server(limit: Int = 8 << 20, limits: HTTPServer.Limits = .init()) throws -> HTTPServer {
        let folder = folder.path
        return try HTTPServer(
            limits: limits,
            admission: { request in
                guard request.bearerToken == "secret" else { return .refuse(HTTPResponse(status: 401)) }
                guard request.path == "/file" else { return .collect() }
                do throws(HTTPRefusal) {
                    let receiver = try FileReceiver(folder: folder) { Issue.record("\($0)") }
                    return .stream(
                        .init(to: receiver, limit: limit) { request in
                            do throws(HTTPRefusal) {
                                let hash = receiver.contentHash
                                try receiver.keep(as: request.query["name"] ?? "kept")
                                let said = "\(receiver.byteCount) \(hash.high) \(hash.low)"
                                return HTTPResponse(status: 201, body: Array(said.utf8))
                            } catch {
                                return error.answer
                            }
                        })
                } catch {
                    return .refuse(error.answer)
                }
            }, handler: { HTTPResponse(status: 200, body: Array("got \($0.body.count)".utf8)) })
    }

    /// Whoever lets a request in may make its answer too; the server's handler then isn't called.
    @Test func anAdmissionMayAnswer() throws {
        let server = try HTTPServer(admission: { head in
            guard head.path == "/own" else { return .collect() }
            return .collect { HTTPResponse(status: 200, body: Array("\(head.method) \($0.body.count)".utf8)) }
        })
        defer { server.stop() }
        let client = try HTTPClient(base: "http://127.0.0.1:\(server.port)")
        for (path, status, text) in [("/own", 200, "POST 3"), ("/other", 404, "")] {
            let request = HTTPRequest(method: "POST", path: path, body: [1, 2, 3])
            let answer = try client.send(request, timeout: Patience.seconds)
            #expect(answer.status == status && answer.text == text)
        }
    }

    private func names() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: folder.path) }

    private func head(_ more: String, path: String = "/file", token: String = "secret") -> String {
        "POST \(path) HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer \(token)\r\n\(more)\r\n\r\n"
    }

    private func digest(_ body: [UInt8]) -> String {
        let hash = ContentHash()
        hash.add(body)
        return "\(body.count) \(hash.words.high) \(hash.words.low)"
    }

    @Test(arguments: [0, 1, 3_000_000]) func becomesAFile(_ size: Int) throws {
        let server = try server()
        defer { server.stop() }
        let body = Compressed.noise(size)
        let client = try HTTPClient(base: "http://127.0.0.1:\(server.port)")
        let plain: HTTPHeaders = ["Authorization": "Bearer secret"]
        var gzip = plain
        gzip.add("Content-Encoding", "gzip")
        for (name, headers, sent) in [("a", plain, body), ("b", gzip, try Compressed.gzip(body))] {
            let answer = try client.send(
                HTTPRequest(method: "POST", path: "/file", query: ["name": name], headers: headers, body: sent),
                timeout: Patience.seconds)
            #expect(answer.status == 201 && answer.text == digest(body))
        }
        let chunked = Array(head("Transfer-Encoding: chunked", path: "/file?name=c").utf8) + Line.chunked(body)
        #expect(try Line.exchange(server.port, chunked).contains(digest(body)))
        for name in ["a", "b", "c"] {
            #expect(FileManager.default.contents(atPath: folder.path + "/" + name) == Data(body))
        }
        #expect(try names().count == 3)
        // A file is never replaced if its name is taken.
        let again = try client.send(
            HTTPRequest(method: "POST", path: "/file", query: ["name": "a"], headers: plain, body: [1]), timeout: 60)
        #expect(again.status == 409)
        #expect(FileManager.default.contents(atPath: folder.path + "/a") == Data(body))
        #expect(try names().count == 3)
        for name in ["../a", "", "..", "x/y"] {
            let out = try client.send(
                HTTPRequest(method: "POST", path: "/file", query: ["name": name], headers: plain, body: [1]),
                timeout: 60)
            #expect(out.status == 400, "\(name)")
        }
        #expect(try names().count == 3)
        // Bodies for other paths are still collected in memory.
        let other = try client.send(HTTPRequest(method: "POST", path: "/", headers: plain, body: [1, 2]), timeout: 60)
        #expect(other.text == "got 2")
    }

    @Test func whatIsTooLongLeavesNothing() throws {
        let server = try server(limit: 1000)
        defer { server.stop() }
        let long = Compressed.noise(1001)
        for answer in [
            try Line.exchange(server.port, Array(head("Content-Length: 1001").utf8) + long),
            try Line.exchange(server.port, Array(head("Transfer-Encoding: chunked").utf8) + Line.chunked(long)),
            try Line.exchange(
                server.port,
                Array(head("Transfer-Encoding: chunked\r\nContent-Encoding: gzip").utf8)
                    + Line.chunked(try Compressed.gzip([UInt8](repeating: 0, count: 1001)))),
        ] { #expect(answer.contains(" 413 ") && answer.contains("1000 bytes"), "\(answer)") }
        #expect(try names() == [])
    }

    @Test(arguments: [false, true]) func whoIsCutOffLeavesNothing(_ isChunked: Bool) throws {
        let server = try server()
        defer { server.stop() }
        do {
            let line = try Line(server.port)
            line.say(head(isChunked ? "Transfer-Encoding: chunked" : "Content-Length: 100000"))
            line.say((isChunked ? "1388\r\n" : "") + String(repeating: "a", count: 5000))
            #expect(try eventually { try names().count == 1 })
        }
        #expect(try eventually { try names() == [] })
    }

    @Test func whoTricklesIsCutOff() throws {
        var limits = HTTPServer.Limits()
        limits.streamSeconds = 1
        // A stream has a time limit of its own.
        limits.requestSeconds = 0
        let server = try server(limits: limits)
        defer { server.stop(drainSeconds: 0) }
        let line = try Line(server.port)
        line.say(head("Content-Length: 100000") + "abc")
        #expect(line.rest() == "")
        #expect(try eventually { try names() == [] })
    }

    @Test func stoppingLeavesNothing() throws {
        let server = try server()
        let line = try Line(server.port)
        line.say(head("Content-Length: 100000") + "abc")
        #expect(try eventually { try names().count == 1 })
        server.stop(drainSeconds: 0)
        #expect(try names() == [])
    }

    @Test func onlySoManyAtOnce() throws {
        var limits = HTTPServer.Limits()
        limits.streams = 2
        let server = try server(limits: limits)
        defer { server.stop(drainSeconds: 0) }
        let lines = try (0..<2).map { _ in try Line(server.port) }
        for line in lines { line.say(head("Content-Length: 10")) }
        #expect(try eventually { try names().count == 2 })
        let refused = try Line.exchange(server.port, head("Content-Length: 3") + "abc")
        #expect(refused.contains(" 503 ") && refused.contains("Retry-After: 1"))
        #expect(try names().count == 2)
        lines[0].say("0123456789")
        #expect(lines[0].rest().contains(" 201 "))
        // A place is free once the server has finished with a request, which is a little after its answer.
        #expect(
            try eventually {
                try Line.exchange(server.port, head("Content-Length: 3", path: "/file?name=b") + "abc")
                    .contains(" 201 ")
            })
    }

    /// A body of 1 GB isn't sent to a server that won't accept it.
    @Test func whoWaitsForContinueIsAnsweredFirst() throws {
        let server = try server()
        defer { server.stop(drainSeconds: 0) }
        let expects = "Expect: 100-continue\r\n"
        for (refused, status) in [
            (head(expects + "Content-Length: 1000000000", token: "wrong"), " 401 "),
            (head(expects + "Content-Length: 100", token: "wrong"), " 401 "),
            (head(expects + "Transfer-Encoding: chunked", token: "wrong"), " 401 "),
            (head(expects + "Content-Length: 1000000000"), " 413 "),
            (head(expects + "Content-Length: 100\r\nContent-Encoding: br"), " 415 "),
        ] {
            let answer = try Line.exchange(server.port, refused)
            #expect(answer.hasPrefix("HTTP/1.1\(status)"), "\(answer)")
        }
        #expect(try names() == [])
        for path in ["/file", "/other"] {
            let line = try Line(server.port)
            line.say(head(expects + "Content-Length: 3", path: path))
            #expect(line.hear(25) == "HTTP/1.1 100 Continue\r\n\r\n")
            line.say("abc")
            #expect(line.rest().hasPrefix("HTTP/1.1 20"))
        }
    }

    @Test func leftoversAreRemoved() throws {
        _ = try folder.file(".incoming-abc", "left")
        _ = try folder.file("mine", "stays")
        #expect(FileReceiver.removeLeftovers(in: folder.path) == 1)
        #expect(try names() == ["mine"])
        #expect(FileReceiver.removeLeftovers(in: folder.path + "/none") == nil)
    }

    @Test func aFolderThatIsGoneIsReportedToTheOperator() throws {
        var said: [String] = []
        let refusal = #expect(throws: HTTPRefusal.self) {
            _ = try FileReceiver(folder: folder.path + "/none") { said.append($0) }
        }
        #expect(refusal?.answer.status == 500)
        #expect(refusal?.answer.text.contains(folder.path) == false)
        #expect(said.count == 1 && said[0].contains("No such file"))
    }
}
