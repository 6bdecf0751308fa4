import Logging

/// Where a stage's events go. Only declared events can be logged, and never a health value or a name that a person
/// chose.
package struct StageLog: Sendable {
    private let isWanted: @Sendable (LogEvent, Bool) -> Bool
    private let write: @Sendable (LogEvent, Bool, LogFields) -> Void

    /// - Parameters:
    ///   - isWanted: whether an event is written at all, given whether it reports a failure; if not, its fields aren't
    ///     evaluated.
    ///   - write: receives the event, whether it reports a failure, and its fields.
    package init(
        isWanted: @escaping @Sendable (LogEvent, _ failed: Bool) -> Bool = { _, _ in true },
        _ write: @escaping @Sendable (LogEvent, _ failed: Bool, LogFields) -> Void
    ) {
        (self.isWanted, self.write) = (isWanted, write)
    }

    package static let silent = StageLog(isWanted: { _, _ in false }) { _, _, _ in }

    /// - Parameters:
    ///   - failed: whether the event reports a failure; if so, it is written at the level that the event declares for
    ///     failures.
    ///   - fields: as declared by the event; evaluated only if the event is to be written.
    package func callAsFunction(
        _ event: LogEvent, failed: Bool = false, _ fields: @autoclosure () -> LogFields = [:]
    ) {
        if isWanted(event, failed) { write(event, failed, fields()) }
    }
}
