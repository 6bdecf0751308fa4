import Configuration
import Foundation
import HTTP
import HealthModel
import JSON
import Logging
import UploaderReading

/// Reads what a backend keeps, id by id, from `GET /api/v1/versions`.
final class BackendVersions {
    struct Row {
        /// nil if the id isn't a UUID, in which case it is in `text`.
        var id: SampleID?
        var text: String
        var version: Int64
        var isDeleted: Bool
        /// The `ContentNumber` of an element that isn't deleted; nil if the backend doesn't provide it.
        var content: Int64?

        var held: HeldVersion { HeldVersion(version: version, isDeleted: isDeleted, content: content) }
    }

    let address: String
    private let client: HTTPClient
    private let token: TokenSource
    private let timeout: Double
    private var generation: String?
    /// Reports once if an answer takes a long time.
    private let slowness: Slowness
    /// Whether the backend has provided contents in every answer.
    private(set) var tellsContents = true

    private static let path = "/api/v1/versions"
    private static let answerLimit = 16 << 20
    /// The maximum number of rows to request per page.
    private static let pageRows = 20_000
    /// How many times to ask a backend that is busy, or whose connection breaks.
    private static let tries = 5
    /// Nothing is reported until this many seconds have passed: a page normally takes less than one.
    private static let patience = 5.0

    /// The backend that a destination delivers to.
    init(_ stack: Stack, of uploader: StackConfiguration.Instance, tell: @escaping @Sendable (String) -> Void) throws {
        let options = uploader.configuration
        let own = try stack.configuration.only(.backend).map { try BackendAddress.url(of: $0) }
        guard let url = options["url"].string ?? own else {
            throw Failure(
                "this stack has no backend", hint: "give 'url' of '\(uploader.name)' in \(stack.configuration.file)")
        }
        address = url
        slowness = Slowness { tell("waiting for the backend at \(url), which doesn't answer") }
        client = try HTTPClient(base: url, answerLimit: Self.answerLimit)
        token = try DestinationToken.source(of: uploader, in: stack.configuration, state: stack.state)
        timeout = options["timeoutSeconds"].double ?? 30
    }

    /// Passes each row of a list, including tombstones, to `body` in order of the ids, until `body` returns false.
    /// - Parameters:
    ///   - after: only ids after this one; nil for all.
    ///   - expected: roughly how many rows are wanted, so that a page isn't larger than that.
    func forEach(
        _ list: String, user: String, after: SampleID? = nil, expected: Int? = nil, _ body: (Row) throws -> Bool
    ) throws {
        var query = ["list": list, "user": user, "contents": "2"]
        query["cursor"] = after?.description
        if let expected { query["limit"] = "\(min(max(1, expected), Self.pageRows))" }
        var last = after
        while true {
            let page = try page(query)
            guard generation == nil || page.generation == generation else {
                throw Failure("the backend started over while it was being read", hint: "try again")
            }
            generation = page.generation
            if page.rows.contains(where: { $0.content == nil }) { tellsContents = false }
            for row in page.rows {
                // Rows are compared in one pass, so they must come in order.
                if let id = row.id {
                    guard last.map({ $0 < id }) ?? true else { throw malformed("ids aren't in order") }
                    last = id
                }
                if try !body(row) { return }
            }
            guard let next = page.next else { return }
            guard next != query["cursor"] else { throw malformed("nextCursor doesn't move") }
            query["cursor"] = next
        }
    }

    private func page(_ query: [String: String]) throws -> VersionsAnswer {
        var refresh = false
        let slow = slowness.await(Self.patience)
        defer { slow.cancel() }
        for attempt in 1... {
            let answer: HTTPResponse
            do {
                answer = try client.send(
                    HTTPRequest(
                        path: Self.path, query: query,
                        headers: try headers(refresh)),
                    timeout: timeout, redirects: HTTPClient.usualRedirects)
            } catch let error as HTTPError {
                guard error.isTransient, attempt < Self.tries else {
                    throw Failure("the backend can't be asked: \(error.endpoint): \(error.detail)", hint: error.hint)
                }
                Thread.sleep(forTimeInterval: 0.2 * Double(attempt))
                continue
            }
            switch answer.status {
            case 200:
                guard let page = VersionsAnswer(answer.body) else { throw unable(status: 200) }
                return page
            case 401 where !refresh: refresh = true
            case 401, 403:
                throw Failure(
                    "the backend at \(address) answered \(answer.status)", hint: token.place.remedy)
            case 429, 503:
                guard attempt < Self.tries else {
                    throw Failure(
                        "the backend at \(address) is too busy to be asked (\(answer.status))", hint: "try again later")
                }
                Thread.sleep(forTimeInterval: 1)
            default: throw unable(status: answer.status)
            }
        }
        throw unable(status: 0)
    }

    private func headers(_ refresh: Bool) throws -> HTTPHeaders {
        var headers: HTTPHeaders = [:]
        headers["Authorization"] = try token.current(refresh: refresh).map { "Bearer \($0)" }
        return headers
    }

    private func unable(status: Int) -> Failure {
        Failure(
            "what the backend keeps can't be verified: \(address) doesn't answer GET \(Self.path) (it said \(status))",
            hint:
                "a server of your own must answer it as docs/backend.md says; 'healthbus status' shows what it has accepted"
        )
    }

    private func malformed(_ why: String) -> Failure {
        Failure(
            "the backend at \(address) doesn't answer GET \(Self.path) as it should: \(why)",
            hint: "docs/backend.md says how")
    }
}

/// One page of versions, as rows.
struct VersionsAnswer {
    var generation: String
    var rows: [BackendVersions.Row] = []
    var next: String?

    /// nil when the body isn't a page of versions.
    init?(_ body: [UInt8]) {
        do {
            guard let read = try Self.read(body) else { return nil }
            self = read
        } catch { return nil }
    }

    private init(generation: String) { self.generation = generation }

    private static func read(_ body: [UInt8]) throws -> VersionsAnswer? {
        guard JSONScanner.isUTF8(body) else { return nil }
        return try body.withUnsafeBytes { bytes in
            var scanner = JSONScanner(bytes)
            var ids: [JSONSpan]?
            var versions: [Int64]?
            var deleted: [Bool]?
            var contents: [Int64]?
            var generation: String?
            var next: String?
            try scanner.beginObject()
            while let name = try scanner.nextMember() {
                if name == "ids" {
                    ids = try column(&scanner) { $0.isString ? $0 : nil }
                } else if name == "versions" {
                    versions = try column(&scanner) { $0.integer }
                } else if name == "deleted" {
                    deleted = try column(&scanner) { span in span.integer.map { $0 != 0 } }
                } else if name == "contents" {
                    contents = try column(&scanner) { $0.integer }
                } else {
                    let span = try scanner.value()
                    if name == "generation" { generation = span.text }
                    if name == "nextCursor" { next = span.isNull ? nil : span.text }
                }
            }
            guard let ids, let versions, let deleted, ids.count == versions.count, ids.count == deleted.count,
                contents.map({ $0.count == ids.count }) ?? true
            else { return nil }
            var answer = VersionsAnswer(generation: generation ?? "")
            answer.next = next
            answer.rows = ids.indices.map { index in
                let id = SampleID(uuid: ids[index].bytes)
                return BackendVersions.Row(
                    id: id, text: id == nil ? ids[index].text ?? "" : "", version: versions[index],
                    isDeleted: deleted[index], content: contents?[index])
            }
            return answer
        }
    }

    /// nil when it isn't an array, or one of its elements has a different type.
    private static func column<Element>(
        _ scanner: inout JSONScanner, _ element: (JSONSpan) -> Element?
    ) throws -> [Element]? {
        guard scanner.nextIsArray() else {
            _ = try scanner.value()
            return nil
        }
        var column: [Element] = []
        var isWhole = true
        try scanner.beginArray()
        while try scanner.nextElement() {
            if let value = element(try scanner.value()) { column.append(value) } else { isWhole = false }
        }
        return isWhole ? column : nil
    }
}
