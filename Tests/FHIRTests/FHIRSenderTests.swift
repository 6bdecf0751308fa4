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

/// Requests over a real connection, to a server in this process.
@Suite(.inTurn) struct FHIRSenderTests {
    /// Keeps what it was asked, and answers for each entry.
    private final class Server: Sendable {
        private final class Shared: Sendable { let requests = Mutex<[HTTPRequest]>([]) }

        private let shared: Shared
        private let server: HTTPServer

        init() throws {
            let shared = Shared()
            self.shared = shared
            server = try HTTPServer { request in
                shared.requests.withLock { $0.append(request) }
                guard request.path != "/fhir/metadata" else {
                    return HTTPResponse(
                        status: 200, json: Array(#"{"resourceType":"CapabilityStatement","fhirVersion":"4.0.1"}"#.utf8))
                }
                let entries = (try? Value(json: request.body))?["entry"].array ?? []
                let answer: Value = [
                    "resourceType": "Bundle", "type": "transaction-response",
                    "entry": .array(entries.map { _ in ["response": ["status": "201 Created"]] }),
                ]
                return HTTPResponse(status: 200, json: Array(answer.json().utf8))
            }
        }

        var requests: [HTTPRequest] { shared.requests.withLock { $0 } }
        var url: String { "http://127.0.0.1:\(server.port)/fhir/" }
    }

    private func sender(_ url: String, token: String?) throws -> FHIRSender {
        let server = FHIRServer(url)
        return FHIRSender(
            client: try HTTPClient(base: server.origin), server: server,
            token: token.map { TokenSource(file: nil, environment: $0) },
            form: FHIRForm(patients: PatientNames(.null), createsPatients: false, figures: []), timeout: 5)
    }

    private func request(_ group: DeliveryGroup, _ part: Range<Int>? = nil) -> Effect {
        Effect(
            id: 1,
            request: UploadRequest(
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
        _ = try sender(server.url, token: nil).perform(request(samples([1])))
        #expect(server.requests.first?.headers["Authorization"] == nil && server.requests.count == 1)
    }

    /// What was overtaken counts as known, if the server answers at all.
    @Test func anOvertakenElementIsntSent() throws {
        let server = try Server()
        let sender = try sender(server.url, token: nil)
        _ = sender.perform(request(samples([9])))
        let reply = sender.perform(request(samples([5]))) as? DeliveryReply
        #expect(reply == .onTrust(DeliveryAnswer(counts: .init(known: 1))))
        #expect(server.requests.map(\.path) == ["/fhir", "/fhir/metadata"])
    }

    @Test func anEmptyPartOnlyAsksWhetherItAnswers() throws {
        let server = try Server()
        let reply = try sender(server.url, token: nil).perform(request(samples([1]), 0..<0)) as? DeliveryReply
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
