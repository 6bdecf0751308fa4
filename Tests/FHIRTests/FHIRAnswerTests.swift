import DeliveryKit
import FHIRStage
import HTTP
import HealthModel
import HealthResources
import Testing

/// What can be concluded from a server's answers.
@Suite struct FHIRAnswerTests {
    private let transaction = FHIRTransaction(
        samples([1, 2, 3], deleted: [2]), [0, 1, 2],
        FHIRForm(patients: PatientNames(.null), createsPatients: false, figures: []))

    private func reply(_ status: Int, _ body: String, headers: HTTPHeaders = [:], overtaken: Set<Int> = [])
        -> DeliveryReply
    {
        FHIRAnswer.reply(
            HTTPResponse(status: status, headers: headers, body: Array(body.utf8)), to: transaction,
            overtaken: overtaken, url: "https://h.example.org/fhir")
    }

    private func response(_ statuses: [String], type: String = "transaction-response") -> String {
        let entries = statuses.map { #"{"response":{"status":"\#($0)"}}"# }.joined(separator: ",")
        return #"{"resourceType":"Bundle","type":"\#(type)","entry":[\#(entries)]}"#
    }

    @Test func anEntryForEachIsAcceptance() {
        let counts = DeliveryAnswer.Counts(created: 1, updated: 2, known: 4)
        #expect(
            reply(200, response(["201 Created", "200 OK", "204"]), overtaken: [4, 5, 6, 7])
                == .onTrust(DeliveryAnswer(counts: counts, status: 200, overtaken: [4, 5, 6, 7])))
        // The resource never existed.
        #expect(
            reply(200, response(["200", "200", "404 Not Found"]))
                == .onTrust(DeliveryAnswer(counts: .init(updated: 3), status: 200)))
    }

    @Test(arguments: [
        "", "ok", "<html>Please log in</html>", "{}", "[]", #"{"resourceType":"OperationOutcome"}"#,
        #"{"resourceType":"Bundle","type":"transaction-response"}"#,
    ])
    func anythingElseProvesNothing(_ body: String) {
        guard case .unproven = reply(200, body) else {
            Issue.record("\(body) counts as acceptance")
            return
        }
    }

    @Test func halfABundleProvesNothing() {
        for body in [
            response(["201", "201"]), response(["201", "201", "204", "204"]),
            response(["201", "201", "204"], type: "batch-response"), response(["201", "409 Conflict", "204"]),
            response(["404", "200", "204"]), response(["201", "200", "soon"]),
        ] {
            guard case .unproven = reply(200, body) else {
                Issue.record("\(body) counts as acceptance")
                continue
            }
        }
    }

    /// By FHIR's rules this can't happen, since a transaction is all or nothing. Even so, one of the elements is the
    /// cause.
    @Test(arguments: ["400", "412 Precondition Failed", "422 Unprocessable"])
    func aRefusedEntryIsLookedFor(_ status: String) throws {
        let code = try #require(Int(status.prefix(3)))
        #expect(outcome(200, response(["201", status, "204"])) == .refused("the server refuses it (\(code))"))
        #expect(outcome(200, response(["201", "201", "500"])) == .failing)
        #expect(outcome(200, response(["201", "201", "503 Service Unavailable"])) == .later())
    }

    // MARK: Outcomes

    /// An answer whose second entry has this status and this `OperationOutcome`.
    private func answer(_ status: String, outcome: String, asResource: Bool = false) -> String {
        let response = #""response":{"status":"\#(status)"\#(asResource ? "" : ",\"outcome\":" + outcome)}"#
        let entry = asResource ? #"{"resource":\#(outcome),\#(response)}"# : "{\(response)}"
        return self.response(["201", "ENTRY", "204"]).replacing(#"{"response":{"status":"ENTRY"}}"#, with: entry)
    }

    private static func operationOutcome(_ issues: (severity: String, code: String)...) -> String {
        let all = issues.map { #"{"severity":"\#($0.severity)","code":"\#($0.code)","diagnostics":"weight 61.5"}"# }
        return #"{"resourceType":"OperationOutcome","issue":[\#(all.joined(separator: ","))]}"#
    }

    /// A successful status doesn't outweigh an error: nothing of it counts as delivered.
    @Test(arguments: ["error", "fatal"], ["200 OK", "201", "204 No Content"])
    func anErrorIsARefusalWhateverTheStatus(_ severity: String, _ status: String) throws {
        let error = Self.operationOutcome(("information", "informational"), (severity, "invariant"))
        let code = try #require(Int(status.prefix(3)))
        let refused = RetryPolicy.Outcome.refused("the server refuses it (\(code), invariant)")
        #expect(outcome(200, answer(status, outcome: error)) == refused)
        #expect(outcome(200, answer(status, outcome: error, asResource: true)) == refused)
        // The answer as a whole, and one that has fewer entries or another type.
        #expect(outcome(code, error) == .refused("the server refuses it (\(code), invariant)"))
        let only = #"{"resourceType":"Bundle","type":"transaction-response","entry":[{"resource":\#(error)}]}"#
        for other in [only, answer(status, outcome: error).replacing("transaction-", with: "batch-")] {
            #expect(outcome(200, other) == .refused("the server refuses it (200, invariant)"))
        }
    }

    @Test func anErrorIsARefusalUnderAStatusThatProvesNothing() {
        let error = Self.operationOutcome(("error", "business-rule"))
        #expect(
            outcome(200, answer("409 Conflict", outcome: error))
                == .refused("the server refuses it (409, business-rule)"))
        guard case .failed(let failure) = reply(200, answer("200", outcome: error)) else {
            Issue.record("it counts as acceptance")
            return
        }
        #expect(failure.status == 200 && failure.why.contains("business-rule") && !failure.why.contains("61.5"))
    }

    @Test(arguments: ["warning", "information", "success"]) func remarksAreNoRefusal(_ severity: String) {
        let taken = DeliveryReply.onTrust(DeliveryAnswer(counts: .init(created: 1, updated: 2), status: 200))
        let remark = Self.operationOutcome((severity, "invariant"))
        #expect(reply(200, answer("200 OK", outcome: remark)) == taken)
        #expect(reply(200, answer("200 OK", outcome: remark, asResource: true)) == taken)
        #expect(reply(200, answer("200 OK", outcome: "null")) == taken)
    }

    /// FHIR's transient errors are the server's: such an element never becomes a dead letter. Neither does one about
    /// which an outcome says nothing that can be understood.
    @Test(arguments: [
        operationOutcome(("error", "lock-error")), operationOutcome(("fatal", "exception"), ("warning", "invariant")),
        #"{"resourceType":"OperationOutcome"}"#, #"{"resourceType":"OperationOutcome","issue":[]}"#,
        operationOutcome(("severe", "invariant")), #"{"issue":["invariant"]}"#, #""failed""#,
    ])
    func anUnclearOutcomeIsNeitherAcceptanceNorRefusal(_ text: String) {
        #expect(outcome(200, answer("200 OK", outcome: text)) == .failing)
    }

    /// The third element is to be deleted.
    @Test func whatIsGoneNeedntBeDeleted() {
        func last(_ status: String, _ code: String) -> DeliveryReply {
            let response = #"{"response":{"status":"\#(status)","outcome":\#(Self.operationOutcome(("error", code)))}}"#
            return reply(
                200,
                self.response(["201", "200", "ENTRY"]).replacing(#"{"response":{"status":"ENTRY"}}"#, with: response))
        }
        let taken = DeliveryReply.onTrust(DeliveryAnswer(counts: .init(created: 1, updated: 2), status: 200))
        #expect(last("200", "not-found") == taken && last("404", "processing") == taken)
        #expect(last("204", "business-rule") != taken)
        #expect(outcome(200, answer("200", outcome: Self.operationOutcome(("error", "not-found")))) != nil)
    }

    private func outcome(_ status: Int, _ body: String = "", headers: HTTPHeaders = [:]) -> RetryPolicy.Outcome? {
        if case .failed(let failure) = reply(status, body, headers: headers) { failure.outcome } else { nil }
    }

    @Test func aStatusAsksForWhatItAlwaysDoes() {
        #expect(outcome(413) == .refused("the server accepts no transaction of this size (413)"))
        #expect(outcome(412) == .refused("the server refuses it (412)"))
        #expect(outcome(500) == .failing && outcome(502) == .later() && outcome(408) == .later())
        #expect(outcome(429, headers: ["Retry-After": "7"]) == .later(.seconds(7)))
        for (status, isFinal) in [(401, false), (403, true)] {
            guard case .refusesToken(isFinal, let pause)? = outcome(status) else {
                Issue.record("\(status)")
                continue
            }
            #expect(pause.remedy.contains("tokenFile"))
        }
        guard case .needsPerson(let moved)? = outcome(301, headers: ["Location": "https://other.example.org/fhir"]),
            case .needsPerson(let absent)? = outcome(404)
        else {
            Issue.record("nobody is informed")
            return
        }
        #expect(moved.remedy.contains("https://other.example.org") && absent.remedy.contains("'server'"))
    }

    /// Text from other programs may repeat what was sent.
    @Test func onlyTheKindOfAnIssueIsReported() {
        let body = #"{"resourceType":"OperationOutcome","issue":[{"code":"invariant","diagnostics":"weight 61.5"}]}"#
        #expect(outcome(422, body) == .refused("the server refuses it (422, invariant)"))
        #expect(outcome(400, #"{"issue":[{"code":"weight 61.5"}]}"#) == .refused("the server refuses it (400)"))
        // The element's path is reported too, if it is one.
        for (path, reported) in [
            ("Observation.component[2].value", "422, invariant at Observation.component[2].value"),
            ("weight 61.5", "422, invariant"), ("Observation.where(value=61.5)", "422, invariant"),
        ] {
            let placed = body.replacing(#""code""#, with: #""expression":["\#(path)"],"code""#)
            #expect(outcome(422, placed) == .refused("the server refuses it (\(reported))"))
        }
        let entry = #"{"response":{"status":"422","outcome":\#(body)}}"#
        let answer = response(["201", "204"]).replacing("]}", with: ",\(entry)]}")
        #expect(outcome(200, answer) == .refused("the server refuses it (422, invariant)"))
    }

    @Test(arguments: [
        (200, #"{"resourceType":"CapabilityStatement","fhirVersion":"4.0.1"}"#, "silent"),
        (200, #"{"resourceType":"CapabilityStatement","fhirVersion":"5.0.0"}"#, "later"), (200, "<html>", "later"),
        (404, "", "later"), (401, "", "token"),
    ])
    func aServerSaysWhatItIs(_ status: Int, _ body: String, _ wanted: String) {
        let kind =
            switch FHIRAnswer.holdings(HTTPResponse(status: status, body: Array(body.utf8))) {
            case .holds: "holds"
            case .silent: "silent"
            case .later: "later"
            case .refusesToken(let why): why.contains("HEALTHBUS_FHIR_TOKEN") ? "token" : why
            }
        #expect(kind == wanted)
    }

    /// A server that doesn't mention `updateCreate` may still allow it.
    @Test(arguments: [("false", true, true), ("false", false, false), ("true", true, false), ("null", true, false)])
    func aServerThatTakesNoIDsOfOursIsNoticed(_ says: String, _ givesIDs: Bool, _ isNoticed: Bool) {
        let statement = """
            {"resourceType":"CapabilityStatement","fhirVersion":"4.0.1","rest":[{"resource":[
            {"type":"Patient","updateCreate":false},{"type":"Observation","updateCreate":\(says)}]}]}
            """
        let reply = FHIRAnswer.holdings(HTTPResponse(status: 200, body: Array(statement.utf8)), givesIDs: givesIDs)
        if case .later(let why, _) = reply {
            #expect(isNoticed && why.contains("updateCreate") && why.contains("client"))
        } else {
            #expect(!isNoticed)
        }
    }
}
