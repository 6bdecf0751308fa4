import Changelog
import Client
import Configuration
import Protocol

/// What a reset would begin anew. Changes nothing.
package struct ResetPlan {
    /// Figures, events or summaries that the instance holds.
    package let rows: Int

    package init(_ stack: Stack, _ instance: StackConfiguration.Instance) throws {
        var count = 0
        try stack.reader().forEachRow(instance, topic: "") { if $0.body != nil { count += 1 } }
        rows = count
    }
}
