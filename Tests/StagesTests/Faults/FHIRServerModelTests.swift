import DeliveryKit
import FHIRStage
import Foundation
import HTTP
import HealthModel
import HealthResources
import StageKit
import TestSupport
import Testing

private let python = ProcessInfo.processInfo.environment["HEALTHBUS_TEST_FHIR"].flatMap {
    FileManager.default.isExecutableFile(atPath: $0) ? $0 : nil
}

/// The same requests to the model and to Tests/FHIR/server.py, which has fhir.resources read them, and its own answers.
///
/// `HEALTHBUS_TEST_FHIR` is a Python that has fhir.resources (`make test-fhir` sets it).
@Suite(.inTurn, .enabled(if: python != nil, "there is no fhir.resources: run 'make test-fhir'"))
struct FHIRServerModelTests {
    private final class Server {
        let origin: String
        private let process = Process()

        init() throws {
            let port = try freePort()
            origin = "http://127.0.0.1:\(port)"
            process.executableURL = URL(fileURLWithPath: python ?? "")
            process.arguments = [
                "-B", Checkout.root + "/Tests/FHIR/server.py", "\(port)", "1", "--search", "--strict",
            ]
            process.environment = ["HEALTHBUS_FHIR_TOKEN": "secret"]
            process.standardOutput = FileHandle.nullDevice
            try process.run()
            let client = try HTTPClient(base: origin)
            func answers() -> Bool {
                do { return try client.send(HTTPRequest(path: "/fhir/metadata")).status == 200 } catch { return false }
            }
            try #require(eventually { answers() || !process.isRunning } && process.isRunning)
        }

        deinit {
            // A test's thread blocks the gentler signals, and its children do too.
            _ = kill(process.processIdentifier, SIGKILL)
            process.waitUntilExit()
        }
    }

    /// One of the two sides: what its sender requests, and what is answered.
    private final class Side {
        var log: [String] = []
        let send: (HTTPRequest) throws -> HTTPResponse

        init(_ send: @escaping (HTTPRequest) throws -> HTTPResponse) { self.send = send }

        func exchange(_ request: HTTPRequest) throws -> HTTPResponse {
            let response = try send(request)
            let body = response.body.isEmpty ? Value.null : try Value(json: response.body)
            let query = request.encodedQuery ?? request.query.sorted { $0.key < $1.key }.description
            log.append("\(request.method) \(request.path) \(query): \(response.status) \(body.json())")
            return response
        }
    }

    @Test(arguments: 0...7 as ClosedRange<UInt64>) func theModelAnswersLikeTheServer(_ seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let server = try Server()
        let client = try HTTPClient(base: server.origin)
        var model = FHIRServerModel(base: "/fhir", token: "secret")
        let sides = [
            Side { model.answer($0, doubles: $0.headers["X-Doubles"].flatMap { Int($0) } ?? 0) },
            Side { try client.send($0) },
        ]
        let form = FHIRForm(
            patients: PatientNames(["anna": "https://clinic.example/mrn|1 2"]), createsPatients: seed & 2 != 0,
            givesIDs: seed & 1 != 0, namesSources: seed & 4 != 0,
            figures: [ResourceFigure(path: ["steps"], unit: "count")])
        var doubles = 0
        let senders = sides.map { side in
            FHIRSender(server: FHIRServer(server.origin + "/fhir"), token: nil, form: form) {
                var request = $0
                request.headers["Authorization"] = "Bearer secret"
                if doubles > 0 { request.headers["X-Doubles"] = "\(doubles)" }
                return try side.exchange(request)
            }
        }
        for step in 1...80 {
            if step % 5 == 0 {
                let request = Self.oddRequest(step / 5)
                for side in sides { _ = try side.exchange(request) }
            } else {
                doubles = Int.random(in: 0..<4, using: &random) == 0 ? 2 : 0
                let effect = Self.effect(version: Int64(step), using: &random)
                for sender in senders { try Self.perform(effect, sender) }
            }
            try #require(sides[0].log == sides[1].log, "step \(step)")
            let held = try client.send(HTTPRequest(path: "/held"))
            #expect(try Self.sorted(Value(json: held.body).array ?? []) == Self.sorted(Self.rows(model)))
            let twins = try Value(json: client.send(HTTPRequest(path: "/twins")).body)
            #expect(twins == .integer(Int64(model.held.values.reduce(0) { $0 + $1.count - 1 })))
        }
        // A script without refusals would show little.
        for status in [200, 204, 400, 401, 404, 422] + (form.givesIDs ? [] : [412]) {
            #expect(sides[0].log.contains { $0.contains(": \(status) ") }, "\(status)")
        }
    }

    /// What the server says it holds.
    private static func rows(_ model: FHIRServerModel) -> [Value] {
        model.held.compactMap { key, resources in
            resources.first.map {
                [
                    "type": .string(key.type), "system": .string(key.identifier.system),
                    "value": .string(key.identifier.value), "version": .integer($0.version), "resource": $0.content,
                ]
            }
        }
    }

    private static func sorted(_ rows: [Value]) -> [String] { rows.map { $0.json() }.sorted() }

    // MARK: The script

    private static let users = ["me", "anna", "b|o"]

    private static func effect(version: Int64, using random: inout SeededRandom) -> any Sendable {
        let user = users[Int.random(in: 0..<users.count, using: &random)]
        switch Int.random(in: 0..<10, using: &random) {
        case 0: return HoldingsRequest()
        case 1, 2:
            let lists = HeldList.allCases
            return HeldQuestion(
                list: lists[Int.random(in: 0..<lists.count, using: &random)], user: user,
                limit: Int.random(in: 1...60, using: &random))
        case 3...5:
            let (metric, content) = documents(version, using: &random)
            return request(metric, user, content)
        default: return request(DeliveryMetric(family: "some"), user, .samples(samples(version, using: &random)))
        }
    }

    private static func request(
        _ metric: DeliveryMetric, _ user: String, _ content: DeliveryGroup.Content
    ) -> DeliveryRequest {
        var group = DeliveryGroup(metric: metric, user: user, content: content, batch: DeliveryBatch(count: 0))
        group.batch = DeliveryBatch(count: group.count)
        return DeliveryRequest(group: group, part: 0..<group.count, deviceId: "d", syncedAt: 0)
    }

    /// All pages of what is asked for.
    private static func perform(_ request: any Sendable, _ sender: FHIRSender) throws {
        var request = request
        for number in 1...100 as ClosedRange<Int64> {
            let reply = sender.perform(Effect(id: number, request: request))
            guard var question = request as? HeldQuestion, case .page(let page)? = reply as? HeldReply,
                let next = page.next
            else { return }
            question.cursor = next
            request = question
        }
    }

    private static func samples(_ version: Int64, using random: inout SeededRandom) -> SamplePage {
        var page = SamplePage()
        page.types = [
            "HKQuantityTypeIdentifierHeartRate", "HKCategoryTypeIdentifierSleepAnalysis",
            "HKQuantityTypeIdentifierBloodPressureSystolic",
        ]
        page.units = ["count/min", "", "mmHg"]
        page.origins = [Origin(sourceName: "Anna’s “Watch” \\ |")]
        for id in (0..<70 as Range<UInt64>).shuffled(using: &random).prefix(
            [1, 1, 3, 40].randomElement(using: &random) ?? 1)
        {
            let type = Int.random(in: 0..<page.types.count, using: &random)
            page.ids.append(SampleID(high: 0x0195_E621_9C60_8ABC, low: 0x8000_0000_0000_0000 | id))
            page.sequence.append(version)
            page.type.append(Int32(type))
            page.unit.append(Int32(type))
            page.start.append(1_743_322_500_000_000 + Int64(id) * 60_000_000)
            page.end.append(1_743_322_500_000_000 + Int64(id) * 60_000_000 + Int64(type) * 1_500_000)
            page.value.append(type == 1 ? 3 : Double(Int.random(in: 400...1200, using: &random)) / 7)
            page.origin.append(0)
            page.flags.append([[], [], .deleted, .part][Int.random(in: 0..<4, using: &random)])
            page.created.append(0)
            page.healthKitUUID.append(nil)
            page.metadata.appendEmpty()
            page.payload.appendEmpty()
        }
        return page
    }

    private static func documents(
        _ version: Int64, using random: inout SeededRandom
    ) -> (DeliveryMetric, DeliveryGroup.Content) {
        let kind = Int.random(in: 0..<3, using: &random)
        let documents = (1...9).shuffled(using: &random).prefix(Int.random(in: 1...5, using: &random)).map { day in
            let number = Value.integer(Int64.random(in: 0...3, using: &random))
            let (start, end) = ("2025-03-0\(day)T21:00:00Z", "2025-03-0\(day)T23:30:00Z")
            let body: Value =
                switch kind {
                case 0: ["final": true, "revision": number, "steps": number]
                case 1: ["start": .string(start), "end": .string(end), "asleepMinutes": number]
                default:
                    [
                        "startDate": .string(start), "endDate": .string(end), "duration": number,
                        "activityIdentifier": "HKWorkoutActivityTypeRunning", "type": "running",
                    ]
                }
            return DeliveryGroup.Document(
                id: kind == 0 ? "2025-03-0\(day)" : "some-\(day)", version: version,
                body: Int.random(in: 0..<3, using: &random) == 0 ? nil : body)
        }
        return switch kind {
        case 0: (.daily, .days(documents))
        case 1: (.sleep, .nights(documents))
        default: (.workouts, .workouts(documents))
        }
    }

    /// A request that no sender makes, or that a server refuses.
    private static func oddRequest(_ number: Int) -> HTTPRequest {
        let url = "Observation?identifier=urn:x-healthbus:sample%7Codd/\(number)"
        let resource: Value = [
            "resourceType": "Observation", "status": "final", "code": ["text": "odd"],
            "identifier": [["system": "urn:x-healthbus:sample", "value": .string("odd/\(number)")]],
            "subject": ["reference": "urn:uuid:6f1d1f3e-6c8a-4d0a-9d57-3b3f9a5c1e02"],
        ]
        func put(_ resource: Value, _ url: String) -> Value {
            ["resource": resource, "request": ["method": "PUT", "url": .string(url)]]
        }
        func with(_ name: String, _ value: Value?) -> Value {
            var members = resource.object ?? [:]
            members[name] = value
            return .object(members)
        }
        func transaction(_ entries: Value...) -> HTTPRequest {
            let bundle: Value = ["resourceType": "Bundle", "type": "transaction", "entry": .array(entries)]
            return HTTPRequest(
                method: "POST", path: "/fhir", headers: ["Content-Type": "application/fhir+json"],
                body: Array(bundle.json().utf8))
        }
        let gone: Value = ["request": ["method": "DELETE", "url": .string(url)]]
        let own = put(with("subject", ["display": "odd"]), url)
        var request: HTTPRequest
        switch number % 14 {
        case 0: request = transaction()
        case 1: request = transaction(own, own)
        // Nobody has its reference.
        case 2: request = transaction(put(resource, url))
        // The second has another identifier, so the first isn't stored either.
        case 12: request = transaction(own, put(resource, url + "1"))
        case 3: request = transaction(put(with("code", nil), url))
        case 4: request = transaction(put(resource, "Observation?code=1"))
        case 5: request = transaction(own, gone)
        case 6: request = transaction(gone)
        case 7: request = transaction(put(resource, "Observation/1"))
        case 8: request = HTTPRequest(path: "/fhir/Observation", query: ["code": "1"])
        case 9: request = HTTPRequest(path: "/fhir/Patient")
        case 10: request = HTTPRequest(method: "DELETE", path: "/fhir/Observation/1")
        case 11: request = HTTPRequest(path: "/fhir/Observation", query: ["_count": "7"])
        default: return HTTPRequest(path: "/fhir/Observation")
        }
        request.headers["Authorization"] = "Bearer secret"
        return request
    }
}
