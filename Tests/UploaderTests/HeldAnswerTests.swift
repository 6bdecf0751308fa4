import DeliveryKit
import HTTP
import HealthModel
import Testing
import UploaderReading
import UploaderStage

/// What a backend's answer to `GET /api/v1/versions` means.
struct HeldAnswerTests {
    private let ids = (1...3).map { SampleID(high: 0x0195_E61B_0000_8000 | UInt64($0) << 16, low: 1 << 63) }

    private func question(after: SampleID? = nil, cursor: String? = nil, limit: Int = HeldQuestion.usualLimit)
        -> HeldQuestion
    { HeldQuestion(list: .samples, user: "me", after: after, cursor: cursor, limit: limit) }

    private func body(
        _ ids: [String], _ deleted: [Int], _ contents: [Int64]?, next: String? = nil
    ) -> [UInt8] {
        var body: [String: Value] = [
            "generation": "g", "sequence": 7, "ids": .array(ids.map { .string($0) }),
            "versions": .array(ids.indices.map { Value(10 + $0) }), "deleted": .array(deleted.map { Value($0) }),
            "nextCursor": Value(next),
        ]
        body["contents"] = contents.map { .array($0.map { .integer($0) }) }
        return Array(Value.object(body).json().utf8)
    }

    private func reply(_ status: Int, _ body: [UInt8] = [], retryAfter: String? = nil) -> HeldReply {
        question().reply(to: .answered(status: status, retryAfter: retryAfter, body: body))
    }

    private func page(_ reply: HeldReply) -> HeldPage? { if case .page(let page) = reply { page } else { nil } }
    private func inability(_ reply: HeldReply) -> String? { if case .unable(let why) = reply { why } else { nil } }

    @Test func aPage() {
        let answer = body(["day", ids[0].description, ids[1].description], [0, 1, 0], [5, 0, 7], next: "there")
        #expect(
            page(reply(200, answer))
                == HeldPage(
                    rows: [
                        .init(id: nil, text: "day", held: .init(version: 10, isDeleted: false, content: 5)),
                        .init(id: ids[0], held: .init(version: 11, isDeleted: true)),
                        .init(id: ids[1], held: .init(version: 12, isDeleted: false, content: 7)),
                    ], next: "there", generation: "g"))
    }

    @Test func aBackendThatGivesNoContents() {
        #expect(page(reply(200, body([ids[0].description], [0], nil)))?.reportsContents == false)
        #expect(page(reply(200, body([ids[0].description], [1], nil)))?.reportsContents == true)
        #expect(page(reply(200, body([], [], nil)))?.rows.isEmpty == true)
    }

    @Test(arguments: [
        "", "{}", "[]", "<html>", #"{"ids":["a"],"versions":[],"deleted":[]}"#,
        #"{"ids":["a"],"versions":["1"],"deleted":[0]}"#, #"{"ids":["a"],"versions":[1],"deleted":[0],"contents":[]}"#,
        #"{"ids":[],"versions":[],"deleted":[]} x"#,
    ])
    func whatIsNoPage(_ text: String) {
        #expect(inability(reply(200, Array(text.utf8)))?.contains("docs/backend.md") == true)
    }

    @Test func idsOutOfOrderAndACursorThatStaysAreFaults() throws {
        let back = body([ids[1].description, ids[0].description], [0, 0], [1, 2])
        #expect(inability(reply(200, back))?.contains("ids aren't in order") == true)
        let twice = body([ids[1].description, ids[1].description], [0, 0], [1, 2])
        #expect(inability(reply(200, twice))?.contains("ids aren't in order") == true)
        let early = UploadReply.answered(status: 200, body: body([ids[0].description], [0], [1]))
        #expect(inability(question(after: ids[0]).reply(to: early)) != nil)
        #expect(page(question().reply(to: early)) != nil)
        let stays = UploadReply.answered(status: 200, body: body([], [], [], next: "here"))
        #expect(inability(question(cursor: "here").reply(to: stays))?.contains("nextCursor doesn't move") == true)
        #expect(page(question(cursor: "before").reply(to: stays)) != nil)
    }

    @Test func aCursorIsTextOrANumber() {
        func answer(_ cursor: String) -> HeldReply {
            reply(200, Array(#"{"ids":[],"versions":[],"deleted":[],"nextCursor":\#(cursor)}"#.utf8))
        }
        #expect(page(answer("120"))?.next == "120" && page(answer(#""120""#))?.next == "120")
        #expect(page(answer("null")).map { $0.next == nil } == true)
        for cursor in ["true", "1.5", "[1]", "{}"] { #expect(inability(answer(cursor)) != nil) }
    }

    @Test func whatIsAsked() {
        #expect(question().query == ["list": "samples", "user": "me", "contents": "2"])
        let first = question(after: ids[0], limit: 50).query
        #expect(first["cursor"] == ids[0].description && first["limit"] == "50")
        #expect(question(after: ids[0], cursor: "next").query["cursor"] == "next")
    }

    @Test(arguments: [404, 405, 301, 400, 501])
    func aServerThatDoesNotAnswerIt(_ status: Int) {
        #expect(inability(reply(status))?.contains("(it said \(status))") == true)
    }

    @Test(arguments: [408, 429, 500, 502, 503, 504])
    func aBackendThatIsBusy(_ status: Int) {
        guard case .later(_, let wait) = reply(status, retryAfter: "7") else { return #expect(Bool(false)) }
        #expect(wait == .seconds(7))
    }

    @Test(arguments: [401, 403])
    func aRefusedToken(_ status: Int) {
        guard case .refusesToken(let why) = reply(status) else { return #expect(Bool(false)) }
        #expect(why.contains("the backend answered \(status); it refuses the token"))
    }

    @Test func noAnswerAtAll() {
        func answer(_ kind: HTTPError.Kind) -> HeldReply {
            question().reply(to: .failed(HTTPError(kind, endpoint: "there:80", detail: "it happened", hint: "wait")))
        }
        guard case .later = answer(.timedOut), case .later = answer(.tls) else { return #expect(Bool(false)) }
        #expect(inability(answer(.answerTooLarge)) != nil)
    }
}
