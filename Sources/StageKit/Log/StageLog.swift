import Logging

/// Where a stage's events go. Only declared ones can be given; never a health value, and no name that a person gave.
package struct StageLog: Sendable {
    private let isWanted: @Sendable (LogEvent, Bool) -> Bool
    private let write: @Sendable (LogEvent, Bool, LogFields) -> Void

    /// - Parameters:
    ///   - isWanted: whether an event, as a failure or not, is written at all; else its fields aren't even made.
    ///   - write: takes the event, whether it tells of a failure, and its fields.
    package init(
        isWanted: @escaping @Sendable (LogEvent, _ failed: Bool) -> Bool = { _, _ in true },
        _ write: @escaping @Sendable (LogEvent, _ failed: Bool, LogFields) -> Void
    ) {
        self.isWanted = isWanted
        self.write = write
    }

    package static let silent = StageLog(isWanted: { _, _ in false }) { _, _, _ in }

    /// - Parameters:
    ///   - failed: it tells of a failure, and is written at the event's level for those.
    ///   - fields: as the event declares them; evaluated only when it is wanted.
    package func callAsFunction(
        _ event: LogEvent, failed: Bool = false, _ fields: @autoclosure () -> LogFields = [:]
    ) {
        if isWanted(event, failed) { write(event, failed, fields()) }
    }
}
