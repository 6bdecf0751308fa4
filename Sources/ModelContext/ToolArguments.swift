import HealthModel

/// A parameter of a tool: its schema and its check are derived from the same declaration.
package struct ToolParameter: Sendable, Equatable {
    package enum Kind: Sendable, Equatable {
        case text
        /// One of these.
        case choice([String])
        /// An array of at most this many strings.
        case texts(atMost: Int)
        /// A whole number.
        case integer(ClosedRange<Int>)
        case flag
    }

    package var name: String
    package var kind: Kind
    package var description: String
    package var isRequired: Bool

    package init(_ name: String, _ kind: Kind, _ description: String, isRequired: Bool = false) {
        (self.name, self.kind, self.description, self.isRequired) = (name, kind, description, isRequired)
    }

    /// The maximum length of an accepted string, in characters as JSON Schema counts them.
    static let longestText = 500

    var schema: Value {
        var members: [String: Value] = ["description": .string(description)]
        switch kind {
        case .text:
            members["type"] = "string"
            members["maxLength"] = Value(Self.longestText)
        case .choice(let words):
            members["type"] = "string"
            members["enum"] = .array(words.map { .string($0) })
        case .texts(let count):
            members["type"] = "array"
            members["items"] = ["type": "string", "maxLength": Value(Self.longestText)]
            members["maxItems"] = Value(count)
        case .integer(let range):
            members["type"] = "integer"
            members["minimum"] = Value(range.lowerBound)
            members["maximum"] = Value(range.upperBound)
        case .flag: members["type"] = "boolean"
        }
        return .object(members)
    }

    /// What is wrong with a value; nil if nothing is.
    func fault(of value: Value) -> String? {
        func isText(_ value: Value) -> Bool {
            value.string.map { $0.unicodeScalars.count <= Self.longestText } ?? false
        }
        switch kind {
        case .text: return isText(value) ? nil : "must be a string of at most \(Self.longestText) characters"
        case .choice(let words):
            return value.string.map(words.contains) == true ? nil : "must be one of \(words.joined(separator: ", "))"
        case .texts(let count):
            guard case .array(let texts) = value, texts.count <= count, texts.allSatisfy(isText) else {
                return "must be an array of at most \(count) strings"
            }
            return nil
        case .integer(let range):
            guard case .integer(let number) = value, range.contains(Int(number)) else {
                return "must be a whole number from \(range.lowerBound) to \(range.upperBound)"
            }
            return nil
        case .flag: return value.bool == nil ? "must be true or false" : nil
        }
    }
}

/// A call's arguments, checked against a tool's parameters.
package struct ToolArguments: Sendable, Equatable {
    /// A mistake that an assistant can correct: the tool reports it in an answer marked as an error.
    package struct Refusal: Error, Equatable, CustomStringConvertible {
        package let description: String
    }

    private var given: [String: Value]

    /// A null counts as a missing argument, since many assistants pass null for parameters that they don't use.
    package init(_ arguments: [String: Value], for tool: Tool) throws(Refusal) {
        given = arguments.filter { !$0.value.isNull }
        let names = tool.parameters.map(\.name)
        if let unknown = given.keys.filter({ !names.contains($0) }).min() {
            let known = names.isEmpty ? "it takes none" : "it takes \(names.joined(separator: ", "))"
            throw Refusal(description: "\(tool.name) has no argument \(ContextError.shortened(unknown)); \(known)")
        }
        for parameter in tool.parameters {
            guard let value = given[parameter.name] else {
                guard !parameter.isRequired else {
                    throw Refusal(description: "\(tool.name) needs \(parameter.name): \(parameter.description)")
                }
                continue
            }
            if let fault = parameter.fault(of: value) {
                throw Refusal(description: "\(parameter.name) \(fault)")
            }
        }
    }

    package func text(_ name: String) -> String? { given[name]?.string }
    package func texts(_ name: String) -> [String]? { given[name]?.array?.compactMap(\.string) }
    package func integer(_ name: String) -> Int? { given[name]?.int.map { Int($0) } }
    package func flag(_ name: String) -> Bool { given[name]?.bool ?? false }
}
