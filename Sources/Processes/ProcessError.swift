import Glibc

/// What a process or its supervisor couldn't do, and what to do now.
package struct ProcessError: Error, Sendable, Equatable, CustomStringConvertible {
    package enum Code: Sendable, Equatable {
        /// A program couldn't be started.
        case spawn
        /// The given process specifications contradict each other.
        case configuration
        /// The system refused something that supervision needs.
        case system
    }

    package let code: Code
    package let message: String
    package let hint: String

    package init(_ code: Code, _ message: String, hint: String = "") {
        (self.code, self.message, self.hint) = (code, message, hint)
    }

    /// - Parameter errorNumber: positive errno.
    package init(_ code: Code, _ what: String, errorNumber: Int32, hint: String = "") {
        self.init(code, "\(what): \(String(cString: strerror(errorNumber)))", hint: hint)
    }

    package var description: String { message + (hint.isEmpty ? "" : "; \(hint)") }
}
