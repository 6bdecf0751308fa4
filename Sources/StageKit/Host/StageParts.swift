import Changelog
import Client
import Protocol
import SQLite

/// A stage, together with the parts of its program that are outside the stage.
package struct StageParts {
    package var stage: any Stage
    package var effects: (any EffectRunner)?
    /// Does some of the work of the process that it is to replace, without holding the lock, and compares the results.
    package var trial: ((_ database: String, StackClient) throws -> TrialReport)?
    /// Whether what computed the file's days so far is something else; such a process is tried out before it takes the
    /// file.
    package var isOther: (_ database: String) throws -> Bool
    /// Makes the source that answers pulls, which has its own thread and its own read-only connection.
    package var source: @Sendable (Database) throws -> any PullSource

    package init(
        stage: any Stage, effects: (any EffectRunner)? = nil,
        trial: ((_ database: String, StackClient) throws -> TrialReport)? = nil,
        isOther: @escaping (_ database: String) throws -> Bool = { _ in false },
        source: @escaping @Sendable (Database) throws -> any PullSource = { ChangelogSource(database: $0) }
    ) {
        (self.stage, self.effects, self.trial, self.isOther, self.source) = (stage, effects, trial, isOther, source)
    }
}
