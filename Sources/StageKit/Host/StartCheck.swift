import Configuration
import Foundation
import HealthModel
import Logging

/// What keeps a program from starting, as it tells whoever asked with `--check`: one JSON object on standard output, or nothing.
package struct StartCheck: Sendable, Equatable {
    /// Of a configuration or a manifest; nil when it is something else.
    package var file: String?
    package var key: String?
    package var line: Int?
    package var what: String
    package var remedy: String?

    init(_ error: any Error) {
        if let error = error as? ConfigurationError {
            (file, key, line, what) = (error.file, error.key.isEmpty ? nil : error.key, error.line, error.reason)
        } else {
            let failure = Failure(of: error)
            (what, remedy) = (failure.message, failure.hint)
        }
    }

    /// nil when the value tells of nothing.
    package init?(_ value: Value) {
        guard let what = value["what"].string else { return nil }
        self.what = what
        file = value["file"].string
        key = value["key"].string
        line = value["line"].int.map { Int($0) }
        remedy = value["remedy"].string
    }

    var value: Value {
        [
            "file": Value(file), "key": Value(key), "line": Value(line), "what": .string(what),
            "remedy": Value(remedy),
        ]
    }

    /// Runs a check, and prints what it threw.
    static func end(_ body: () throws -> Void) -> ExitCode {
        do {
            try body()
            return .done
        } catch {
            StandardStream.output.write(StartCheck(error).value.json() + "\n")
            return Failure(of: error).code
        }
    }
}

extension Failure {
    /// Any error as one for people; one of the configuration ends with the code of a wrong call.
    package init(of error: any Error) {
        switch error {
        case let failure as Failure: self = failure
        case let error as ConfigurationError: self.init(error.description, code: .usage)
        default: self.init(String(describing: error))
        }
    }
}
