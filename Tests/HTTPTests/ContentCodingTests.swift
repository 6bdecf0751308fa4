import HTTP
import TestSupport
import Testing

/// Compressed bodies.
@Suite(.inTurn) struct ContentCodingTests {
    /// A server that reports what its handler received.
    private func server(limit: Int = 8 << 20) throws -> HTTPServer {
        try HTTPServer(admission: { _ in .collect(limit: limit) }) { request in
            let sum = request.body.reduce(0) { ($0 &* 31 &+ Int($1)) % 1_000_003 }
            return HTTPResponse(status: 200, body: Array("\(request.body.count) \(sum)".utf8))
        }
    }

    private func digest(_ body: [UInt8]) -> String {
        "\(body.count) \(body.reduce(0) { ($0 &* 31 &+ Int($1)) % 1_000_003 })"
    }

    private func post(_ port: Int, _ coding: String?, _ body: [UInt8]) throws -> HTTPResponse {
        var headers = HTTPHeaders()
        if let coding { headers.add("Content-Encoding", coding) }
        return try HTTPClient(base: "http://127.0.0.1:\(port)")
            .send(HTTPRequest(method: "POST", path: "/", headers: headers, body: body), timeout: Patience.seconds)
    }

    @Test(arguments: [1, 5000, 3_000_000]) func isInflated(_ size: Int) throws {
        let server = try server()
        defer { server.stop() }
        let body = Compressed.noise(size)
        let gzip = try Compressed.gzip(body)
        for (coding, sent) in [
            (nil, body), ("identity", body), ("gzip", gzip), ("X-GZIP", gzip), ("identity, gzip", gzip),
            ("deflate", try Compressed.zlib(body)), ("deflate", try Compressed.bare(body)),
        ] {
            let answer = try post(server.port, coding, sent)
            #expect(answer.status == 200 && answer.text == digest(body), "\(coding ?? "none"): \(answer.text)")
        }
        // A gzip file with another one appended.
        #expect(try post(server.port, "gzip", gzip + gzip).text == digest(body + body))
        #expect(try post(server.port, "gzip", []).text == digest([]))
    }

    @Test func comesByteByByte() throws {
        let server = try server()
        defer { server.stop() }
        let body = Compressed.noise(300)
        for (coding, sent) in [
            ("gzip", try Compressed.gzip(body)), ("deflate", try Compressed.zlib(body)),
            ("deflate", try Compressed.bare(body)),
        ] {
            let head = """
                POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Encoding: \(coding)\r\n\
                Transfer-Encoding: chunked\r\n\r\n
                """
            let answer = try Line.exchange(server.port, Array(head.utf8) + Line.chunked(sent, by: 1))
            #expect(answer.contains(digest(body)), "\(answer)")
        }
    }

    @Test func whatIsBrokenIsRefused() throws {
        let server = try server()
        defer { server.stop() }
        let whole = try Compressed.gzip(Compressed.noise(1000))
        var damaged = whole
        damaged[500] ^= 0x55
        for (sent, why) in [
            (Array(whole.dropLast(3)), "its end is missing"), (Array(whole.prefix(4)), "its end is missing"),
            (damaged, "damaged"), (whole + [1, 2, 3], "damaged"), (Array("no gzip at all".utf8), "damaged"),
        ] {
            let answer = try post(server.port, "gzip", sent)
            #expect(answer.status == 400 && answer.text.contains(why), "\(answer.text)")
        }
        let answer = try post(server.port, "deflate", try Compressed.zlib([1, 2, 3]) + [0])
        #expect(answer.status == 400 && answer.text.contains("bytes follow its end"))
    }

    @Test(arguments: ["br", "zstd", "gzip, gzip", "compress", "gzip;q=1"])
    func whatIsNotKnownIsRefused(_ coding: String) throws {
        let server = try server()
        defer { server.stop() }
        let answer = try post(server.port, coding, Compressed.noise(100))
        #expect(answer.status == 415)
        #expect(answer.headers["Accept-Encoding"] == "gzip, deflate")
    }

    @Test func bombsDoNotGoOff() throws {
        let server = try server(limit: 5_000_000)
        defer { server.stop() }
        // 2 MB of one repeated byte: less than the size limit, but 1,000 times as large as what was sent.
        let byRatio = try post(server.port, "gzip", try Compressed.gzip([UInt8](repeating: 0, count: 2_000_000)))
        #expect(byRatio.status == 413 && byRatio.text.contains("200 times"))
        // With some noise added, the body is within the ratio but exceeds the size limit.
        let large = [UInt8](repeating: 0, count: 60_000_000)
        let bySize = try post(server.port, "gzip", try Compressed.gzip(Compressed.noise(500_000) + large))
        #expect(bySize.status == 413 && bySize.text.contains("5000000 bytes"))
        // A body that stays within both limits.
        let fine = [UInt8](repeating: 0, count: 1_000_000)
        #expect(try post(server.port, "gzip", try Compressed.gzip(fine)).text == digest(fine))
    }

    /// Inflated bytes count towards the total of all bodies.
    @Test func inflatedBytesTakeRoom() throws {
        var limits = HTTPServer.Limits()
        limits.totalBodyBytes = 100_000
        let server = try HTTPServer(limits: limits, admission: { _ in .collect() }) { _ in HTTPResponse(status: 200) }
        defer { server.stop() }
        let body = try Compressed.gzip([UInt8](repeating: 0, count: 200_000))
        #expect(try post(server.port, "gzip", body).status == 503)
        #expect(try post(server.port, "gzip", try Compressed.gzip([UInt8](repeating: 0, count: 90_000))).status == 200)
    }

    /// A server with a gate, such as the backend's, accepts bodies without inflating them.
    @Test func aGateInflatesNothing() throws {
        let server = try HTTPServer(gate: { _ in nil }) {
            HTTPResponse(status: 200, body: Array("\($0.body.count)".utf8))
        }
        defer { server.stop() }
        let body = try Compressed.gzip([UInt8](repeating: 0, count: 9000))
        #expect(try post(server.port, "gzip", body).text == "\(body.count)")
        #expect(try post(server.port, "br", [1, 2]).text == "2")
    }
}
