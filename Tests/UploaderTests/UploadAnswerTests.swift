import HTTP
import HealthModel
import Testing
import UploaderStage

struct UploadAnswerTests {
    @Test func aBackendsAnswer() {
        let answer = UploadAnswer(
            body: Array(
                """
                {"generation":"abc","serverTime":"2025-03-30T08:15:00Z","counts":{"created":1,"updated":2,"known":3,"refused":1},
                 "created":["a"],"updated":["b","c"],"known":["d","e","f"],"held":{"d":9},
                 "refused":[{"id":"g","list":"samples","index":6,"reason":"type is missing"},{"id":null,"index":7,"reason":"id is missing"}],
                 "syncRequested":true}
                """.utf8))
        #expect(!answer.isForeign)
        #expect((answer.created, answer.updated, answer.known) == (1, 2, 3))
        #expect(answer.generation == "abc")
        #expect(answer.serverTime == 1_743_322_500_000_000)
        #expect(answer.held == ["d": 9])
        #expect(
            answer.refused == [
                .init(id: "g", index: 6, reason: "type is missing"), .init(id: nil, index: 7, reason: "id is missing"),
            ])
    }

    @Test(arguments: [
        "", "OK", "{}", "[]", "null", #"{"counts":{}}"#, #"{"generation":"x"}"#,
        #"{"status":"ok","refused":[{"id":"a"}]}"#, "\u{0}",
    ])
    func anyOtherBodyIsForeign(_ text: String) {
        let answer = UploadAnswer(body: Array(text.utf8))
        #expect(answer == UploadAnswer(body: []))
        #expect(answer.isForeign)
        #expect(answer.refused.isEmpty)
    }

    @Test func bytesThatAreNotUTF8() { #expect(UploadAnswer(body: [0xFF, 0xFE]).isForeign) }
}
