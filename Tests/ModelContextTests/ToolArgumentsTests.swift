import HealthModel
import ModelContext
import Testing

@Suite struct ToolArgumentsTests {
    private func refusal(_ arguments: [String: Value]) -> String? {
        do {
            _ = try ToolArguments(arguments, for: Talk.tool)
            return nil
        } catch { return error.description }
    }

    @Test func whatFitsIsTaken() throws {
        let given = try ToolArguments(
            ["what": "x", "names": ["a", "b"], "limit": 10, "all": true, "way": "up"], for: Talk.tool)
        #expect(given.text("what") == "x" && given.texts("names") == ["a", "b"] && given.integer("limit") == 10)
        #expect(given.flag("all") && given.text("way") == "up")
        // Many assistants fill in arguments that they don't need.
        let empty = try ToolArguments(["what": "x", "names": .null, "limit": .null, "all": .null], for: Talk.tool)
        #expect(empty.texts("names") == nil && empty.integer("limit") == nil && !empty.flag("all"))
    }

    @Test(
        arguments: [
            ([:], "needs what"), (["what": .null], "needs what"), (["what": 1], "what must be a string"),
            (["what": ["x"]], "what must be a string"), (["what": "x", "names": "a"], "names must be an array"),
            (["what": "x", "names": [1]], "names must be an array"),
            (["what": "x", "names": ["a", "b", "c"]], "at most 2"), (["what": "x", "limit": 0], "from 1 to 10"),
            (["what": "x", "limit": 11], "from 1 to 10"), (["what": "x", "limit": 1.5], "whole number"),
            (["what": "x", "limit": "3"], "whole number"), (["what": "x", "limit": true], "whole number"),
            (["what": "x", "limit": 9_223_372_036_854_775_807], "from 1 to 10"),
            (["what": "x", "all": "true"], "true or false"), (["what": "x", "all": 1], "true or false"),
            (["what": "x", "way": "left"], "up, down"), (["what": "x", "more": 1], "no argument more"),
        ] as [([String: Value], String)])
    func whatDoesNotFitIsSaid(_ arguments: [String: Value], _ said: String) {
        #expect(refusal(arguments)?.contains(said) == true, "\(refusal(arguments) ?? "taken")")
    }

    @Test func textsAreShort() {
        let long = Value.string(String(repeating: "x", count: 501))
        #expect(refusal(["what": long]) != nil && refusal(["what": "x", "names": [long]]) != nil)
        // JSON Schema counts characters, not bytes.
        let cyrillic = Value.string(String(repeating: "ж", count: 500))
        #expect(refusal(["what": cyrillic, "names": [cyrillic]]) == nil)
        let name = String(repeating: "y", count: 100_000)
        #expect((refusal(["what": "x", name: 1]) ?? "").utf8.count < 500)
    }

    /// Exactly what the schema allows is accepted, since both the schema and the check are derived from the same
    /// declaration.
    @Test func theSchemaSaysTheSame() {
        let schema = Talk.tool.accepts
        #expect(schema["properties"]["limit"]["minimum"] == 1 && schema["properties"]["limit"]["maximum"] == 10)
        #expect(
            schema["properties"]["names"]["maxItems"] == 2 && schema["properties"]["way"]["enum"] == ["up", "down"])
        #expect(schema["properties"].object?.count == Talk.tool.parameters.count)
    }
}
