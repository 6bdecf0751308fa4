import HealthModel
import Inspection
import Protocol
import Terminal

extension SyncClient {
    package struct Metric: Sendable, Equatable {
        package var name: String
        /// Changes that hadn't been delivered when the sync began; nil when there are too many to count, or nothing is
        /// known.
        package var new: Int?
        /// Whether there are too many to count.
        package var isMany = false
        /// Elements that the backend has accepted since then; nil if they can't be distinguished from another
        /// handler's.
        package var delivered: Int64?
        /// Days still to be computed.
        package var pending: Int
        /// Why something is waiting; nil when nothing is.
        package var why: String?

        package init(
            name: String, new: Int?, isMany: Bool = false, delivered: Int64?, pending: Int, why: String?
        ) {
            (self.name, self.new, self.isMany, self.delivered) = (name, new, isMany, delivered)
            (self.pending, self.why) = (pending, why)
        }
    }

    package struct Outcome: Sendable {
        package var metrics: [Metric]
        /// What the sync is waiting for, in words.
        package var waiting: [String]
        /// What the backend has refused for good, in words.
        package var refused: [String]
        /// What keeps the sync from being complete; empty when everything is delivered.
        package var blocked: [String] { waiting + refused }
        /// Types that are switched off. Denied types aren't included: HealthKit doesn't distinguish them from types
        /// without samples.
        package var off: [String]
        /// How many alerts say that something is wrong.
        package var alerts: Int
        package var seconds: Double
        package var trust: TrustedDestinations
        /// Whether a phone decides when it hands over the data that it has.
        package var isPhone: Bool
        package var isDelivered: Bool { blocked.isEmpty }
        /// What to do about anything undelivered; nil when everything is delivered.
        package var hint: String? {
            let waits =
                waiting.allSatisfy { $0.contains("; it asked to wait ") }
                ? "what waits is sent automatically, so there is nothing to do"
                : "what waits continues automatically once the cause is fixed"
            let letters =
                "once it can be accepted, 'healthbus dead-letters retry --all' sends the refused elements again"
            if isDelivered { return nil }
            return "nothing is lost; "
                + [waiting.isEmpty ? nil : waits, refused.isEmpty ? nil : letters].compactMap { $0 }.joined(
                    separator: "; ")
        }

        package init(
            metrics: [Metric], waiting: [String], refused: [String], off: [String], alerts: Int, seconds: Double,
            trust: TrustedDestinations = .init(), isPhone: Bool = false
        ) {
            (self.metrics, self.waiting, self.refused, self.off) = (metrics, waiting, refused, off)
            (self.alerts, self.seconds, self.trust) = (alerts, seconds, trust)
            self.isPhone = isPhone
        }
    }

    /// An uploader whose backend may no longer have what it accepted.
    package struct Uncompared: Sendable, Equatable {
        package var uploader: String
        /// Why the backend can't be compared at present; nil when the comparison is still to come.
        package var why: String?

        package init(uploader: String, why: String?) { (self.uploader, self.why) = (uploader, why) }

        package var text: String {
            guard let why else { return "\(uploader): what the destination holds hasn't been compared yet" }
            return "\(uploader): the destination can't be compared: \(why)"
        }
    }

    /// Uploaders whose backend hasn't been compared since the last delivery. Pure.
    /// - Parameter asked: the checks requested by this sync, one of which must have been answered.
    package static func uncompared(
        _ uploaders: [String], _ beats: Beats, asked: Set<String>
    ) -> [Uncompared] {
        uploaders.compactMap { name -> Uncompared? in
            guard let heard = beats[name] else { return Uncompared(uploader: name, why: nil) }
            guard let backend = heard.beat.uploader?.backend else { return nil }
            let isAnswered = backend.check.map { asked.contains($0) } ?? false
            let isCompared = isAnswered && backend.isCompared && backend.why == nil
            return isCompared ? nil : Uncompared(uploader: name, why: backend.why)
        }
    }

    /// How many elements backends have refused for good; empty when there are none. Pure.
    package static func refused(
        _ uploaders: [String], _ beats: Beats
    ) -> [String] {
        uploaders.compactMap { name -> String? in
            guard let letters = beats[name]?.beat.uploader?.deadLetters, letters > 0 else { return nil }
            let elements = HumanFormat.count(Int(letters)) + (letters == 1 ? " element" : " elements")
            return "the destination of '\(name)' has refused \(elements) ('healthbus dead-letters list' says why)"
        }
    }

    /// Each reason once, after the names of all that it concerns. Pure.
    package static func reported(_ reasons: [String: String]) -> [String] {
        Dictionary(grouping: reasons.keys.sorted()) { reasons[$0] ?? "" }
            .map { why, names in "\(names.joined(separator: ", ")): \(why)" }.sorted()
    }
}

extension SyncClient.Outcome {
    package var value: Value {
        [
            "delivered": .bool(isDelivered), "seconds": Value(seconds),
            "blocked": .array(blocked.map { .string($0) }), "off": .array(off.map { .string($0) }),
            "alerts": .integer(Int64(alerts)), "onTrust": .bool(!trust.isEmpty),
            "metrics": .array(
                metrics.map {
                    [
                        "metric": .string($0.name), "new": Value($0.new), "delivered": Value($0.delivered),
                        "pending": Value($0.pending), "why": Value($0.why),
                    ]
                }),
        ]
    }

    /// What a person wants to know, including what no command can do.
    package func text(for terminal: Terminal) -> String {
        var table = Table([
            .init("Metric"), .number("New"), .number("Delivered"), .number("Days pending"),
        ])
        for metric in metrics {
            table.add([
                metric.name, metric.new.map { HumanFormat.count($0) } ?? (metric.isMany ? "many" : ""),
                metric.delivered.map { HumanFormat.count(Int($0)) } ?? "", HumanFormat.count(metric.pending),
            ])
        }
        var text = table.render(for: terminal) + "\n"
        text +=
            isDelivered
            ? "Everything is delivered (\(HumanFormat.duration(.seconds(seconds))))\(trust.clause).\n"
            : "Not delivered: \(blocked.joined(separator: "; ")).\n"
        if !off.isEmpty { text += "Switched off, so left out: \(off.joined(separator: ", ")).\n" }
        // A denied type isn't named here: only its alert names it; elsewhere it looks like a type without samples.
        if alerts > 0 {
            text += "\(alerts) alert\(alerts == 1 ? " is" : "s are") raised: 'healthbus alerts' says what to do.\n"
        }
        if isPhone {
            text += "The phone decides when it hands over the rest: no command can make that happen sooner.\n"
        }
        return text
    }
}
