import Configuration
import Foundation
import HealthModel
import Logging

/// What prevents a program from starting, as reported to the caller of `--check`: one JSON object on standard output,
/// or nothing.
package struct StartCheck: Codable, Sendable, Equatable {
    /// Set for an error in a configuration or a manifest; nil for any other error.
    @OrNull package var file: String? = nil
    @OrNull package var key: String? = nil
    @OrNull package var line: Int? = nil
    package var what: String
    @OrNull package var remedy: String? = nil

    init(_ error: any Error) {
        if let error = error as? ConfigurationError {
            what = error.reason
            file = error.file
            key = error.key.isEmpty ? nil : error.key
            line = error.line
        } else {
            let failure = Failure(of: error)
            what = failure.message
            remedy = failure.hint
        }
    }

    /// Runs a check, and prints any error.
    static func end(_ body: () throws -> Void) -> ExitCode {
        do {
            try body()
            return .done
        } catch {
            StandardStream.output.write(Value(StartCheck(error)).json() + "\n")
            return Failure(of: error).code
        }
    }
}

extension Failure {
    /// Any error, in human-readable form; an error in the configuration leads to the exit code for wrong usage.
    package init(of error: any Error) {
        switch error {
        case let failure as Failure: self = failure
        case let error as ConfigurationError: self.init(said: error.description, code: .usage)
        default: self.init(String(describing: error))
        }
    }
}
