import DeliveryKit
import FHIRStage
import HTTP
import HealthModel
import HealthResources
import StageKit
import Synchronization
import TestSupport
import Testing
import UploaderReading

/// Requests over a real connection to a server in this process.
@Suite(.inTurn) struct FHIRSenderTests {
    /// Records the requests, and answers each entry. One element may have several resources, until they are deleted.
    private final class Server: Sendable {
        private final class Shared: Sendable {
            let requests = Mutex<[HTTPRequest]>([])
            let ids: Mutex<Set<String>>

            init(_ ids: Set<String>) { self.ids = Mutex(ids) }
        }

        private let shared: Shared
        private let server: HTTPServer

        /// - Parameters:
        ///   - ids: the ids of the resources for the first sample; a healthy server has only one.
        ///   - finds: the identifier of the resources that a search returns.
        ///   - status: the status of every transaction; 200 by default.
        ///   - complaint: an `OperationOutcome` with which it answers 200 to a deletion that it doesn't carry out.
        ///   - warning: an entry that a search returns besides what it finds.
        ///   - interruption: what it answers to every request of a method.
        init(
            ids: Set<String> = ["1"], finds: String = "", status: Int = 200, complaint: Value = .null,
            warning: Value = .null, interruption: (method: String, answer: HTTPResponse)? = nil
        ) throws {
            let shared = Shared(ids)
            self.shared = shared
            server = try HTTPServer { request in
                shared.requests.withLock { $0.append(request) }
                guard request.path != "/fhir/metadata" else {
                    return HTTPResponse(
                        status: 200, json: Array(#"{"resourceType":"CapabilityStatement","fhirVersion":"4.0.1"}"#.utf8))
                }
                if let interruption, request.method == interruption.method { return interruption.answer }
                if request.method == "DELETE" {
                    guard complaint.isNull else { return HTTPResponse(status: 200, json: Array(complaint.json().utf8)) }
                    _ = shared.ids.withLock { $0.remove(String(request.path.split(separator: "/").last ?? "")) }
                    return HTTPResponse(status: 204, body: [])
                }
                if request.method == "GET" {
                    let found = shared.ids.withLock { $0 }.sorted().map { id -> Value in
                        let identifier: Value = ["system": "urn:x-healthbus:sample", "value": .string(finds)]
                        return [
                            "resource": [
                                "resourceType": "Observation", "id": .string(id), "identifier": [identifier],
                            ]
                        ]
                    }
                    let entries = found + (warning.isNull ? [] : [["resource": warning]])
                    let answer: Value = ["resourceType": "Bundle", "type": "searchset", "entry": .array(entries)]
                    return HTTPResponse(status: 200, json: Array(answer.json().utf8))
                }
                guard status == 200 else { return HTTPResponse(status: status, body: []) }
                guard shared.ids.withLock({ $0.count }) == 1 else { return HTTPResponse(status: 412, body: []) }
                let entries = (try? Value(json: request.body))?["entry"].array ?? []
                let answer: Value = [
                    "resourceType": "Bundle", "type": "transaction-response",
                    "entry": .array(entries.map { _ in ["response": ["status": "201 Created"]] }),
                ]
                return HTTPResponse(status: 200, json: Array(answer.json().utf8))
            }
        }

        var requests: [HTTPRequest] { shared.requests.withLock { $0 } }
        var ids: Set<String> { shared.ids.withLock { $0 } }
        var root: String { "http://127.0.0.1:\(server.port)" }
        var url: String { root + "/fhir" }
    }

    private func sender(_ url: String, token: String? = nil, options: Value = .null) throws -> FHIRSender {
        let server = FHIRServer(url)
        let client = try HTTPClient(base: server.origin)
        return FHIRSender(
            server: server, token: token.map { TokenSource(file: nil, environment: $0) },
            form: FHIRForm(options, figures: [])
        ) { try client.send($0, timeout: 5) }
    }

    private func request(_ group: DeliveryGroup, _ part: Range<Int>? = nil) -> Effect {
        Effect(
            id: 1,
            request: DeliveryRequest(
                group: group, part: part ?? 0..<group.count, deviceId: "d", syncedAt: 0, refreshToken: false))
    }

    @Test func aTransactionGoesToTheBaseWithTheToken() throws {
        let server = try Server()
        let sender = try sender(server.url, token: "secret")
        let reply = sender.perform(request(samples([1, 2]))) as? DeliveryReply
        #expect(reply == .onTrust(DeliveryAnswer(counts: .init(created: 2), status: 200)))
        let sent = try #require(server.requests.first)
        #expect(sent.method == "POST" && sent.path == "/fhir" && sent.bearerToken == "secret")
        #expect(sent.headers["Content-Type"] == "application/fhir+json")
        #expect(sent.headers["Prefer"] == "return=minimal")
    }

    @Test func withoutATokenNoneIsSent() throws {
        let server = try Server()
        _ = try sender(server.url).perform(request(samples([1])))
        #expect(server.requests.first?.headers["Authorization"] == nil && server.requests.count == 1)
    }

    /// An element that was overtaken by a newer version is settled without a request, and proves nothing about the
    /// server.
    @Test func anOvertakenElementIsntSent() throws {
        let server = try Server()
        let sender = try sender(server.url)
        _ = sender.perform(request(samples([9])))
        let reply = sender.perform(request(samples([5]))) as? DeliveryReply
        #expect(reply == .overtaken(DeliveryAnswer(counts: .init(known: 1), overtaken: [0])))
        #expect(server.requests.map(\.path) == ["/fhir"])
        let both = sender.perform(request(samples([5, 6]))) as? DeliveryReply
        let counts = DeliveryAnswer.Counts(created: 1, known: 1)
        #expect(both == .onTrust(DeliveryAnswer(counts: counts, status: 200, overtaken: [0])))
    }

    /// A meal has no resource: it is settled, and no transaction without entries is sent.
    @Test func aMealIsntSent() throws {
        let server = try Server()
        let group = samples([1, 2], type: "HKCorrelationTypeIdentifierFood")
        let reply = try sender(server.url).perform(request(group)) as? DeliveryReply
        #expect(reply == .overtaken(DeliveryAnswer(counts: .init(known: 2), overtaken: [0, 1])))
        #expect(server.requests.isEmpty)
    }

    /// If a newer version of an element was refused, a probe with an older version of it is still sent as a real
    /// request.
    @Test func aRefusedVersionOvertakesNothing() throws {
        let server = try Server(status: 422)
        let sender = try sender(server.url)
        for version in [9, 5] as [Int64] {
            guard case .failed(let failure)? = sender.perform(request(samples([version]))) as? DeliveryReply else {
                Issue.record("version \(version) wasn't sent")
                continue
            }
            #expect(failure.status == 422)
        }
        #expect(server.requests.map(\.path) == ["/fhir", "/fhir"])
    }

    @Test(arguments: [("/fhir/", "/fhir/"), ("/fhir", "/fhir"), ("", "/"), ("/", "/")])
    func theBaseKeepsItsSlash(_ path: String, _ wanted: String) throws {
        let server = try Server()
        let sender = try sender(server.root + path)
        _ = sender.perform(request(samples([1])))
        _ = sender.perform(request(samples([1]), 0..<0))
        let prefix = wanted == "/" ? "" : "/fhir"
        #expect(server.requests.map(\.path) == [wanted, prefix + "/metadata"])
    }

    @Test func twoPeopleOfOneIdentifierAreDistinguished() throws {
        let server = try Server()
        let sender = try sender(server.url, options: ["patients": ["anna": "me"]])
        guard case .needsPerson(let why)? = sender.perform(request(samples([1]))) as? DeliveryReply else {
            Issue.record("one overwrote the other's")
            return
        }
        #expect(why.contains("'patients'") && !why.contains("anna") && server.requests.isEmpty)
        #expect(sender.perform(request(samples([1], user: "anna"))) as? DeliveryReply != nil)
        #expect(server.requests.count == 1)
    }

    // MARK: Duplicates

    private static let first = "me/0195e621-9c60-8abc-8000-000000000000"

    /// A server that searches before it creates may have made two resources from one element, in which case it refuses
    /// to change either of them.
    @Test func whatAServerMadeTwiceIsMadeOne() throws {
        let server = try Server(ids: ["7", "41", "9"], finds: Self.first)
        let reply = try sender(server.url).perform(request(samples([1]))) as? DeliveryReply
        #expect(reply == .onTrust(DeliveryAnswer(counts: .init(created: 1), status: 200)))
        #expect(server.requests.map(\.method) == ["POST", "GET", "DELETE", "DELETE", "POST"])
        let search = server.requests.first { $0.method == "GET" }
        #expect(search?.path == "/fhir/Observation")
        #expect(search?.query == ["identifier": "urn:x-healthbus:sample|" + Self.first])
        #expect(server.ids == ["41"])
    }

    /// A server that doesn't understand a search may answer it with any resources. If a request has several elements,
    /// or if it uses our own ids, nothing counts as a duplicate.
    @Test func nothingElseIsDeleted() throws {
        let cases: [(ids: Set<String>, finds: String, count: Int64, options: Value)] = [
            (["7", "9"], "anna/x", 1, .null), (["7", "../x"], Self.first, 1, .null),
            (["7", "9"], Self.first, 2, .null), (["7", "9"], Self.first, 1, ["ids": "client"]),
            ([], Self.first, 1, .null),
        ]
        for (ids, finds, count, options) in cases {
            let server = try Server(ids: ids, finds: finds)
            let group = samples(Array(1...count))
            guard
                case .failed(let failure)? = try sender(server.url, options: options).perform(request(group))
                    as? DeliveryReply
            else {
                Issue.record("it was accepted")
                continue
            }
            #expect(failure.outcome == .refused("the server refuses it (412)"))
            #expect(!server.requests.contains { $0.method == "DELETE" })
        }
    }

    /// An error in an outcome counts here too, whatever the status.
    @Test func aDeletionOrSearchWithAnErrorIsNone() throws {
        let error: Value = [
            "resourceType": "OperationOutcome", "issue": [["severity": "error", "code": "business-rule"]],
        ]
        for (complaint, warning, methods) in [
            (error, Value.null, ["POST", "GET", "DELETE"]), (Value.null, error, ["POST", "GET"]),
        ] {
            let server = try Server(ids: ["7", "9"], finds: Self.first, complaint: complaint, warning: warning)
            guard case .failed(let failure)? = try sender(server.url).perform(request(samples([1]))) as? DeliveryReply
            else {
                Issue.record("it was accepted")
                continue
            }
            #expect(failure.outcome == .refused("the server refuses it (412)"))
            #expect(server.requests.map(\.method) == methods && server.ids == ["7", "9"])
        }
    }

    /// A server that is busy for a moment doesn't refuse the element, which would then become a dead letter.
    @Test(arguments: ["GET", "DELETE"]) func aDeletionOrSearchThatFailsForNowRefusesNothing(_ method: String) throws {
        let lock: Value = [
            "resourceType": "OperationOutcome", "issue": [["severity": "error", "code": "lock-error"]],
        ]
        for (answer, outcome) in [
            (HTTPResponse(status: 503), .later()), (HTTPResponse(status: 500), .failing),
            (HTTPResponse(status: 200, json: Array(lock.json().utf8)), .failing),
        ] as [(HTTPResponse, RetryPolicy.Outcome)] {
            let server = try Server(ids: ["7", "9"], finds: Self.first, interruption: (method, answer))
            let reply = try sender(server.url).perform(request(samples([1]))) as? DeliveryReply
            guard case .failed(let failure) = reply else {
                Issue.record("it was accepted")
                continue
            }
            #expect(failure.outcome == outcome && server.ids == ["7", "9"])
        }
        let page = HTTPResponse(status: 200, body: Array("<html>Welcome</html>".utf8))
        let server = try Server(ids: ["7", "9"], finds: Self.first, interruption: (method, page))
        guard case .unproven? = try sender(server.url).perform(request(samples([1]))) as? DeliveryReply else {
            Issue.record("it was accepted, or refused")
            return
        }
    }

    @Test func anEmptyPartOnlyAsksWhetherItAnswers() throws {
        let server = try Server()
        let reply = try sender(server.url).perform(request(samples([1]), 0..<0)) as? DeliveryReply
        #expect(reply == .onTrust(DeliveryAnswer(counts: .init())))
        #expect(server.requests.map(\.path) == ["/fhir/metadata"])
    }

    @Test func nobodyListens() throws {
        let sender = try sender("http://127.0.0.1:\(try freePort())/fhir", token: "secret")
        guard case .failed(let failure) = sender.perform(request(samples([1]))) as? DeliveryReply else {
            Issue.record("it was accepted")
            return
        }
        #expect(failure.outcome == .unproven && !failure.why.contains("secret"))
    }
}
