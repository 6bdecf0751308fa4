import DeliveryKit
import HTTP
import HealthModel
import Testing
import UploaderReading
import UploaderStage

struct UploadAnswerTests {
    private func answer(_ text: String) -> UploadAnswer { UploadAnswer(body: Array(text.utf8)) }

    @Test func aBackendsAnswer() {
        let answer = answer(
            """
            {"generation":"abc","sequence":17,"serverTime":"2025-03-30T08:15:00Z","counts":{"created":1,"updated":2,"known":3,"refused":2},
             "created":["a"],"updated":["b","c"],"known":["d","e","f"],"held":{"d":9},
             "refused":[{"id":"g","list":"samples","index":6,"reason":"type is missing"},{"id":null,"index":7,"reason":"id is missing"}],
             "syncRequested":true}
            """)
        #expect(answer.form == .json && answer.generation == "abc" && answer.sequence == 17)
        #expect(answer.counts == .init(created: 1, updated: 2, known: 3, refused: 2))
        #expect(
            answer.refused == [
                .init(id: "g", list: "samples", index: 6, reason: "type is missing"),
                .init(id: nil, index: 7, reason: "id is missing"),
            ])
        #expect(answer.areRefusalsReadable && answer.areCountsReadable)
        #expect(answer.requestsSync && answer.delivery(status: 200).requestsSync)
    }

    @Test(arguments: ["false", "null", "1", "\"true\"", "{}"])
    func onlyTrueAsksForASync(_ value: String) {
        #expect(!answer("{\"syncRequested\":\(value)}").requestsSync)
        #expect(answer("{\"syncRequested\":\(value)}").form == .json)
    }

    @Test(arguments: [
        (#"["a","b"]"#, ["a", "b"]), ("[]", []), (#"[7,{"id":"a"},"b"]"#, ["b"]), ("3", []), ("null", []), ("{}", []),
    ])
    func conflicts(_ text: String, _ expected: [String]) {
        let answer = answer(#"{"generation":"g","counts":{"known":2},"conflicts":\#(text)}"#)
        #expect(answer.conflicts == expected && answer.form == .json && answer.failure == nil)
        #expect(answer.delivery(status: 200).conflicts == expected)
    }

    @Test(arguments: [
        ("", UploadAnswer.Form.empty), (" \r\n", .empty), ("OK", .other), ("{", .other), ("{} x", .other),
        ("\u{0}x", .other), ("<html></html>", .other), ("{}", .json), ("[]", .json), ("null", .other), ("1", .other),
        ("\"login required\"", .other),
        (#"{"counts":{}}"#, .json), (#"{"generation":"x"}"#, .json),
    ])
    func forms(_ text: String, _ form: UploadAnswer.Form) {
        #expect(answer(text).form == form)
        #expect(answer(text).counts == nil && answer(text).refused.isEmpty)
    }

    @Test func bytesThatAreNotUTF8() { #expect(UploadAnswer(body: [0xFF, 0xFE]).form == .other) }

    @Test(arguments: [
        "\"\"", "7", "null", "\"a b\"", "\"a\\u000d\\u000aX: y\"", "\"\(String(repeating: "x", count: 129))\"",
    ])
    func whatCantStandInAHeaderIsNoGeneration(_ text: String) {
        #expect(answer("{\"generation\":\(text)}").generation == nil)
    }

    @Test(arguments: ["-1", "1e300", "99999999999999999999", "\"3\"", "null"])
    func whatIsNoSequence(_ text: String) { #expect(answer("{\"sequence\":\(text)}").sequence == nil) }

    @Test func countsThatOverflowAddUpToNothing() {
        let top = Int64.max
        for counts in [
            UploadAnswer.Counts(created: top, known: top), .init(created: top, updated: 2),
            .init(created: -1, known: 2),
            .init(created: .min, updated: .min, known: 1), .init(),
        ] { #expect(!counts.accounts(for: 1)) }
        #expect(UploadAnswer.Counts(created: 1, updated: 2, known: 3, refused: 4).accounts(for: 10))
        #expect(UploadAnswer.Counts().accounts(for: 0))
    }

    @Test(arguments: [
        ("null", true), ("[]", true), ("0", true), ("false", true), (#"["a"]"#, true), (#"[{"id":"a"}]"#, true),
        (#"[{"index":0}]"#, true), ("3", false), ("true", false), (#""a""#, false), ("{}", false), ("[7]", false),
        (#"[{"key":"a"}]"#, false), (#"[["a"]]"#, false),
    ])
    func refusalsInOtherForms(_ text: String, _ isReadable: Bool) {
        #expect(answer("{\"refused\":\(text)}").areRefusalsReadable == isReadable)
    }
}
