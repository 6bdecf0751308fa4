import CPosix

/// How a process ended.
package enum ProcessExit: Hashable, Sendable {
    /// It exited on its own; 0 is success.
    case code(Int32)
    /// A signal ended it.
    case signal(Int32)

    package var isSuccess: Bool { self == .code(0) }
}

extension ProcessExit: CustomStringConvertible {
    /// "exit code 1", "signal 9 (Killed)".
    package var description: String {
        switch self {
        case .code(let code): "exit code \(code)"
        case .signal(let number): "signal \(number)" + (Self.name(of: number).map { " (\($0))" } ?? "")
        }
    }

    private static func name(of number: Int32) -> String? {
        healthbus_signal_name(number).map { String(cString: $0) }
    }
}
