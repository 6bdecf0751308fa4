import Console
import HealthModel

extension SyncClient.Outcome {
    public var value: Value {
        [
            "delivered": .bool(isDelivered), "seconds": Value(seconds),
            "blocked": .array(blocked.map { .string($0) }), "off": .array(off.map { .string($0) }),
            "alerts": .integer(Int64(alerts)),
            "metrics": .array(
                metrics.map {
                    [
                        "metric": .string($0.name), "new": Value($0.new), "delivered": .integer($0.delivered),
                        "pending": .integer($0.pending), "why": Value($0.why),
                    ]
                }),
        ]
    }

    /// What a person wants to know, with what no command can do.
    public func text(for terminal: Terminal) -> String {
        var table = Table([
            .init("Metric"), .number("New"), .number("Delivered"), .number("Days pending"), .init("Waits for"),
        ])
        for metric in metrics {
            table.add([
                metric.name, metric.new.map { HumanFormat.count($0) } ?? "many",
                HumanFormat.count(Int(metric.delivered)), HumanFormat.count(Int(metric.pending)), metric.why ?? "",
            ])
        }
        var text = table.render(for: terminal) + "\n"
        text +=
            isDelivered
            ? "Everything that may be read is delivered (\(HumanFormat.duration(.seconds(seconds)))).\n"
            : "Not delivered: \(blocked.joined(separator: "; ")).\n"
        if !off.isEmpty { text += "Switched off, and left where they are: \(off.joined(separator: ", ")).\n" }
        // A denied type is named nowhere else: for everybody but the owner it looks as if it had no samples.
        if alerts > 0 {
            text += "\(alerts) alert\(alerts == 1 ? " is" : "s are") raised: 'healthbus alerts' says what to see to.\n"
        }
        return text
            + "What the phone hasn't handed over yet comes when the phone decides: no command makes it come sooner.\n"
    }
}
