import Glibc

/// What a program's exit code says to its caller.
package enum ExitCode: Int32, Sendable, CaseIterable {
    case done = 0
    case failed = 1
    /// Used incorrectly: unknown option, missing argument.
    case usage = 2
    /// Stored data is damaged.
    case damaged = 3
}

/// A human-readable error: what happened, to what, and what to do now. Never contains health values.
package struct Failure: Error, Sendable, Equatable, CustomStringConvertible {
    package var message: String
    /// What to do now; nil if nothing helps.
    package var hint: String?
    package var code: ExitCode

    package init(_ message: String, hint: String? = nil, code: ExitCode = .failed) {
        (self.message, self.hint, self.code) = (message, hint, code)
    }

    package static func usage(_ message: String, hint: String? = nil) -> Failure {
        Failure(message, hint: hint, code: .usage)
    }

    /// Another process's sentence about what it couldn't do; the part after its last semicolon says what to do now.
    package init(_ beginning: String = "", said: String, code: ExitCode = .failed) {
        let end = said.ranges(of: "; ").last
        self.init(
            beginning + said[..<(end?.lowerBound ?? said.endIndex)], hint: end.map { String(said[$0.upperBound...]) },
            code: code)
    }

    /// "message; hint", on one line.
    package var description: String { message + (hint.map { "; \($0)" } ?? "") }

    /// What `reportAndExit` prints: two lines, or one without a hint.
    package func report(program: String) -> String {
        "\(program): \(message)\n" + (hint.map { "hint: \($0)\n" } ?? "")
    }
}

/// Prints the error to standard error and ends the process with a `Failure`'s own code, or with 1.
package func reportAndExit(_ error: any Error, program: String) -> Never {
    let failure = error as? Failure ?? Failure(said: String(describing: error))
    StandardStream.error.write(failure.report(program: program))
    exit(failure.code.rawValue)
}
