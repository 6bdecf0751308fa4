import DeliveryKit
import HealthModel
import Testing
import UploaderReading
import UploaderStage

/// Every status with every form of body: how the uploader judges it, from a known backend and from a server that never
/// identifies itself.
@Suite struct AnswerProofTests {
    /// The result, in a word.
    private enum Result: String { case proven, trust, other, rolledBack, refusals, unreadable, nothing, status }

    private static func result(
        _ status: Int, _ body: String, type: String? = nil, sent: Int = 3, known: String? = nil, sequence: Int64? = nil
    ) -> Result {
        let judgement = AnswerProof(
            status: status, contentType: type, answer: UploadAnswer(body: Array(body.utf8)), sent: sent,
            seen: SeenBackend(generation: known, sequence: sequence))
        return switch judgement {
        case .proven: .proven
        case .onTrust: .trust
        case .otherBackend: .other
        case .rolledBack: .rolledBack
        case .refusals: .refusals
        case .unreadableRefusals: .unreadable
        case .unproven: .nothing
        case .status: .status
        }
    }

    private static let counts = #""counts":{"created":1,"updated":0,"known":2,"refused":0}"#
    private static let short = #""counts":{"created":1,"updated":0,"known":0,"refused":0}"#
    private static let named = #""refused":[{"id":"a","reason":"no"}]"#
    private static let odd = #""refused":{"a":"no"}"#

    /// Bodies, each with its results for a 2xx: from a server taken on trust, and from one with the known generation
    /// `g`.
    private static let accepting: [(String, Result, Result)] = [
        ("", .trust, .nothing), ("{}", .trust, .nothing), ("[]", .trust, .nothing),
        (#"{"stored":3}"#, .trust, .nothing),
        ("{\(counts)}", .trust, .nothing), ("{\(short)}", .nothing, .nothing),
        ("{\"generation\":\"g\",\(counts)}", .proven, .proven), ("{\"generation\":\"h\",\(counts)}", .proven, .other),
        ("{\"generation\":\"g\",\"sequence\":4,\(counts)}", .proven, .rolledBack),
        ("{\"generation\":\"g\",\(short)}", .nothing, .nothing),
        // Refusals that name elements are trusted, whatever else is wrong or missing.
        ("{\(named)}", .trust, .refusals), ("{\(short),\(named)}", .refusals, .refusals),
        ("{\"generation\":\"g\",\(short),\(named)}", .refusals, .refusals),
        ("{\"error\":\"some\",\(named)}", .refusals, .refusals), ("{\"ok\":false,\(named)}", .refusals, .refusals),
        ("{\(odd)}", .unreadable, .unreadable), ("{\"generation\":\"g\",\(counts),\(odd)}", .unreadable, .unreadable),
        // Failures reported in other words.
        (#"{"error":"no"}"#, .nothing, .nothing), (#"{"errors":["no"]}"#, .nothing, .nothing),
        (#"{"rejected":[{"id":"a"}]}"#, .nothing, .nothing),
        (#"{"counts":{"stored":2,"rejected":1}}"#, .nothing, .nothing),
        (#"{"data":{"failed":1}}"#, .nothing, .nothing), (#"{"success":false}"#, .nothing, .nothing),
        (#"{"status":"error"}"#, .nothing, .nothing), (#"{"status":422}"#, .nothing, .nothing),
        (#"[{"id":"a","status":"ok"},{"id":"b","status":"rejected"}]"#, .nothing, .nothing),
        (#"{"results":[{"id":"a","error":"no"}]}"#, .nothing, .nothing),
        (#"{"status":"ERROR"}"#, .nothing, .nothing), (#"{"statusCode":422}"#, .nothing, .nothing),
        (#"{"entry":[{"status":"201"},{"status":"422 Unprocessable"}]}"#, .nothing, .nothing),
        (#"{"issue":[{"severity":"information"},{"severity":"fatal"}]}"#, .nothing, .nothing),
        // The same words, but without a failure.
        (
            #"{"error":null,"errors":[],"failed":0,"rejected":{},"ok":true,"status":"ok","result":201}"#, .trust,
            .nothing
        ), (#"{"issue":[{"severity":"warning","level":"info"}],"status":"4000 stored"}"#, .trust, .nothing),
        // The answer can't be matched to any element.
        ("ok", .nothing, .nothing), ("\"ok\"", .nothing, .nothing), ("1", .nothing, .nothing),
        ("{", .nothing, .nothing),
        ("<html></html>", .nothing, .nothing),
    ]

    @Test(arguments: accepting.indices, [200, 201, 202, 207]) func a2xxIsTakenByItsBody(_ number: Int, _ status: Int) {
        let (body, trusted, known) = Self.accepting[number]
        #expect(Self.result(status, body) == trusted, "\(body)")
        #expect(Self.result(status, body, known: "g", sequence: 5) == known, "\(body)")
    }

    @Test(arguments: [400, 409, 413, 415, 422, 424]) func a4xxThatNamesRefusalsIsBelieved(_ status: Int) {
        #expect(Self.result(status, "{\(Self.named)}") == .refusals)
        #expect(Self.result(status, "{\"error\":\"no\",\(Self.named)}", known: "g") == .refusals)
        #expect(Self.result(status, "{\"error\":\"no\"}") == .status)
        #expect(Self.result(status, "") == .status)
    }

    @Test(arguments: [301, 308, 401, 403, 404, 405, 408, 425, 429, 500, 502, 503, 599])
    func anyOtherStatusSaysItAll(_ status: Int) {
        for body in [
            "", "{}", "{\(Self.named)}", "{\(Self.odd)}", "<html></html>", "{\"generation\":\"g\",\(Self.counts)}",
        ] {
            #expect(Self.result(status, body) == .status)
            #expect(Self.result(status, body, known: "g") == .status)
        }
    }

    @Test(arguments: [400, 422]) func aBadRequestOfSomebodyElseRefusesNothing(_ status: Int) {
        #expect(Self.result(status, "<html></html>", known: "g") == .nothing)
        #expect(Self.result(status, "{}", type: "text/html", known: "g") == .nothing)
        #expect(Self.result(status, "{\(Self.odd)}", known: "g") == .unreadable)
        // This can't be known about a server that never identified itself.
        #expect(Self.result(status, "<html></html>") == .status)
    }

    @Test func whatIsCalledAPageIsOne() {
        #expect(Self.result(200, "{\(Self.counts)}", type: "Text/HTML; charset=utf-8") == .nothing)
        #expect(Self.result(200, "", type: "text/html") == .trust)
    }

    @Test(arguments: [1, 4, 40]) func depthIsNoWayRoundIt(_ depth: Int) {
        let body = String(repeating: #"{"a":"#, count: depth) + #"{"failed":1}"# + String(repeating: "}", count: depth)
        // Failures are searched for only three levels deep, so that deep bodies take no longer.
        #expect(Self.result(200, body) == (depth < 3 ? .nothing : .trust))
    }
}
