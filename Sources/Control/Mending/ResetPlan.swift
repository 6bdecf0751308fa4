import Changelog
import Client
import Configuration
import Inspection
import Protocol

/// What a reset would derive again. Changes nothing.
package struct ResetPlan {
    /// How many figures, events or summaries the instance has.
    package let rows: Int

    package init(_ stack: Stack, _ instance: StackConfiguration.Instance) throws {
        var count = 0
        try stack.reader().forEachRow(instance, topic: "") { if $0.body != nil { count += 1 } }
        rows = count
    }
}
