import DeliveryKit
import FHIRStage
import HTTP
import HealthModel
import HealthResources
import StageKit
import Synchronization
import TestSupport
import Testing

/// What a server has of ours, by its search, over a real connection to a server in this process.
@Suite(.inTurn) struct HeldResourcesTests {
    private static let form = FHIRForm(
        patients: PatientNames(.null), createsPatients: false, figures: [ResourceFigure(path: ["steps"], unit: "count")]
    )

    /// Answers every search by a function of path and query.
    private func ask(
        _ question: HeldQuestion, _ form: FHIRForm = form,
        answer: @escaping @Sendable (HTTPRequest) -> HTTPResponse
    ) throws -> HeldReply {
        let server = try HTTPServer { answer($0) }
        let url = "http://127.0.0.1:\(server.port)/fhir"
        let client = try HTTPClient(base: FHIRServer(url).origin)
        let sender = FHIRSender(server: FHIRServer(url), token: nil, form: form) { try client.send($0, timeout: 10) }
        return try #require(sender.perform(Effect(id: 1, request: question)) as? HeldReply)
    }

    private static func bundle(_ resources: [Value], next: String? = nil) -> HTTPResponse {
        var bundle: [String: Value] = [
            "resourceType": "Bundle", "type": "searchset", "entry": .array(resources.map { ["resource": $0] }),
        ]
        bundle["link"] = next.map { [["relation": "next", "url": .string($0)]] }
        return HTTPResponse(status: 200, json: Array(Value.object(bundle).json().utf8))
    }

    /// The resources as sent.
    private static func resources(_ group: DeliveryGroup, _ form: FHIRForm = form) throws -> [Value] {
        let sent = FHIRTransaction(group, Array(0..<group.count), form)
        return (try Value(json: sent.body)["entry"].array ?? []).map { $0["resource"] }.filter {
            $0["resourceType"] == "Observation"
        }
    }

    private func page(_ reply: HeldReply) -> HeldPage? { if case .page(let page) = reply { page } else { nil } }
    private func inability(_ reply: HeldReply) -> String? { if case .unable(let why) = reply { why } else { nil } }

    private let question = HeldQuestion(list: .samples, user: "me")

    @Test func whatIsThereHasTheNumbersOfWhatWasSent() throws {
        let group = samples([1, 2, 3], deleted: [1])
        let sent = try Self.resources(group)
        let others = try Self.resources(samples([1], user: "me2")) + Self.resources(days([("2025-03-30", 1, 7)]))
        let found = try #require(
            page(
                ask(question) { request in
                    request.query["identifier"] == "urn:x-healthbus:sample|" && request.path == "/fhir/Observation"
                        ? Self.bundle(others + sent) : HTTPResponse(status: 400, body: [])
                }))
        let numbers = try Self.form.contentOf(group)
        #expect(numbers[1] == nil && numbers[0] != numbers[2])
        guard case .samples(let rows) = group.content else { return }
        #expect(
            found.rows
                == [0, 2].map { row in
                    HeldPage.Row(
                        id: rows.ids[row], held: .init(version: nil, isDeleted: false, content: numbers[row]))
                })
        #expect(found.next == nil && !found.isOrdered && found.reportsContents)
    }

    /// A server stores, adds and writes in its own way.
    private static func stored(_ resource: Value) -> Value {
        var members = resource.object ?? [:]
        members["id"] = "77"
        members["meta"] = ["versionId": "3", "lastUpdated": "2025-03-30T10:00:00Z"]
        members["text"] = ["status": "generated", "div": "<div>60</div>"]
        members["effectiveDateTime"] = members["effectiveDateTime"].map { time in
            .string((time.string ?? "").replacing("Z", with: ".000+00:00"))
        }
        var subject = members["subject"]?.object ?? [:]
        subject["reference"] = "Patient/12"
        members["subject"] = .object(subject)
        var quantity = members["valueQuantity"]?.object ?? [:]
        quantity["value"] = quantity["value"]?.double.map { .number($0) }
        members["valueQuantity"] = .object(quantity)
        return .object(members)
    }

    private static func changed(_ resource: Value, _ path: [String], to value: Value) -> Value {
        guard let name = path.first else { return value }
        if let index = Int(name), var elements = resource.array {
            elements[index] = changed(elements[index], Array(path.dropFirst()), to: value)
            return .array(elements)
        }
        var members = resource.object ?? [:]
        members[name] = changed(members[name] ?? .null, Array(path.dropFirst()), to: value)
        return .object(members)
    }

    private func number(_ resource: Value) throws -> Int64? {
        try page(ask(question) { _ in Self.bundle([resource]) })?.rows.first?.held.content
    }

    @Test func whatAServerAddsMakesNoDifference() throws {
        let group = samples([1])
        let own = try #require(try Self.form.contentOf(group).first ?? nil)
        let resource = Self.stored(try #require(try Self.resources(group).first))
        #expect(try number(resource) == own)
        let creating = FHIRForm(
            patients: PatientNames(.null), createsPatients: true, givesIDs: true, figures: Self.form.figures)
        #expect(try creating.contentOf(group) == [own])
    }

    @Test(
        arguments: [
            (["valueQuantity", "value"], .number(61)), (["valueQuantity", "unit"], "x"),
            (["valueQuantity", "code"], "x"),
            (["effectiveDateTime"], "2025-03-30T08:15:01Z"), (["status"], "amended"),
            (["code", "coding", "0", "code"], "1-1"), (["subject", "identifier", "value"], "you"),
            (["valueQuantity"], .null),
        ] as [([String], Value)])
    func anEditMakesADifference(_ path: [String], _ value: Value) throws {
        let group = samples([1])
        let own = try #require(try Self.form.contentOf(group).first ?? nil)
        let resource = try #require(try Self.resources(group).first)
        #expect(try number(resource) == own)
        #expect(try number(Self.changed(resource, path, to: value)) != own)
    }

    @Test func namesThatContinueAnother() throws {
        let sent = try ["me", "me/too", "me/"].flatMap { try Self.resources(samples([1], user: $0)) }
        for user in ["me", "me/too", "me/"] {
            let found = try ask(HeldQuestion(list: .samples, user: user)) { _ in Self.bundle(sent) }
            #expect(page(found)?.rows.count == 1)
        }
    }

    @Test func aDayWithoutFiguresIsntSent() throws {
        let numbers = try Self.form.contentOf(days([("2025-03-29", 1, 7), ("2025-03-30", 2, nil)]))
        #expect(numbers[0] != nil && numbers[1] == nil)
    }

    @Test func pages() throws {
        let sent = try Self.resources(samples([1, 2]))
        let answer: @Sendable (HTTPRequest) -> HTTPResponse = { request in
            request.query["page"] == "2" ? Self.bundle([sent[1], sent[1]]) : Self.bundle([sent[0]], next: "?page=2")
        }
        let first = try #require(page(ask(question, answer: answer)))
        #expect(first.rows.count == 1 && first.next == "/fhir/Observation?page=2")
        var second = question
        second.cursor = first.next
        let last = try #require(page(ask(second, answer: answer)))
        #expect(last.rows.count == 2 && last.rows[0] == last.rows[1] && last.next == nil, "both are there")
        #expect(inability(try ask(second) { _ in Self.bundle([], next: "/fhir/Observation?page=2") }) != nil)
        #expect(inability(try ask(question) { _ in Self.bundle(sent, next: "http://example.org/fhir?p=2") }) != nil)
        guard case .later = try ask(second, answer: { _ in HTTPResponse(status: 410, body: []) }) else {
            return #expect(Bool(false))
        }
    }

    @Test func aServerThatDoesNotSearchForIt() throws {
        #expect(inability(try ask(question) { _ in HTTPResponse(status: 400, body: []) }) != nil)
        #expect(inability(try ask(question) { _ in HTTPResponse(status: 200, json: Array("{}".utf8)) }) != nil)
        let outcome: Value = [
            "resourceType": "OperationOutcome", "issue": [["severity": "error", "code": "not-supported"]],
        ]
        #expect(inability(try ask(question) { _ in Self.bundle([outcome]) }) != nil)
        let sent = try Self.resources(samples([1]))
        let hidden = try ask(question) { $0.query["identifier"] == nil ? Self.bundle(sent) : Self.bundle([]) }
        #expect(inability(hidden)?.contains("doesn't find them") == true)
        #expect(page(try ask(question) { _ in Self.bundle([]) })?.rows.isEmpty == true)
        guard
            case .later(_, let wait) = try ask(
                question,
                answer: { _ in HTTPResponse(status: 503, headers: ["Retry-After": "9"], body: []) })
        else { return #expect(Bool(false)) }
        #expect(wait == .seconds(9))
    }
}
