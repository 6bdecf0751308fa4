import HealthModel
import ModelContext
import Testing

/// How a session answers lines, without any tools.
@Suite struct ContextSessionTests {
    @Test(arguments: ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])
    func aKnownVersionIsAgreedOn(_ version: String) {
        var talk = Talk()
        let result = talk.initialize(version)["result"]
        #expect(result["protocolVersion"] == .string(version))
        #expect(result["serverInfo"]["name"] == "test" && result["serverInfo"]["version"] == "1")
        #expect(result["capabilities"] == ["tools": [:]] && result["instructions"] == "Ask.")
        #expect(result["serverInfo"]["title"].isNull == (version < "2025-06-18"))
        #expect(talk.say(#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#) == [])
    }

    /// The newest version is offered, and the client decides.
    @Test(arguments: ["1999-01-01", "2026-07-28", "2099-01-01", ""])
    func anUnknownVersionGetsTheNewestAgreed(_ version: String) {
        var talk = Talk()
        #expect(talk.initialize(version)["result"]["protocolVersion"] == "2025-11-25")
    }

    @Test func initializeComesFirstAndOnce() {
        var talk = Talk()
        #expect(talk.only(#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#)["result"] == [:])
        #expect(talk.code(#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#) == -32600)
        #expect(talk.code(#"{"jsonrpc":"2.0","id":1,"method":"initialize"}"#) == -32602)
        #expect(talk.code(#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":7}}"#) == -32602)
        _ = talk.initialize("2025-06-18")
        let again = talk.initialize("2025-06-18")
        #expect(again["error"]["code"] == -32600 && again["id"] == 0)
    }

    @Test(arguments: [
        // Not JSON.
        ("{", -32700), ("nonsense", -32700), (#"{"jsonrpc":"2.0","id":1,"method":"ping"} x"#, -32700),
        (#"{"jsonrpc":"2.0","id":1e999,"method":"ping"}"#, -32700),
        // JSON, but not a message.
        ("1", -32600), ("null", -32600), (#""ping""#, -32600), ("{}", -32600), ("[]", -32600), ("[1]", -32600),
        (#"{"id":1,"method":"ping"}"#, -32600), (#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#, -32600),
        (#"{"jsonrpc":2.0,"id":1,"method":"ping"}"#, -32600), (#"{"jsonrpc":"2.0","id":1}"#, -32600),
        (#"{"jsonrpc":"2.0","id":1,"method":7}"#, -32600), (#"{"jsonrpc":"2.0","id":1,"method":null}"#, -32600),
        // Ids that can't be returned unchanged.
        (#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, -32600),
        (#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, -32600),
        (#"{"jsonrpc":"2.0","id":true,"method":"ping"}"#, -32600),
        (#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#, -32600),
        (#"{"jsonrpc":"2.0","id":[1],"method":"ping"}"#, -32600),
        (#"{"jsonrpc":"2.0","id":99999999999999999999,"method":"ping"}"#, -32600),
        // Methods and parameters.
        (#"{"jsonrpc":"2.0","id":1,"method":"ping","params":[1]}"#, -32602),
        (#"{"jsonrpc":"2.0","id":1,"method":"ping","params":"x"}"#, -32602),
        (#"{"jsonrpc":"2.0","id":1,"method":"resources/list"}"#, -32601),
        (#"{"jsonrpc":"2.0","id":1,"method":"prompts/list"}"#, -32601),
        (#"{"jsonrpc":"2.0","id":1,"method":"logging/setLevel","params":{"level":"debug"}}"#, -32601),
        (#"{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen"}"#, -32601),
        (#"{"jsonrpc":"2.0","id":1,"method":""}"#, -32601),
        (#"{"jsonrpc":"2.0","id":1,"method":"server/discover"}"#, -32602),
        (#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":"x"}}"#, -32602),
        (#"{"jsonrpc":"2.0","id":1,"method":"tools/call"}"#, -32602),
        (#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":1}}"#, -32602),
        (#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"nothing"}}"#, -32602),
        (#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"look","arguments":[]}}"#, -32602),
        (#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"look","arguments":"x"}}"#, -32602),
    ])
    func whatIsWrongIsSaid(_ line: String, _ code: Int64) {
        var talk = Talk()
        _ = talk.initialize("2025-06-18")
        let answer = talk.only(line)
        #expect(answer["error"]["code"] == .integer(code), "\(line): \(answer.json())")
        #expect(answer["jsonrpc"] == "2.0" && answer["error"]["message"].string?.isEmpty == false)
        #expect(answer.object?.keys.contains("id") == true && answer["result"].isNull)
        // The session continues.
        #expect(talk.only(#"{"jsonrpc":"2.0","id":2,"method":"ping"}"#)["result"] == [:])
    }

    @Test(arguments: [
        "", "  ", "\t\r", #"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        #"{"jsonrpc":"2.0","method":"notifications/unknown","params":{}}"#, #"{"jsonrpc":"2.0","method":"tools/call"}"#,
        #"{"jsonrpc":"2.0","method":"notifications/initialized","params":[1]}"#,
        #"{"jsonrpc":"2.0","method":"notifications/cancelled"}"#,
        #"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":null}}"#,
        #"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":77}}"#,
        #"{"jsonrpc":"2.0","id":5,"result":{}}"#, #"{"jsonrpc":"2.0","id":5,"error":{"code":1,"message":"x"}}"#,
    ])
    func whatNeedsNoAnswerGetsNone(_ line: String) {
        var talk = Talk()
        _ = talk.initialize("2025-06-18")
        #expect(talk.say(line) == [])
    }

    @Test(arguments: [
        "1", "0", "-7", "9223372036854775807", "-9223372036854775808", #""a""#, #""""#, #""1""#, #""\n\"ü😀""#,
    ])
    func anIdComesBackAsItCame(_ id: String) throws {
        var talk = Talk()
        let answer = talk.only(#"{"jsonrpc":"2.0","id":\#(id),"method":"ping"}"#)
        let wanted = try Value(json: Array("[\(id)]".utf8)).array?.first
        #expect(answer["id"] == wanted)
    }

    /// A recursive reader would crash the process here.
    @Test func whatIsNestedWithoutEndIsRefused() {
        var talk = Talk()
        for (open, close) in [("[", "]"), (#"{"a":"#, "}")] {
            for depth in [1000, 200_000] {
                let deep = String(repeating: open, count: depth) + "1" + String(repeating: close, count: depth)
                #expect(talk.code(deep) == -32700)
                #expect(talk.code(#"{"jsonrpc":"2.0","id":1,"method":"ping","params":\#(deep)}"#) == -32700)
            }
        }
        #expect(talk.code(String(repeating: "[", count: 500_000)) == -32700)
    }

    @Test func whatIsNoTextIsRefused() {
        var talk = Talk()
        for bytes: [UInt8] in [[0xFF], [0x22, 0xC3, 0x28, 0x22], [0], [0xEF, 0xBB, 0xBF, 0x7B, 0x7D]] {
            let lines = talk.take(.line(bytes))
            #expect(lines.first?["error"]["code"] == -32700, "\(bytes)")
        }
        #expect(talk.take(.tooLong).first?["error"]["code"] == -32600)
    }

    /// Only part of the client's text is echoed.
    @Test func errorsStayShort() {
        var talk = Talk()
        _ = talk.initialize("2025-06-18")
        let long = String(repeating: "x", count: 100_000)
        let method = talk.only(#"{"jsonrpc":"2.0","id":1,"method":"\#(long)"}"#)
        #expect(method["error"]["code"] == -32601 && method.json().utf8.count < 500)
        let tool = talk.only(#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"\#(long)"}}"#)
        #expect(tool["error"]["code"] == -32602 && tool.json().utf8.count < 500)
    }

    @Test func everyAnswerIsOneLine() {
        var session = ContextSession(Talk.server, tools: [Talk.tool])
        for case .call(let call) in session.take(.line(Array(Talk.stateless("tools/call", #""name":"look""#).utf8))) {
            let answer = ToolAnswer("two\nlines\r\u{2028}", ["a": "b\nc"])
            for case .line(let line) in session.finish(call, answer) {
                #expect(!line.contains(0x0A) && !line.contains(0x0D))
            }
        }
    }
}
