import CCurl
import Glibc

/// An HTTP client for one server, with one libcurl easy handle that keeps its connection open.
///
/// Calls block, and two threads must not use a client at the same time: each client stays on its owner's thread. It
/// follows a redirect only on request, and never to a host, port or scheme other than the configured one, so a token
/// reaches no other server. Bodies and headers are never logged.
///
/// `@unchecked Sendable` only so that a client can be created on one thread and handed to its owner: libcurl forbids
/// using an easy handle on several threads at the same time, but not moving it.
package final class HTTPClient: @unchecked Sendable {
    /// "http://127.0.0.1:8080" or, with a prefix, "https://example.org/health"; there is no trailing slash.
    package let base: String
    /// "127.0.0.1:8080", for messages.
    package let endpoint: String
    /// Without a prefix.
    private let origin: String
    /// The maximum size of an answer's body, in bytes.
    package let answerLimit: Int

    /// The usual maximum number of consecutive redirects.
    package static let usualRedirects = 3

    let handle: OpaqueHandle

    /// - Parameters:
    ///   - base: http or https URL of the server; requests' paths are appended to it.
    ///   - caFile: PEM certificates of the authorities that may vouch for the server; nil for those that this machine
    ///     trusts.
    /// - Throws: `HTTPError` when `base` isn't such a URL.
    package init(base: String, answerLimit: Int = 4 << 20, caFile: String? = nil) throws {
        let server = try ServerURL(base)
        self.base = server.base
        self.endpoint = server.endpoint
        origin = server.origin
        self.answerLimit = answerLimit
        _ = Self.globalInit
        guard let made = curl_easy_init() else {
            throw HTTPError(
                .connection, endpoint: server.endpoint, detail: "libcurl gave no handle", hint: "is memory exhausted?")
        }
        handle = made
        configure(isLoopback: server.isLoopback)
        if let caFile { healthbus_setopt_string(handle, CURLOPT_CAINFO, caFile) }
    }

    deinit { curl_easy_cleanup(handle) }

    /// Whether a server's URL leads to this machine itself.
    /// - Throws: `HTTPError` when it isn't a URL.
    package static func isLoopback(_ base: String) throws -> Bool { try ServerURL(base).isLoopback }

    /// Whether requests to a server cross a network in readable form: `http://` to another machine.
    /// - Throws: `HTTPError` when it isn't a URL.
    package static func isReadableOnTheWay(_ base: String) throws -> Bool {
        try !isLoopback(base) && !base.lowercased().hasPrefix("https:")
    }

    /// Sends one request and waits for its answer, whatever its status.
    /// - Parameters:
    ///   - timeout: the total time in seconds, starting again with each redirect.
    ///   - redirects: how many redirects to follow within the same origin, with method, headers and body; any other
    ///     redirect is returned as the answer.
    /// - Throws: `HTTPError` when there is no answer.
    package func send(_ request: HTTPRequest, timeout: Double = 30, redirects: Int = 0) throws -> HTTPResponse {
        var address = try url(of: request)
        var answer = try send(request, to: address, timeout)
        for _ in 0..<redirects where HTTPRedirect.keepsRequest(answer.status, method: request.method) {
            guard let location = answer.headers["Location"],
                case .sameOrigin(let path) = HTTPRedirect(location: location, from: address)
            else { break }
            address = origin + path
            answer = try send(request, to: address, timeout)
        }
        return answer
    }

    /// The same with a file as the body; the file is read as it is sent.
    /// - Throws: `HTTPError`, including when the file can't be read.
    package func send(_ request: HTTPRequest, file path: String, timeout: Double) throws -> HTTPResponse {
        let unreadable = HTTPError(
            .connection, endpoint: endpoint, detail: "the file to be sent can't be read", hint: "check its permissions")
        guard let file = fopen(path, "re") else { throw unreadable }
        defer { fclose(file) }
        // A pipe, for example, has no end to go to.
        guard fseek(file, 0, SEEK_END) == 0 else { throw unreadable }
        let size = ftell(file)
        rewind(file)
        defer { healthbus_setopt_pointer(handle, CURLOPT_READDATA, nil) }
        healthbus_setopt_pointer(handle, CURLOPT_READDATA, file)
        return try send(request, to: try url(of: request), timeout, fileBytes: size)
    }

    private func send(
        _ request: HTTPRequest, to address: String, _ timeout: Double, fileBytes: Int? = nil
    ) throws -> HTTPResponse {
        let answer = AnswerCollector(limit: answerLimit)
        var list: UnsafeMutablePointer<curl_slist>?
        defer { curl_slist_free_all(list) }
        for line in try headerLines(of: request) {
            guard let longer = curl_slist_append(list, line) else {
                throw failure(CURLE_OUT_OF_MEMORY, timeout)
            }
            list = longer
        }
        healthbus_setopt_string(handle, CURLOPT_URL, address)
        healthbus_setopt_string(handle, CURLOPT_CUSTOMREQUEST, request.method)
        healthbus_setopt_pointer(handle, CURLOPT_HTTPHEADER, list)
        healthbus_setopt_long(handle, CURLOPT_TIMEOUT_MS, Int(timeout * 1000))
        healthbus_setopt_long(handle, CURLOPT_CONNECTTIMEOUT_MS, Int(min(timeout, 10) * 1000))
        healthbus_setopt_long(handle, CURLOPT_NOBODY, request.method == "HEAD" ? 1 : 0)
        let context = Unmanaged.passUnretained(answer).toOpaque()
        healthbus_setopt_pointer(handle, CURLOPT_WRITEDATA, context)
        healthbus_setopt_pointer(handle, CURLOPT_HEADERDATA, context)

        let code = request.body.withUnsafeBytes { body in
            // libcurl reads the body from here while it performs the request, and not afterwards.
            if let fileBytes {
                healthbus_setopt_long(handle, CURLOPT_POST, 1)
                healthbus_setopt_pointer(handle, CURLOPT_POSTFIELDS, nil)
                healthbus_setopt_long(handle, CURLOPT_POSTFIELDSIZE, fileBytes)
            } else if body.isEmpty && request.method != "POST" && request.method != "PUT" {
                healthbus_setopt_pointer(handle, CURLOPT_POSTFIELDS, nil)
                healthbus_setopt_long(handle, CURLOPT_HTTPGET, request.method == "HEAD" ? 0 : 1)
            } else {
                healthbus_setopt_long(handle, CURLOPT_POST, 1)
                healthbus_setopt_long(handle, CURLOPT_POSTFIELDSIZE, body.count)
                healthbus_setopt_pointer(
                    handle, CURLOPT_POSTFIELDS,
                    UnsafeMutableRawPointer(mutating: body.baseAddress ?? UnsafeRawPointer(context)))
            }
            return curl_easy_perform(handle)
        }
        if answer.overflowed {
            throw HTTPError(
                .answerTooLarge, endpoint: endpoint,
                detail: "the answer is larger than \(answerLimit) bytes",
                hint: "check that the URL is that of the right server")
        }
        guard code == CURLE_OK else { throw failure(code, timeout) }
        var status = 0
        healthbus_getinfo_long(handle, CURLINFO_RESPONSE_CODE, &status)
        return HTTPResponse(status: status, headers: answer.headers, body: answer.body)
    }

    /// libcurl doesn't promise that `curl_global_init` is thread-safe, so it is called once, by Swift's lazy static.
    private static let globalInit: CURLcode = curl_global_init(
        Int(CURL_GLOBAL_SSL | CURL_GLOBAL_WIN32))
}
