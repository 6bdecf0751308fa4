import Changelog
import PluginKit

/// What a reset would begin anew. Changes nothing.
public struct ResetPlan {
    /// Figures, events or summaries that the instance holds.
    public let rows: Int

    public init(_ stack: Stack, _ instance: StackConfiguration.Instance) throws {
        var count = 0
        try stack.reader().forEachRow(instance, topic: "") { if $0.body != nil { count += 1 } }
        rows = count
    }
}
