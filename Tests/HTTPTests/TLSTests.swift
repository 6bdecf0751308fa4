import Foundation
import Glibc
import HTTP
import TestSupport
import Testing

/// A server that shows a certificate, and clients that verify it.
@Suite(.inTurn) struct TLSTests {
    private let authority: TestAuthority

    init() throws { authority = try TestAuthority() }

    private func server(_ identity: TLSIdentity?, limits: HTTPServer.Limits = .init()) throws -> HTTPServer {
        try HTTPServer(limits: limits, tls: identity) { HTTPResponse(status: 200, body: $0.body) }
    }

    private func send(_ server: HTTPServer, _ caFile: String?, _ body: [UInt8] = [1, 2, 3]) throws -> HTTPResponse {
        try HTTPClient(base: "https://127.0.0.1:\(server.port)", caFile: caFile)
            .send(HTTPRequest(method: "POST", path: "/", body: body), timeout: Patience.seconds)
    }

    @Test func aClientThatKnowsTheAuthorityIsServed() throws {
        let server = try server(authority.identity("first"))
        defer { server.stop() }
        for size in [0, 1, 100_000, 3_000_000] {
            let body = Compressed.noise(size)
            let answer = try send(server, authority.certificate, body)
            #expect(answer.status == 200 && answer.body == body)
        }
        // A client that doesn't trust the authority fails.
        let error = #expect(throws: HTTPError.self) { try send(server, nil) }
        #expect(error?.kind == .tls)
        #expect(throws: HTTPError.self) { try send(server, try TestAuthority().certificate) }
        #expect(try send(server, authority.certificate).status == 200)
    }

    @Test func aRenewedCertificateIsShown() throws {
        let other = try TestAuthority()
        let server = try server(authority.identity("first"))
        defer { server.stop() }
        let open = try HTTPClient(base: "https://127.0.0.1:\(server.port)", caFile: authority.certificate)
        #expect(try open.send(HTTPRequest(path: "/")).status == 200)
        try server.renew(try other.identity("second"))
        #expect(try send(server, other.certificate).status == 200)
        #expect(throws: HTTPError.self) { try send(server, authority.certificate) }
        // Existing connections stay.
        #expect(try open.send(HTTPRequest(path: "/")).status == 200)
        // A certificate that doesn't match its key changes nothing.
        let first = try authority.identity("third")
        let second = try authority.identity("fourth")
        let error = #expect(throws: HTTPError.self) {
            try server.renew(TLSIdentity(certificates: first.certificates, key: second.key))
        }
        #expect(error?.kind == .tls)
        #expect(try send(server, other.certificate).status == 200)
        for _ in 0..<20 { try server.renew(first) }
        #expect(try send(server, authority.certificate).status == 200)
    }

    @Test func filesAreReadAgainWhenTheyChange() throws {
        let first = try authority.sign("first")
        let second = try authority.sign("second")
        var files = TLSFiles(certificateFile: first.certificateFile, keyFile: first.keyFile)
        let before = try #require(try files.changed())
        #expect(try files.changed() == nil)
        let server = try server(before)
        defer { server.stop() }
        #expect(rename(second.certificateFile, first.certificateFile) == 0)
        let half = try #require(try files.changed())
        #expect(throws: HTTPError.self) { try server.renew(half) }
        #expect(try files.changed() == nil)
        #expect(rename(second.keyFile, first.keyFile) == 0)
        let whole = try #require(try files.changed())
        try server.renew(whole)
        #expect(try send(server, authority.certificate).status == 200)
        #expect(unlink(first.keyFile) == 0)
        #expect(throws: HTTPError.self) { try files.changed() }
    }

    @Test func filesThatCannotBeUsedAreNamed() throws {
        let files = try authority.sign("first")
        let folder = authority.folder.path
        func refusal(_ certificate: String, _ key: String) -> String {
            do throws(HTTPError) {
                _ = try TLSIdentity(certificateFile: certificate, keyFile: key)
                return "taken"
            } catch {
                return error.kind == .tls ? error.description : "\(error.kind)"
            }
        }
        #expect(refusal(files.certificateFile, files.keyFile) == "taken")
        #expect(chmod(files.keyFile, 0o640) == 0)
        #expect(refusal(files.certificateFile, files.keyFile) == "taken")
        for mode in [0o644, 0o660, 0o604] as [mode_t] {
            #expect(chmod(files.keyFile, mode) == 0)
            let text = refusal(files.certificateFile, files.keyFile)
            #expect(text.contains("others may read this key") && text.contains("chmod 600 '\(files.keyFile)'"))
        }
        #expect(chmod(files.keyFile, 0o600) == 0)
        #expect(refusal(folder + "/none", files.keyFile).hasPrefix(folder + "/none: it can't be opened: No such file"))
        #expect(refusal(folder, files.keyFile).contains("it isn't a file"))
        #expect(refusal(files.keyFile, files.keyFile).contains("it contains no PEM certificate"))
        #expect(refusal(files.certificateFile, files.certificateFile).contains("others may read") == true)
        #expect(mkfifo(folder + "/pipe", 0o600) == 0)
        #expect(refusal(folder + "/pipe", files.keyFile).contains("it isn't a file"))
    }

    @Test func whatIsNoCertificateStartsNothing() throws {
        let good = try authority.identity("first")
        let other = try authority.identity("second")
        let port = try freePort()
        for bad in [
            TLSIdentity(certificates: good.certificates, key: other.key),
            TLSIdentity(certificates: Array("nonsense".utf8), key: good.key),
            TLSIdentity(certificates: good.certificates, key: []),
        ] {
            let error = #expect(throws: HTTPError.self) {
                try HTTPServer(port: port, tls: bad) { _ in HTTPResponse(status: 200) }
            }
            #expect(error?.kind == .tls)
        }
        // The port has been freed, and a plain server has no certificate to renew.
        let plain = try HTTPServer(port: port) { _ in HTTPResponse(status: 200) }
        defer { plain.stop() }
        #expect(throws: HTTPError.self) { try plain.renew(good) }
    }

    /// The type of the first record in the answer to a ClientHello of TLS 1.1 (2) or 1.2 (3); 0 if there is none.
    private func greeted(_ server: HTTPServer, minor: UInt8) throws -> UInt8 {
        let ciphers: [UInt8] = [0xC0, 0x2B, 0xC0, 0x09, 0xC0, 0x0A]
        // Signatures, curves, point formats.
        let extensions: [UInt8] =
            [0, 13, 0, 4, 0, 2, 4, 3] + [0, 10, 0, 4, 0, 2, 0, 0x17] + [0, 11, 0, 2, 1, 0]
        let hello: [UInt8] =
            [3, minor] + Compressed.noise(32) + [0, 0, UInt8(ciphers.count)] + ciphers + [1, 0]
            + [0, UInt8(extensions.count)] + extensions
        let handshake: [UInt8] = [1, 0, 0, UInt8(hello.count)] + hello
        let line = try Line(server.port)
        line.say([0x16, 3, 1, 0, UInt8(handshake.count)] + handshake)
        var first: UInt8 = 0
        return recv(line.socket, &first, 1, 0) == 1 ? first : 0
    }

    @Test func nothingOlderThanTLS12() throws {
        let server = try server(authority.identity("first"))
        defer { server.stop(drainSeconds: 0) }
        let handshake: UInt8 = 0x16
        #expect(try greeted(server, minor: 3) == handshake)
        #expect(try greeted(server, minor: 2) != handshake)
    }

    @Test func whoSpeaksNoTLSDisturbsNobody() throws {
        var limits = HTTPServer.Limits()
        limits.connections = 16
        limits.connectionsPerAddress = 12
        limits.headSeconds = 3600
        limits.idleSeconds = 3600
        let server = try server(authority.identity("first"), limits: limits)
        defer { server.stop(drainSeconds: 0) }
        #expect(try Line.exchange(server.port, "GET / HTTP/1.1\r\nHost: x\r\n\r\n").contains("200") == false)
        var lines: [Line] = []
        for number in 0..<100 {
            let line = try Line(server.port)
            // The beginning of a handshake that never continues.
            if number % 2 == 0 { line.say([0x16, 3, 1, 2, 0, 1, 0]) }
            lines.append(line)
            if number % 25 == 24 { #expect(try send(server, authority.certificate).status == 200) }
        }
    }
}
