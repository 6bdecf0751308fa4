import CCurl
import Foundation

typealias OpaqueHandle = UnsafeMutableRawPointer

extension HTTPClient {
    /// Sets the options that apply to every request.
    func configure(isLoopback: Bool) {
        // Timeouts by signal would interrupt other threads.
        healthbus_setopt_long(handle, CURLOPT_NOSIGNAL, 1)
        healthbus_setopt_string(handle, CURLOPT_PROTOCOLS_STR, "http,https")
        healthbus_setopt_long(handle, CURLOPT_FOLLOWLOCATION, 0)
        healthbus_setopt_long(handle, CURLOPT_TCP_KEEPALIVE, 1)
        healthbus_setopt_string(handle, CURLOPT_USERAGENT, "healthbus")
        // A proxy from the environment can't reach this machine's loopback.
        if isLoopback { healthbus_setopt_string(handle, CURLOPT_PROXY, "") }
        healthbus_setopt_write(handle, CURLOPT_WRITEFUNCTION, AnswerCollector.onBody)
        healthbus_setopt_write(handle, CURLOPT_HEADERFUNCTION, AnswerCollector.onHeader)
    }

    func url(of request: HTTPRequest) throws -> String {
        guard request.path.hasPrefix("/"),
            !request.path.utf8.contains(where: { $0 <= 0x20 || $0 == 0x3F || $0 == 0x23 })
        else { throw invalid("the path must begin with / and contain no space, ? or #") }
        if let query = request.encodedQuery {
            guard !query.utf8.contains(where: { $0 <= 0x20 || $0 == 0x23 || $0 >= 0x7F }) else {
                throw invalid("the query must be percent-encoded")
            }
            return base + request.path + "?" + query
        }
        guard !request.query.isEmpty else { return base + request.path }
        let pairs = request.query.sorted { $0.key < $1.key }
            .map { Self.escaped($0.key) + "=" + Self.escaped($0.value) }
        return base + request.path + "?" + pairs.joined(separator: "&")
    }

    func headerLines(of request: HTTPRequest) throws -> [String] {
        // With this header empty, libcurl doesn't wait for 100 Continue before it sends a body.
        var lines = ["Expect:"]
        for field in request.headers.fields {
            guard !(field.name + field.value).utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) else {
                throw invalid("a header contains a control character")
            }
            // This is how libcurl writes a header without a value.
            lines.append(field.value.isEmpty ? field.name + ";" : field.name + ": " + field.value)
        }
        return lines
    }

    func failure(_ code: CURLcode, _ timeout: Double) -> HTTPError {
        let said = String(cString: curl_easy_strerror(code))
        switch code {
        case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY:
            return error(
                .nameResolution, "its name can't be resolved", "check the server's URL and this machine's DNS")
        case CURLE_COULDNT_CONNECT:
            return error(.connectionRefused, "no connection", "check that the server is running and listening there")
        case CURLE_OPERATION_TIMEDOUT:
            return error(.timedOut, "no answer within \(timeout) s", "check the network and the server's load")
        case CURLE_SSL_CONNECT_ERROR, CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CACERT_BADFILE, CURLE_SSL_CERTPROBLEM,
            CURLE_SSL_CIPHER, CURLE_SSL_ISSUER_ERROR:
            return error(.tls, said, "check the server's certificate and this machine's CA certificates and clock")
        case CURLE_URL_MALFORMAT, CURLE_UNSUPPORTED_PROTOCOL:
            return invalid(said)
        default:
            return error(.connection, said, "it will be tried again; check the network if that keeps failing")
        }
    }

    private func invalid(_ detail: String) -> HTTPError {
        error(.invalidRequest, detail, "check the configured URL and token")
    }

    private func error(_ kind: HTTPError.Kind, _ detail: String, _ hint: String) -> HTTPError {
        HTTPError(kind, endpoint: endpoint, detail: detail, hint: hint)
    }

    private static func escaped(_ text: String) -> String {
        var out = ""
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"):
                out.append(Character(UnicodeScalar(byte)))
            default: out += (byte < 16 ? "%0" : "%") + String(byte, radix: 16, uppercase: true)
            }
        }
        return out
    }
}

/// Receives an answer from libcurl's callbacks, on the thread that performs the request.
final class AnswerCollector {
    let limit: Int
    private(set) var headers = HTTPHeaders()
    private(set) var body: [UInt8] = []
    private(set) var overflowed = false

    init(limit: Int) { self.limit = limit }

    static let onBody: @convention(c) (UnsafeMutablePointer<CChar>?, Int, Int, UnsafeMutableRawPointer?) -> Int = {
        bytes, size, count, context in
        guard let bytes, let context else { return 0 }
        let answer = Unmanaged<AnswerCollector>.fromOpaque(context).takeUnretainedValue()
        guard answer.body.count + size * count <= answer.limit else {
            answer.overflowed = true
            return 0
        }
        answer.body.append(contentsOf: UnsafeRawBufferPointer(start: bytes, count: size * count))
        return size * count
    }

    static let onHeader: @convention(c) (UnsafeMutablePointer<CChar>?, Int, Int, UnsafeMutableRawPointer?) -> Int = {
        bytes, size, count, context in
        guard let bytes, let context else { return 0 }
        let answer = Unmanaged<AnswerCollector>.fromOpaque(context).takeUnretainedValue()
        answer.take(line: String(decoding: UnsafeRawBufferPointer(start: bytes, count: size * count), as: UTF8.self))
        return size * count
    }

    private func take(line: String) {
        // A status line begins an answer: anything before it belongs to an interim one (100 Continue).
        if line.hasPrefix("HTTP/") {
            headers = HTTPHeaders()
        } else if let colon = line.firstIndex(of: ":") {
            let value = line[line.index(after: colon)...].trimmingCharacters(in: .whitespacesAndNewlines)
            headers.add(String(line[..<colon]), value)
        }
    }
}
