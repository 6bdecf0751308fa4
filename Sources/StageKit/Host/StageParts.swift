import Changelog
import Client
import Protocol
import SQLite

/// A stage, and the parts of its program outside the stage itself.
package struct StageParts {
    package var stage: any Stage
    package var effects: (any EffectRunner)?
    /// Without the lock, does some of the work of the process that it is to replace, and compares the results.
    package var trial: ((_ database: String, StackClient) throws -> TrialReport)?
    /// Makes the source that answers pulls, on a thread of its own with a read-only connection of its own.
    package var source: @Sendable (Database) throws -> any PullSource

    package init(
        stage: any Stage, effects: (any EffectRunner)? = nil,
        trial: ((_ database: String, StackClient) throws -> TrialReport)? = nil,
        source: @escaping @Sendable (Database) throws -> any PullSource = { ChangelogSource(database: $0) }
    ) {
        self.stage = stage
        self.effects = effects
        self.trial = trial
        self.source = source
    }
}
