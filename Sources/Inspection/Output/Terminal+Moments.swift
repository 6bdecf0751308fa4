import Foundation
import HealthModel
import Terminal

/// How tables write moments: briefly for people, ISO 8601 with its zone for programs, which can't know where the person
/// is.
extension Terminal {
    /// A moment in UTC: to the minute on a screen.
    package func moment(_ instant: Instant) -> String {
        let text = InstantText.iso8601(instant)
        return isTerminal ? text.prefix(16) + "Z" : text
    }

    /// A recent moment, to the second: on a screen by this machine's clock ("14:05:10"), with the date if it isn't
    /// today; elsewhere in UTC.
    package func second(_ instant: Instant, now: Instant) -> String {
        isTerminal ? InstantText.local(instant, now: now) : InstantText.iso8601(Instant(seconds: instant.flooredSecond))
    }

    /// A moment on a person's clock: "2025-03-30 10:15" on a screen. In UTC if there is no such clock.
    package func moment(_ instant: Instant, on zones: ZoneTimeline?) -> String {
        guard let text = zones?.localText(of: instant) else { return InstantText.iso8601(instant) }
        return isTerminal ? String(text.prefix(16)).replacing("T", with: " ") : text
    }

    /// A time on a person's clock, next to its date: "10:15" on a screen.
    package func clock(_ instant: Instant, on zones: ZoneTimeline) -> String {
        let text = zones.localText(of: instant)
        return isTerminal ? String(text.dropFirst(11).prefix(5)) : text
    }
}

extension HumanFormat {
    /// The same for a moment.
    package static func relative(_ instant: Instant?, now: Date, for terminal: Terminal) -> String {
        relative(instant.map { Date(timeIntervalSince1970: $0.secondsSince1970) }, now: now, for: terminal)
    }
}
