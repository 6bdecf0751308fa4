import Configuration
import HealthModel
import JSON
import StageKit

/// What a handler in another language declares about itself in its answer to `hello`.
package struct ExecTraits: HandlerTraits, Equatable {
    package var name: String
    package var version: Int
    package var detailedTypes: Set<String>
    package var during: [String: String]
    package var characteristics: Set<String>
    /// Whether the handler reads the samples' ids.
    package var readsIDs: Bool
    private var handlerWindow: HandlerWindow

    package func window(_ configuration: Value) -> HandlerWindow { handlerWindow }

    private static let texts: Value = ["type": "array", "items": ["type": "string"], "default": []]
    private static let seconds: Value = ["type": "number", "minimum": 0, "maximum": 31_536_000, "default": 0]
    private static let schema: Value = [
        "type": "object",
        "properties": [
            "protocol": ["type": "integer"],
            "name": ["type": "string"],
            "version": ["type": "integer", "minimum": 0, "maximum": 1_000_000_000],
            "detailedTypes": texts,
            "during": ["type": "object", "additionalProperties": ["type": "string"]],
            "characteristics": texts,
            "ids": ["type": "boolean", "default": false],
            "window": [
                "type": "object",
                "properties": [
                    "endHour": ["type": "integer", "minimum": 1, "maximum": 24, "default": 24],
                    "beforeSeconds": seconds, "afterSeconds": seconds,
                ],
            ],
        ],
    ]

    /// The member `hello`, as checked by `schema`.
    private struct Hello: Codable {
        struct Window: Codable {
            var endHour: Int?
            var beforeSeconds: Double?
            var afterSeconds: Double?
        }

        var `protocol`: Int?
        var name: String?
        var version: Int?
        var detailedTypes: [String]?
        var during: [String: String]?
        var characteristics: [String]?
        var ids: Bool?
        var window: Window?
    }

    /// - Parameters:
    ///   - answer: the member `hello` of the program's first line.
    ///   - plugin: the manifest's name, which the program must report too.
    ///   - types: the sample types in its manifest; ["*"] means any.
    /// - Throws: `ExecFailure.badLine`, naming the member and what is allowed.
    package init(answer: Value, plugin: String, types: [String]) throws(ExecFailure) {
        func refuse(_ why: String) -> ExecFailure { .badLine(1, why) }
        guard answer.object != nil else { throw refuse("holds no object 'hello'") }
        let hello: Value
        do { hello = try SchemaCheck(file: "").resolve(answer, schema: Self.schema, key: "hello") } catch {
            throw refuse("'\(error.key)' \(error.reason)")
        }
        let said = hello.read(Hello.self)
        guard let said, let spoken = said.protocol, ExecLines.versions.contains(spoken) else {
            throw refuse(
                "speaks protocol \(said?.protocol.map { "\($0)" } ?? "unknown"); this release speaks"
                    + " \(ExecLines.versions.lowerBound) to \(ExecLines.versions.upperBound)")
        }
        guard said.name == plugin else { throw refuse("'hello.name' must be '\(plugin)', as in plugin.json") }
        guard let version = said.version else { throw refuse("'hello.version' must be a whole number") }
        name = plugin
        self.version = version
        detailedTypes = Set(said.detailedTypes ?? [])
        during = said.during ?? [:]
        characteristics = Set(said.characteristics ?? [])
        readsIDs = said.ids ?? false
        func length(_ seconds: Double?) -> Duration { .microseconds(Int64((seconds ?? 0) * 1_000_000)) }
        handlerWindow = HandlerWindow(
            endHour: said.window?.endHour ?? 24, before: length(said.window?.beforeSeconds),
            after: length(said.window?.afterSeconds))
        guard !types.contains("*") else { return }
        for type in detailedTypes.union(during.keys).union(during.values).sorted() where !types.contains(type) {
            throw refuse("names \(type), which plugin.json has neither in 'types' nor in 'reads'")
        }
    }
}

/// Why a program that computes days has given no figures. Its answer for a day may hold health values, so only the
/// answer's `error` is included; if an error ended the program, so is what it wrote to standard error.
package enum ExecFailure: Error, Equatable, CustomStringConvertible {
    /// The program ended, with the reason given on its standard error, and the number of the line if it was in the
    /// middle of one.
    case ended(String, midLine: Int?, why: String?)
    case late(seconds: Double)
    case flood(bytes: Int)
    case badLine(Int, String)
    /// The program finished before it had received all of its input.
    case early
    /// The program itself reported that it can't compute the day.
    case declined(String)
    case cantStart(String)
    /// The host itself is stopping.
    case stopped

    package var description: String {
        switch self {
        case .ended(let how, let line, let why):
            "the program ended (\(how)) \(line.map { "in the middle of line \($0) of its answer" } ?? "before it was done")"
                + (why.map { ": \($0)" } ?? "")
        case .late(let seconds): "the program gave no answer within \(JSONNumber.text(seconds)) s and was ended"
        case .flood(let bytes): "the program's answer is longer than \(bytes) bytes"
        case .badLine(let line, let why): "line \(line) of the program's answer \(why)"
        case .early: "the program was done before it was asked to compute"
        case .declined(let why): "the program says: \(why)"
        case .cantStart(let why): why
        case .stopped: "the host is stopping"
        }
    }

    /// Whether the program can continue with another day: it can if the program itself reported that this one can't be
    /// computed.
    package var isOrderly: Bool {
        if case .declined = self { return true }
        return false
    }
}
