import Glibc

/// What the supervisor or one of its children couldn't do, to what, and what to do now.
public struct SupervisorError: Error, Sendable, Equatable, CustomStringConvertible {
    public enum Code: Sendable, Equatable {
        /// A program couldn't be started.
        case spawn
        /// The processes given contradict each other.
        case configuration
        /// The system refused something that supervising needs.
        case system
    }

    public let code: Code
    public let message: String
    public let hint: String

    init(_ code: Code, _ message: String, hint: String = "") {
        self.code = code
        self.message = message
        self.hint = hint
    }

    /// - Parameter errorNumber: positive errno.
    init(_ code: Code, _ what: String, errorNumber: Int32, hint: String = "") {
        self.init(code, "\(what): \(String(cString: strerror(errorNumber)))", hint: hint)
    }

    public var description: String { message + (hint.isEmpty ? "" : "; \(hint)") }
}
