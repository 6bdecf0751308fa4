import Foundation
import HTTP
import HealthModel
import HealthPush
import IngestStage
import Testing

/// Compares docs/openapi-ingest.json with the ingest's answers. `make test-contract` tests a running ingest much more
/// thoroughly.
struct IngestContractTests {
    private static func page(_ name: String) throws -> Data {
        try Data(
            contentsOf: URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
                .deletingLastPathComponent()
                .deletingLastPathComponent().appending(path: "docs/" + name))
    }

    private func document() throws -> Value { try Value(json: Self.page("openapi-ingest.json")) }

    @Test func bothHaveTheSamePathsAndMethods() throws {
        let paths = try #require(try document()["paths"].object)
        let described = paths.mapValues { Set(($0.object ?? [:]).keys) }
        let routes = Dictionary(
            uniqueKeysWithValues: IngestRoute.all.map {
                ($0.template, Set($0.methods.map { $0.lowercased() }))
            })
        #expect(described == routes)
        let text = try String(decoding: Self.page("ways-in.md"), as: UTF8.self)
        for route in IngestRoute.all where route != .file {
            for method in route.methods {
                let path = route.template.replacingOccurrences(of: "{", with: "<").replacingOccurrences(
                    of: "}", with: ">")
                #expect(text.contains("`\(method) \(path)`"))
            }
        }
    }

    @Test func eachWayIsDescribedAsItIsDeclared() throws {
        let document = try document()
        let page = try String(decoding: Self.page("ways-in.md"), as: UTF8.self)
        for route in IngestRoute.all {
            for method in route.methods {
                let operation = document["paths"][route.template][method.lowercased()]
                let security = operation["security"].isNull ? document["security"] : operation["security"]
                #expect((security == [["token": []]]) == (route.proof == .bearer), "\(route.template)")
                guard case .push(let way) = route else { continue }
                let types = Set((operation["requestBody"]["content"].object ?? [:]).keys)
                #expect(types.isSubset(of: way.types) && way.types.first.map(types.contains) == true, "\(way.path)")
                #expect(page.contains("| items per request | \(way.items / 1000),000"))
                guard let app = way.pairing else { continue }
                let path = way.path.replacing("{", with: "<").replacing("}", with: ">")
                #expect(page.contains("`<address>\(path)`") && page.contains("\"\(app.name)\": {"), "\(app.name)")
            }
        }
    }

    /// For any request to any path, the answer's status is documented, and its body has the promised members.
    @Test func everyAnswerIsDescribed() throws {
        let document = try document()
        let page = try String(decoding: Self.page("ways-in.md"), as: UTF8.self)
        let problem = document["components"]["schemas"]["Problem"]["required"].array?.compactMap(\.string) ?? []
        let outcomes = document["components"]["schemas"]["Outcomes"]["required"].array?.compactMap(\.string) ?? []
        #expect(!document["components"]["schemas"]["Outcomes"]["properties"]["statistics"].isNull)
        #expect(problem == ["error", "hint"] && outcomes.count == 9)
        var statuses: Set<Int> = []
        // Files need a folder and an observer: tests of whole stacks cover them. Events have their own tests.
        for route in IngestRoute.all where route != .file && route != .files && !route.isOwn {
            let method = try #require(route.methods.first)
            let rig = try IngestRig(requestsPerMinute: 8)
            let path = IngestRig.path(route.template)
            var answers = [
                try rig.send(method, path, body: "{", token: nil),
                try rig.send(method, path, body: "{", token: "reads"),
                try rig.send("DELETE", path, token: "good"),
            ]
            for (body, type) in [
                ("{", "application/json"), ("{\"samples\": [7], \"data\": {}}", "application/json"), ("a", "text/csv"),
            ] { answers.append(try rig.send(method, path, body: body, type: type)) }
            rig.isObserverThere = false
            answers.append(
                try rig.send(method, path, body: "{\"samples\": [], \"data\": {}}"))
            for _ in 0..<8 {
                answers.append(try rig.send(method, path, body: "{", type: "application/json"))
            }
            let described = document["paths"][route.template][method.lowercased()]["responses"]
            for answer in answers {
                statuses.insert(answer.status)
                #expect(!described["\(answer.status)"].isNull, "\(route) answers \(answer.status)")
                let body = try Value(json: answer.body)
                if answer.status >= 400 {
                    #expect(problem.allSatisfy { body[$0].string != nil })
                    let code = try #require(body["code"].string)
                    #expect(page.contains("`\(code)`"), "\(code)")
                } else if answer.status == 200, route != .health {
                    #expect(outcomes.allSatisfy { !body[$0].isNull })
                }
            }
        }
        #expect(statuses == [200, 202, 401, 403, 405, 415, 422, 429, 503])
    }

    /// Whoever holds a token that was valid once learns why it isn't any more; others learn nothing.
    @Test(arguments: [
        ("ended", "this token has ended"), ("revoked", "this token was revoked"), ("guess", "is missing or wrong"),
    ])
    func aTokenThatIsOverGetsThatAnswer(_ token: String, _ words: String) throws {
        let answer = try IngestRig().send(token: token)
        #expect(answer.status == 401 && answer.text.contains("\"unauthorized\"") && answer.text.contains(words))
    }
}
