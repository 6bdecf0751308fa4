import HealthModel

/// Something an assistant may call. All tools here are read-only.
package struct Tool: Sendable {
    package var name: String
    /// Shown to people.
    package var title: String
    /// For the assistant: what the tool answers, and what to bear in mind.
    package var description: String
    package var parameters: [ToolParameter]
    /// The JSON Schema of the tool's answers.
    package var answers: Value

    package init(
        _ name: String, title: String, description: String, parameters: [ToolParameter], answers: Value
    ) {
        (self.name, self.title, self.description, self.parameters) = (name, title, description, parameters)
        self.answers = answers
    }

    /// The JSON Schema of its arguments.
    package var accepts: Value {
        var schema: [String: Value] = [
            "type": "object", "additionalProperties": false,
            "properties": .object(
                Dictionary(parameters.map { ($0.name, $0.schema) }, uniquingKeysWith: { first, _ in first })),
        ]
        let required = parameters.filter(\.isRequired).map { Value.string($0.name) }
        if !required.isEmpty { schema["required"] = .array(required) }
        return .object(schema)
    }

    /// The tool in the form that `tools/list` returns.
    func value(in version: ContextVersion) -> Value {
        var members: [String: Value] = [
            "name": .string(name), "description": .string(description), "inputSchema": accepts,
        ]
        if version.hasAnnotations {
            members["annotations"] = [
                "title": .string(title), "readOnlyHint": true, "destructiveHint": false, "idempotentHint": true,
                "openWorldHint": false,
            ]
        }
        if version.hasStructure {
            members["title"] = .string(title)
            members["outputSchema"] = answers
        }
        return .object(members)
    }
}

/// A tool's answer.
package struct ToolAnswer: Sendable, Equatable {
    /// The text in pieces, the most important first.
    package var text: [String]
    /// The same content for programs; null for an error.
    package var content: Value
    package var isError: Bool

    /// The text ends with the content as JSON, for hosts that pass on nothing else.
    package init(_ text: String, _ content: Value) {
        self.text = [text, content.json()]
        self.content = content
        isError = false
    }

    /// What went wrong, and what to do now.
    package init(error: String) {
        text = [error]
        content = .null
        isError = true
    }

    func value(in version: ContextVersion) -> Value {
        var members: [String: Value] = [
            "content": .array(text.map { ["type": "text", "text": .string($0)] }), "isError": .bool(isError),
        ]
        if version.hasStructure, !content.isNull { members["structuredContent"] = content }
        return .object(members)
    }
}
