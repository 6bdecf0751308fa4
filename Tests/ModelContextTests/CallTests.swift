import HealthModel
import ModelContext
import Testing

/// Calls and their answers, tested in each version, in any order, when cancelled, and in arrays.
@Suite struct CallTests {
    @Test func anAnswerHasWhatItsVersionHas() throws {
        for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
            var talk = Talk()
            _ = talk.initialize(version)
            #expect(talk.say(Talk.call("7")) == [])
            let call = try #require(talk.calls.first)
            #expect(call.tool == "look" && call.arguments == ["what": "x"])
            let answers = talk.finish(call)
            #expect(answers.count == 1 && answers[0]["id"] == 7)
            let result = answers[0]["result"]
            #expect(result["isError"] == false)
            // The structured content is repeated in the text, for hosts that pass on nothing else.
            #expect(
                result["content"] == [["type": "text", "text": "seen"], ["type": "text", "text": #"{"seen":true}"#]])
            #expect(result["structuredContent"] == (version >= "2025-06-18" ? ["seen": true] : .null))
            #expect(result["resultType"].isNull)
            // A call is answered only once.
            #expect(talk.finish(call) == [])
        }
    }

    @Test func aToolIsListedAsItsVersionHasIt() {
        for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
            var talk = Talk()
            _ = talk.initialize(version)
            let tool = talk.only(#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#)["result"]["tools"].array?.first
            #expect(tool?["name"] == "look" && tool?["inputSchema"]["required"] == ["what"])
            #expect(tool?["inputSchema"]["additionalProperties"] == false)
            #expect(tool?["annotations"]["readOnlyHint"].bool == (version == "2024-11-05" ? nil : true))
            #expect(tool?["outputSchema"].isNull == (version < "2025-06-18"))
        }
    }

    @Test func whatAToolCannotDoIsItsAnswer() throws {
        var talk = Talk()
        _ = talk.initialize("2025-06-18")
        _ = talk.say(Talk.call("1"))
        let result = talk.finish(try #require(talk.calls.first), ToolAnswer(error: "no such day"))[0]["result"]
        #expect(result["isError"] == true && result["structuredContent"].isNull)
        #expect(result["content"] == [["type": "text", "text": "no such day"]])
    }

    @Test func answersComeInAnyOrder() {
        var talk = Talk()
        _ = talk.initialize("2025-06-18")
        for id in ["1", #""1""#, "2"] { #expect(talk.say(Talk.call(id)) == []) }
        let ids = talk.calls.reversed().flatMap { talk.finish($0) }.map { $0["id"] }
        #expect(ids == [2, "1", 1])
    }

    @Test func whatIsCancelledGetsNoAnswer() {
        var talk = Talk()
        _ = talk.initialize("2025-06-18")
        _ = talk.say(Talk.call("1"))
        _ = talk.say(Talk.call("2"))
        let calls = talk.calls
        #expect(talk.say(Talk.cancel(#""1""#)) == [] && talk.session.isWanted(calls[0]))
        #expect(talk.say(Talk.cancel("1")) == [])
        #expect(!talk.session.isWanted(calls[0]) && talk.session.isWanted(calls[1]))
        // A call's id may be used again even while the cancelled call is still running.
        _ = talk.say(Talk.call("1"))
        #expect(talk.finish(calls[0]) == [])
        #expect(talk.finish(talk.calls[2]).map { $0["id"] } == [1])
        // The cancellation comes too late.
        #expect(talk.finish(calls[1]).count == 1 && talk.say(Talk.cancel("2")) == [])
    }

    @Test func anIdInUseIsRefused() {
        var talk = Talk()
        _ = talk.initialize("2025-06-18")
        _ = talk.say(Talk.call("1"))
        #expect(talk.code(Talk.call("1")) == -32600 && talk.calls.count == 1)
        #expect(talk.code(#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#) == -32600)
    }

    @Test func onlySoManyAreUnderWay() {
        var talk = Talk()
        _ = talk.initialize("2025-06-18")
        for id in 0..<ContextSession.openLimit { #expect(talk.say(Talk.call("\(id)")) == []) }
        #expect(talk.code(Talk.call("1000")) == -32603)
        _ = talk.finish(talk.calls[0])
        #expect(talk.say(Talk.call("1000")) == [])
    }

    // MARK: Arrays

    @Test(arguments: ["2024-11-05", "2025-06-18", "2025-11-25"])
    func otherVersionsHaveNoArrays(_ version: String) {
        var talk = Talk()
        _ = talk.initialize(version)
        #expect(talk.code(#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#) == -32600)
    }

    @Test func anArrayIsAnsweredByOne() {
        var talk = Talk()
        _ = talk.initialize("2025-03-26")
        let array = """
            [{"jsonrpc":"2.0","id":1,"method":"ping"},\(Talk.call("2")),{"jsonrpc":"2.0","method":"notifications/x"},\
            7,\(Talk.call(#""c""#)),{"jsonrpc":"2.0","id":4,"method":"initialize","params":{}}]
            """
        #expect(talk.say(array) == [] && talk.calls.count == 2)
        #expect(talk.finish(talk.calls[1]) == [])
        let answers = talk.finish(talk.calls[0])
        #expect(answers.count == 1)
        let ids = (answers.first?.array ?? []).map { $0["id"] }
        #expect(ids == [1, .null, 4, "c", 2])
    }

    @Test func aCancelledCallHoldsUpNoArray() {
        var talk = Talk()
        _ = talk.initialize("2025-03-26")
        #expect(talk.say(#"[\#(Talk.call("1")),{"jsonrpc":"2.0","id":2,"method":"ping"}]"#) == [])
        let answers = talk.say(Talk.cancel("1"))
        #expect(answers.first?.array?.map { $0["id"] } == [2])
        #expect(talk.say("[\(Talk.call("3"))]") == [] && talk.say(Talk.cancel("3")) == [])
        #expect(talk.say(#"[{"jsonrpc":"2.0","method":"notifications/x"}]"#) == [])
    }

    @Test func anArrayHasALimit() {
        var talk = Talk()
        _ = talk.initialize("2025-03-26")
        #expect(talk.code("[]") == -32600)
        let many = Array(repeating: #"{"jsonrpc":"2.0","id":1,"method":"ping"}"#, count: ContextSession.batchLimit + 1)
        #expect(talk.code("[\(many.joined(separator: ","))]") == -32600)
        // An array within an array doesn't count as a message.
        #expect(talk.only("[[1]]").array?.first?["error"]["code"] == -32600)
    }

    // MARK: Without agreement

    @Test func aRequestNamesItsVersion() throws {
        var talk = Talk()
        let found = talk.only(Talk.stateless("server/discover"))["result"]
        #expect(found["supportedVersions"] == ["2026-07-28"] && found["resultType"] == "complete")
        #expect(found["_meta"]["io.modelcontextprotocol/serverInfo"]["name"] == "test")
        #expect((found["ttlMs"].int ?? -1) >= 0 && found["cacheScope"] == "public")
        let list = talk.only(Talk.stateless("tools/list"))["result"]
        #expect(list["tools"].array?.count == 1 && list["resultType"] == "complete" && list["ttlMs"].int != nil)
        #expect(talk.say(Talk.stateless("tools/call", #""name":"look""#)) == [])
        let result = talk.finish(try #require(talk.calls.first))[0]["result"]
        #expect(result["resultType"] == "complete" && result["structuredContent"] == ["seen": true])
        // Requests with and without negotiation work side by side.
        #expect(talk.initialize("2025-06-18")["result"]["protocolVersion"] == "2025-06-18")
        #expect(talk.only(Talk.stateless("tools/list"))["result"]["resultType"] == "complete")
        #expect(talk.only(#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#)["result"]["resultType"].isNull)
    }

    @Test func whatAStatelessRequestLacksIsSaid() {
        var talk = Talk()
        let other = talk.only(Talk.stateless("tools/list", version: "2031-01-01"))["error"]
        #expect(other["code"] == -32022 && other["data"]["requested"] == "2031-01-01")
        #expect(other["data"]["supported"].array?.contains("2026-07-28") == true)
        for method in ["ping", "initialize", "resources/list"] {
            #expect(talk.code(Talk.stateless(method)) == -32601, "\(method)")
        }
        let version = "io.modelcontextprotocol/protocolVersion"
        for meta in [#"{"\#(version)":7}"#, #"{"\#(version)":"2026-07-28"}"#] {
            #expect(talk.code(#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":\#(meta)}}"#) == -32602)
        }
        #expect(talk.code(#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":7}}"#) == -32600)
    }

    /// Notifications are never sent, but a client may wait for them.
    @Test func aSubscriptionStaysOpenUntilCancelledOrTheEnd() {
        var talk = Talk()
        let listen = #""notifications":{"toolsListChanged":true}"#
        let said = talk.only(Talk.stateless("subscriptions/listen", listen, id: "5"))
        #expect(said["method"] == "notifications/subscriptions/acknowledged")
        #expect(said["params"]["notifications"] == [:])
        #expect(said["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"] == 5)
        #expect(talk.code(Talk.stateless("tools/list", id: "5")) == -32600)
        #expect(talk.say(Talk.cancel("5")) == [] && talk.session.close() == [])
        _ = talk.only(Talk.stateless("subscriptions/listen", listen, id: #""s""#))
        #expect(talk.session.close().count == 1 && talk.session.close() == [])
        #expect(talk.code(Talk.stateless("subscriptions/listen")) == -32602)
    }
}
